// Events as they come, as server-sent events. The reader of the answer pulls: who reads slowly holds up nobody and costs no
// memory. A block without data tells how far the log has been read, so that whoever connects again goes on from there.
import { toWire } from '../api/wire.ts'
import type { LogEvent } from '../engine/event/log-event.ts'
import type { Subscription, Truncated } from '../engine/event/subscription.ts'
import { EngineError } from '../model/errors.ts'

export type Source = Pick<Subscription, 'next' | 'return' | 'cursor'>

export interface StreamOptions {
  /** Each of them ends the stream, with the code of its reason: the server stops, or the key is no longer one. */
  readonly until: readonly AbortSignal[]
  /** Called once, when the stream has ended. */
  readonly onEnd: () => void
  readonly refusalOf: (error: unknown) => EngineError
  readonly heartbeatMs: number
}

const encoder = new TextEncoder()

export function eventStream(source: Source, options: StreamOptions): Response {
  return new Response(new EventStream(source, options).body, { headers })
}

/** What HEAD asks for: nobody would read the stream, or end it. */
export function emptyStream(): Response {
  return new Response(null, { headers })
}

const headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Some proxies keep back what they have not been told to pass on.
  'x-accel-buffering': 'no',
}

type Step = IteratorResult<LogEvent | Truncated, undefined> | 'silence' | 'stop'

class EventStream {
  readonly body: ReadableStream<Uint8Array>
  readonly #source: Source
  readonly #options: StreamOptions
  // A step that was asked for is not asked for again after a silence: it is awaited once, and kept until it is taken.
  #isAsked = false
  /** Its reader has gone: nothing can be written any more, and nobody is told. */
  #isLeft = false
  #came: (() => Step) | null = null
  #wake = (): void => {}
  readonly #hear = (): void => this.#wake()
  // One for the life of the stream, set anew for each wait.
  readonly #heartbeat: NodeJS.Timeout

  constructor(source: Source, options: StreamOptions) {
    this.#source = source
    this.#options = options
    this.#heartbeat = setTimeout(this.#hear, options.heartbeatMs)
    for (const signal of options.until) signal.addEventListener('abort', this.#hear)
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(encoder.encode(`retry: 1000\nid: ${source.cursor}\n\n`)),
      pull: (controller) => this.#pull(controller),
      cancel: async () => {
        this.#isLeft = true
        await this.#end()
      },
    })
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const write = (block: string): void => controller.enqueue(encoder.encode(block))
    try {
      const step = await this.#step()
      if (this.#isLeft) return
      if (step === 'silence') return write(`id: ${this.#source.cursor}\n\n`)
      if (step !== 'stop' && step.done !== true) return write(blockOf(step.value))
      write(`event: end\ndata: ${JSON.stringify({ reason: step === 'stop' ? this.#reason() : 'over' })}\n\n`)
    } catch (error) {
      if (this.#isLeft) return
      write(`event: error\ndata: ${JSON.stringify(toWire(this.#options.refusalOf(error)))}\n\n`)
    }
    controller.close()
    await this.#end()
  }

  async #end(): Promise<void> {
    clearTimeout(this.#heartbeat)
    for (const signal of this.#options.until) signal.removeEventListener('abort', this.#hear)
    this.#options.onEnd()
    // A pull that waits while its reader leaves would wait for ever.
    this.#wake()
    await this.#source.return()
  }

  async #step(): Promise<Step> {
    this.#ask()
    if (this.#came === null && !this.#isStopped()) {
      this.#heartbeat.refresh()
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
    if (this.#isStopped()) return 'stop'
    if (this.#came === null) return 'silence'
    const take = this.#came
    this.#came = null
    this.#isAsked = false
    return take()
  }

  #isStopped(): boolean {
    return this.#options.until.some(({ aborted }) => aborted)
  }

  #reason(): string {
    const reason: unknown = this.#options.until.find(({ aborted }) => aborted)?.reason
    return EngineError.is(reason) ? reason.code : 'over'
  }

  #ask(): void {
    if (this.#isAsked) return
    this.#isAsked = true
    const keep = (take: () => Step): void => {
      this.#came = take
      this.#hear()
    }
    this.#source.next().then(
      (step) => keep(() => step),
      (error: unknown) =>
        keep(() => {
          throw error
        }),
    )
  }
}

// An event that many subscribers are given is one object, and so is its text.
const blocks = new WeakMap<LogEvent | Truncated, string>()

function blockOf(event: LogEvent | Truncated): string {
  const known = blocks.get(event)
  if (known !== undefined) return known
  const block = `id: ${event.cursor}\nevent: ${event.kind}\ndata: ${JSON.stringify(toWire(event))}\n\n`
  blocks.set(event, block)
  return block
}
