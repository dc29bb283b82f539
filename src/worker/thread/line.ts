// A run that is spread over two threads: each asks the other by verb, over a port that is this run's own. What a run that has
// ended still asks goes nowhere.
import type { MessagePort } from 'node:worker_threads'
import { PermanentError } from '../errors.ts'
import { messageOf } from '../outcome.ts'
import { markHandled } from '../idle.ts'
import { deserializeError, serializeError } from './serialize-error.ts'
import type { RecordedError } from '../../model/recorded-error.ts'

export type Verbs = Readonly<Record<string, (...args: never[]) => unknown>>

type Message =
  | { readonly kind: 'ask'; readonly id: number; readonly verb: string; readonly args: readonly unknown[] }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'refusal'; readonly id: number; readonly error: RecordedError }

interface PendingCall {
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

export class Line {
  readonly #port: MessagePort
  readonly #verbs: Verbs
  readonly #pending = new Map<number, PendingCall>()
  #count = 0

  constructor(port: MessagePort, verbs: Verbs) {
    this.#port = port
    this.#verbs = verbs
    port.on('message', (message: Message) => void this.#hear(message))
  }

  /** What the other side gives, or throws. Values are copied, as `structuredClone` does. */
  ask(verb: string, ...args: readonly unknown[]): Promise<unknown> {
    const id = (this.#count += 1)
    const asked = new Promise((resolve, reject) => {
      this.#send({ kind: 'ask', id, verb, args }, `what the ${verb} was given`)
      this.#pending.set(id, { resolve, reject })
    })
    return markHandled(asked)
  }

  end(): void {
    this.#port.close()
  }

  async #hear(message: Message): Promise<void> {
    if (message.kind === 'ask') return this.#answer(message)
    const asked = this.#pending.get(message.id)
    this.#pending.delete(message.id)
    if (message.kind === 'answer') asked?.resolve(message.value)
    else asked?.reject(deserializeError(message.error))
  }

  async #answer({ id, verb, args }: Message & { readonly kind: 'ask' }): Promise<void> {
    try {
      const value = await this.#verbs[verb]!(...(args as never[]))
      this.#send({ kind: 'answer', id, value }, `what the ${verb} gave`)
    } catch (error) {
      this.#send({ kind: 'refusal', id, error: serializeError(error) }, `what the ${verb} threw`)
    }
  }

  #send(message: Message, what: string): void {
    try {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin
      this.#port.postMessage(message)
    } catch (cause) {
      throw new PermanentError(`${what} cannot go from thread to thread: ${messageOf(cause)}`, { cause })
    }
  }
}
