// Merges concurrent single calls into sets, as the engine does: one set of an operation is under way, the calls that
// arrive meanwhile form the next, and only a full set is sent beside it. It uses no timer. Calls for many use it too,
// so that no body is larger than a server accepts. A set that is lost fails its items, each in its place.
import { EngineError, refusal } from '../model/errors.ts'
import { limits } from '../model/limits.ts'
import { show } from '../model/text.ts'
import type { Refused } from '../engine/kernel/each-in-place.ts'

/** Replies in the order of the items. */
export type SendSet = (items: readonly Item[]) => Promise<readonly unknown[]>

export interface Item {
  readonly json: string
  readonly bytes: number
  /** A repetition has no effect beyond that of the first send. */
  readonly isRepeatable: boolean
}

interface Waiting {
  readonly item: Item
  readonly settle: (answer: unknown) => void
}

const mostItems = limits.setItems
const mostUnderWay = 2

export class Sets {
  readonly #encode: (request: unknown) => Item
  readonly #send: SendSet
  readonly #mostBytes: number
  readonly #waiting: Waiting[] = []
  #waitingBytes = 0
  #underWay = 0
  #isScheduled = false

  /** `mostBytes` of a set; a larger item is sent alone. */
  constructor(encode: (request: unknown) => Item, send: SendSet, mostBytes: number) {
    this.#encode = encode
    this.#send = send
    this.#mostBytes = mostBytes
  }

  one(request: unknown): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#add(request, (answer) => (isRefused(answer) ? reject(answer.error) : resolve(answer)))
    })
  }

  many(requests: unknown): Promise<unknown[]> {
    return new Promise((resolve) => {
      if (!Array.isArray(requests)) throw refusal('invalid_input', 'the requests', show(requests), 'an array')
      const answers = Array.from<unknown>({ length: requests.length })
      let open = requests.length
      if (open === 0) resolve(answers)
      // By index, because a hole in the array is an item too.
      for (let index = 0; index < requests.length; index++) {
        this.#add(requests[index], (answer) => {
          answers[index] = answer
          open -= 1
          if (open === 0) resolve(answers)
        })
      }
    })
  }

  #add(request: unknown, settle: (answer: unknown) => void): void {
    let item: Item
    try {
      item = this.#encode(request)
    } catch (error) {
      if (!EngineError.is(error)) throw error
      return settle(refused(error))
    }
    this.#waiting.push({ item, settle })
    this.#waitingBytes += item.bytes
    if (this.#isScheduled) return
    this.#isScheduled = true
    // After a turn of the microtask queue, so that calls of one synchronous piece of code share the first set too.
    queueMicrotask(() => {
      this.#isScheduled = false
      this.#sendNext()
    })
  }

  #sendNext(): void {
    while (this.#waiting.length > 0 && this.#mayGo()) {
      this.#underWay += 1
      void this.#sendSet(this.#takeSet()).then(() => {
        this.#underWay -= 1
        this.#sendNext()
      })
    }
  }

  #mayGo(): boolean {
    if (this.#underWay === 0) return true
    return this.#underWay < mostUnderWay && (this.#waiting.length >= mostItems || this.#waitingBytes >= this.#mostBytes)
  }

  #takeSet(): Waiting[] {
    let [count, bytes] = [0, 0]
    for (const { item } of this.#waiting) {
      if (count === mostItems || (count > 0 && bytes + item.bytes > this.#mostBytes)) break
      count += 1
      bytes += item.bytes
    }
    this.#waitingBytes -= bytes
    return this.#waiting.splice(0, count)
  }

  async #sendSet(set: readonly Waiting[]): Promise<void> {
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
