// Who hears which channel. A handler that throws is logged: it neither ends the process nor silences the others.
import type { Logger } from './logger.ts'

type Hear = (payload: string | null) => void

/** One call of `listen`; the same function may be given to several. */
export interface Handler {
  readonly hear: Hear
}

export class Handlers {
  readonly #byChannel = new Map<string, Set<Handler>>()
  readonly #logger: Logger

  constructor(logger: Logger) {
    this.#logger = logger
  }

  get channels(): string[] {
    return [...this.#byChannel.keys()]
  }

  add(channel: string, hear: Hear): Handler {
    const handler = { hear }
    const handlers = this.#byChannel.get(channel) ?? new Set()
    this.#byChannel.set(channel, handlers.add(handler))
    return handler
  }

  /** True when it was the last one of its channel. */
  remove(channel: string, handler: Handler): boolean {
    const handlers = this.#byChannel.get(channel)
    const wasThere = handlers?.delete(handler) ?? false
    if (!wasThere || handlers?.size !== 0) return false
    return this.#byChannel.delete(channel)
  }

  /** That hints may be missing. */
  tellAll(): void {
    for (const channel of this.channels) this.tellChannel(channel, null)
  }

  tellChannel(channel: string, payload: string | null): void {
    for (const handler of this.#byChannel.get(channel) ?? []) this.tell(handler, payload)
  }

  tell(handler: Handler, payload: string | null): void {
    try {
      handler.hear(payload)
    } catch (error) {
      this.#logger.error(`a notification handler failed: ${String(error)}`)
    }
  }
}
