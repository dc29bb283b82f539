// Server-sent events. The reader of the response pulls, so a slow reader delays no other and costs no memory. A block
// without data carries the cursor of the log, so that a client that reconnects continues from there.
import { toWire } from '../api/wire.ts'
import type { LogEvent } from '../engine/event/log-event.ts'
import type { Subscription, Truncated } from '../engine/event/subscription.ts'
import { EngineError } from '../model/errors.ts'

export type StreamSource = Pick<Subscription, 'next' | 'return' | 'cursor'>

export interface StreamOptions {
  /**
   * Each of them ends the stream, with the code of its reason: the server is stopping, or the key is no longer valid.
   */
  readonly until: readonly AbortSignal[]
  /** Called once, when the stream has ended. */
  readonly onEnd: () => void
  readonly refusalOf: (error: unknown) => EngineError
  readonly heartbeatMs: number
}

const encoder = new TextEncoder()

export function eventStream(source: StreamSource, options: StreamOptions): Response {
  return new Response(new EventStream(source, options).body, { headers })
}

/** The response to HEAD: no client would read the stream, or end it. */
export function emptyStream(): Response {
  return new Response(null, { headers })
}

const headers = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-store',
  // Some proxies buffer streams unless this header forbids it.
  'x-accel-buffering': 'no',
}

type StreamStep = IteratorResult<LogEvent | Truncated, undefined> | 'silence' | 'stop'

class EventStream {
  readonly body: ReadableStream<Uint8Array>
  readonly #source: StreamSource
  readonly #options: StreamOptions
  // A step that has been requested is not requested again after a silence: it is awaited once, and kept until it is
  // taken.
  #isRequested = false
  /** The reader has disconnected: nothing can be written any more. */
  #isDisconnected = false
  #received: (() => StreamStep) | null = null
  #wake = (): void => {}
  readonly #onChange = (): void => this.#wake()
  // One timer for the life of the stream, restarted for each wait.
  readonly #heartbeat: NodeJS.Timeout

  constructor(source: StreamSource, options: StreamOptions) {
    this.#source = source
    this.#options = options
    this.#heartbeat = setTimeout(this.#onChange, options.heartbeatMs)
    for (const signal of options.until) signal.addEventListener('abort', this.#onChange)
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(encoder.encode(`retry: 1000\nid: ${source.cursor}\n\n`)),
      pull: (controller) => this.#pull(controller),
      cancel: async () => {
        this.#isDisconnected = true
        await this.#end()
      },
    })
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const write = (block: string): void => controller.enqueue(encoder.encode(block))
    try {
      const step = await this.#step()
      if (this.#isDisconnected) return
      if (step === 'silence') return write(`id: ${this.#source.cursor}\n\n`)
      if (step !== 'stop' && step.done !== true) return write(blockOf(step.value))
      write(`event: end\ndata: ${JSON.stringify({ reason: step === 'stop' ? this.#reason() : 'over' })}\n\n`)
    } catch (error) {
      if (this.#isDisconnected) return
      write(`event: error\ndata: ${JSON.stringify(toWire(this.#options.refusalOf(error)))}\n\n`)
    }
    controller.close()
    await this.#end()
  }

  async #end(): Promise<void> {
    clearTimeout(this.#heartbeat)
    for (const signal of this.#options.until) signal.removeEventListener('abort', this.#onChange)
    this.#options.onEnd()
    // A pull that waits while its reader disconnects would wait for ever.
    this.#wake()
    await this.#source.return()
  }

  async #step(): Promise<StreamStep> {
    this.#request()
    if (this.#received === null && !this.#isStopped()) {
      this.#heartbeat.refresh()
      await new Promise<void>((resolve) => (this.#wake = resolve))
    }
    if (this.#isStopped()) return 'stop'
    if (this.#received === null) return 'silence'
    const take = this.#received
    this.#received = null
    this.#isRequested = false
    return take()
  }

  #isStopped(): boolean {
    return this.#options.until.some(({ aborted }) => aborted)
  }

  #reason(): string {
    const reason: unknown = this.#options.until.find(({ aborted }) => aborted)?.reason
    return EngineError.is(reason) ? reason.code : 'over'
  }

  #request(): void {
    if (this.#isRequested) return
    this.#isRequested = true
    const keep = (take: () => StreamStep): void => {
      this.#received = take
      this.#onChange()
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

// All subscribers share one object for an event, and so its text is made once.
const blocks = new WeakMap<LogEvent | Truncated, string>()

function blockOf(event: LogEvent | Truncated): string {
  const known = blocks.get(event)
  if (known !== undefined) return known
  const block = `id: ${event.cursor}\nevent: ${event.kind}\ndata: ${JSON.stringify(toWire(event))}\n\n`
  blocks.set(event, block)
  return block
}
