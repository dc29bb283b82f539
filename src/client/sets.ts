// Merges concurrent single calls into sets, as the engine does (see `model/batcher.ts`). Calls for many use it too, so that no body is
// larger than a server accepts. A set that is lost fails its items, each in its place.
import { Batcher } from '../model/batcher.ts'
import { EngineError, refusal } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import { inOrder } from '../model/sets.ts'
import { show } from '../model/text.ts'
import type { Refused } from '../engine/kernel/each-in-place.ts'

/** Replies in the order of the items. */
export type SendSet = (items: readonly SetItem[]) => Promise<readonly unknown[]>

export interface SetItem {
  readonly json: string
  readonly bytes: number
  /** A repetition has no effect beyond that of the first send. */
  readonly isRepeatable: boolean
}

interface WaitingCall {
  readonly item: SetItem
  readonly settle: (answer: unknown) => void
}

export class Sets {
  readonly #encode: (request: unknown) => SetItem
  readonly #send: SendSet
  readonly #batcher: Batcher<WaitingCall>

  /** `maxBytes` of a set; a larger item is sent alone. */
  constructor(encode: (request: unknown) => SetItem, send: SendSet, maxBytes: number) {
    this.#encode = encode
    this.#send = send
    this.#batcher = new Batcher(
      { send: (set) => this.#sendSet(set), bytesOf: ({ item }) => item.bytes },
      { maxItems: limits.setItems, maxBytes, maxInFlight: 2 },
    )
  }

  one(request: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#add(request, (answer) => (isRefused(answer) ? reject(answer.error) : resolve(answer)))
    })
  }

  async many(requests: unknown): Promise<unknown[]> {
    if (!Array.isArray(requests)) throw refusal('invalid_input', 'the requests', show(requests), 'an array')
    return inOrder<unknown>(requests.length, (index, settle) => this.#add(requests[index], settle))
  }

  #add(request: unknown, settle: (answer: unknown) => void): void {
    let item: SetItem
    try {
      item = this.#encode(request)
    } catch (error) {
      if (!EngineError.is(error)) throw error
      return settle(refused(error))
    }
    this.#batcher.add({ item, settle })
  }

  async #sendSet(set: readonly WaitingCall[]): Promise<void> {
    try {
      const answers = await this.#send(set.map(({ item }) => item))
      set.forEach(({ settle }, index) => settle(answers[index]))
    } catch (error) {
      const answer = refused(error as EngineError)
      for (const { settle } of set) settle(answer)
    }
  }
}

function refused(error: EngineError): Refused {
  return { kind: 'refused', error }
}

function isRefused(answer: unknown): answer is Refused {
  return (answer as { kind?: unknown } | null)?.kind === 'refused'
}
