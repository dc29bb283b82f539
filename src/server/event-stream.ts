// Events as they come, as server-sent events. The reader of the answer pulls: who reads slowly holds up nobody and costs no
// memory. A block without data tells how far the log has been read, so that whoever connects again goes on from there.
import { toWire } from '../api/wire.ts'
import type { LogEvent } from '../engine/event/log-event.ts'
import type { Subscription, Truncated } from '../engine/event/subscription.ts'
import type { EngineError } from '../model/errors.ts'

export type Source = Pick<Subscription, 'next' | 'return' | 'cursor'>

export interface StreamOptions {
  /** Aborted when the server stops; the stream ends with that reason. */
  readonly stopping: AbortSignal
  readonly refusalOf: (error: unknown) => EngineError
  readonly heartbeatMs: number
}

const encoder = new TextEncoder()

export function eventStream(source: Source, options: StreamOptions): Response {
  const stream = new EventStream(source, options)
  return new Response(stream.body, {
    headers: {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      // Some proxies keep back what they have not been told to pass on.
      'x-accel-buffering': 'no',
    },
  })
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
  #hear = (): void => {}

  constructor(source: Source, options: StreamOptions) {
    this.#source = source
    this.#options = options
    this.body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(encoder.encode(`retry: 1000\nid: ${source.cursor}\n\n`)),
      pull: (controller) => this.#pull(controller),
      cancel: async () => {
        this.#isLeft = true
        await source.return()
      },
    })
  }

  async #pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    const write = (block: string): void => controller.enqueue(encoder.encode(block))
    try {
      const step = await this.#step()
      if (this.#isLeft) return
      if (step === 'silence') return write(`id: ${this.#source.cursor}\n\n`)
      if (step !== 'stop' && step.done !== true) return write(block(step.value))
      write(`event: end\ndata: ${JSON.stringify({ reason: step === 'stop' ? 'server_stopping' : 'over' })}\n\n`)
    } catch (error) {
      if (this.#isLeft) return
      write(`event: error\ndata: ${JSON.stringify(toWire(this.#options.refusalOf(error)))}\n\n`)
    }
    controller.close()
    await this.#source.return()
  }

  async #step(): Promise<Step> {
    const { stopping, heartbeatMs } = this.#options
    this.#ask()
    if (this.#came === null && !stopping.aborted) {
      const heard = new Promise<void>((resolve) => (this.#hear = resolve))
      const timer = setTimeout(this.#hear, heartbeatMs)
      stopping.addEventListener('abort', this.#hear)
      await heard
      clearTimeout(timer)
      stopping.removeEventListener('abort', this.#hear)
    }
    if (stopping.aborted) return 'stop'
    if (this.#came === null) return 'silence'
    const take = this.#came
    this.#came = null
    this.#isAsked = false
    return take()
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

function block(event: LogEvent | Truncated): string {
  return `id: ${event.cursor}\nevent: ${event.kind}\ndata: ${JSON.stringify(toWire(event))}\n\n`
}
