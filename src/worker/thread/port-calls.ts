// Calls between the two sides of a run that is spread over two threads. Each side calls functions of the other by name, over a port
// that belongs to this run. Calls of a run that has ended are never answered.
import type { MessagePort } from 'node:worker_threads'
import { PermanentError } from '../errors.ts'
import { messageOf } from '../outcome.ts'
import { markHandled } from '../mark-handled.ts'
import { deserializeError, serializeError } from './serialize-error.ts'
import type { RecordedError } from '../../model/recorded-error.ts'

export type Functions = Readonly<Record<string, (...args: never[]) => unknown>>

interface CallMessage {
  readonly kind: 'call'
  readonly id: number
  readonly name: string
  readonly args: readonly unknown[]
}

type PortMessage =
  | CallMessage
  | { readonly kind: 'value'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'error'; readonly id: number; readonly error: RecordedError }

interface PendingCall {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

export class PortCalls {
  readonly #port: MessagePort
  readonly #functions: Functions
  readonly #pending = new Map<number, PendingCall>()
  #count = 0

  /** `functions`: those that the other side may call. */
  constructor(port: MessagePort, functions: Functions) {
    this.#port = port
    this.#functions = functions
    port.on('message', (message: PortMessage) => void this.#receive(message))
  }

  /** Settles as the function of the other side does. Values are copied, as `structuredClone` does. */
  call(name: string, ...args: readonly unknown[]): Promise<unknown> {
    const id = (this.#count += 1)
    const called = new Promise((resolve, reject) => {
      this.#send({ kind: 'call', id, name, args }, `what the ${name} was given`)
      this.#pending.set(id, { resolve, reject })
    })
    return markHandled(called)
  }

  end(): void {
    this.#port.close()
  }

  async #receive(message: PortMessage): Promise<void> {
    if (message.kind === 'call') return this.#reply(message)
    const pending = this.#pending.get(message.id)
    this.#pending.delete(message.id)
    if (message.kind === 'value') pending?.resolve(message.value)
    else pending?.reject(deserializeError(message.error))
  }

  async #reply({ id, name, args }: CallMessage): Promise<void> {
    try {
      const value = await this.#functions[name]!(...(args as never[]))
      this.#send({ kind: 'value', id, value }, `what the ${name} gave`)
    } catch (error) {
      this.#send({ kind: 'error', id, error: serializeError(error) }, `what the ${name} threw`)
    }
  }

  #send(message: PortMessage, what: string): void {
    try {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin
      this.#port.postMessage(message)
    } catch (cause) {
      throw new PermanentError(`${what} cannot go from thread to thread: ${messageOf(cause)}`, { cause })
    }
  }
}
