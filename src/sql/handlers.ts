// The handlers of each channel. A handler that throws is logged: the process continues, and the other handlers are
// called.
import type { Logger } from './logger.ts'

type OnNotification = (payload: string | null) => void

/** One call of `listen`; several calls may share one function. */
export interface ChannelHandler {
  readonly receive: OnNotification
}

export class Handlers {
  readonly #byChannel = new Map<string, Set<ChannelHandler>>()
  readonly #logger: Logger

  constructor(logger: Logger) {
    this.#logger = logger
  }

  get channels(): string[] {
    return [...this.#byChannel.keys()]
  }

  add(channel: string, receive: OnNotification): ChannelHandler {
    const handler = { receive }
    const handlers = this.#byChannel.get(channel) ?? new Set()
    this.#byChannel.set(channel, handlers.add(handler))
    return handler
  }

  /** True when it was the last one of its channel. */
  remove(channel: string, handler: ChannelHandler): boolean {
    const handlers = this.#byChannel.get(channel)
    const wasThere = handlers?.delete(handler) ?? false
    if (!wasThere || handlers?.size !== 0) return false
    return this.#byChannel.delete(channel)
  }

  /** Calls every handler with null: hints may be missing. */
  notifyAll(): void {
    for (const channel of this.channels) this.notifyChannel(channel, null)
  }

  notifyChannel(channel: string, payload: string | null): void {
    for (const handler of this.#byChannel.get(channel) ?? []) this.notify(handler, payload)
  }

  notify(handler: ChannelHandler, payload: string | null): void {
    try {
      handler.receive(payload)
    } catch (error) {
      this.#logger.error(`a notification handler failed: ${String(error)}`)
    }
  }
}
