// Our client repeats a request after a lost reply with the same request id, and receives the first response again: for
// the same key, namespace, actor, request id, path and body, within a minute and this process. On another server the
// result is `duplicate` for the id that the client has minted, and the client knows what that means (`client/mint.ts`).
import { createHash } from 'node:crypto'
import { limits } from '../model/limits.ts'

const keptMs = 60_000
const mostEntries = 10_000
const mostBytesOfOne = 64 * 1024
// The entry itself: its key, its promise and its places in the map.
const bytesAround = 500

export interface Answer {
  readonly status: number
  readonly text: string
}

interface Entry {
  readonly answer: Promise<Answer>
  readonly until: number
  bytes: number
}

export class Remembered {
  readonly #answers = new Map<string, Entry>()
  #bytes = 0

  get bytes(): number {
    return this.#bytes
  }

  /** A refusal is not kept: the next try may succeed. */
  async once(parts: readonly unknown[], act: () => Promise<Answer>): Promise<Answer> {
    const now = performance.now()
    this.#forget(now)
    const key = createHash('sha256').update(JSON.stringify(parts)).digest('base64')
    const before = this.#answers.get(key)
    if (before !== undefined) return before.answer
    const entry = { answer: act(), until: now + keptMs, bytes: bytesAround }
    this.#answers.set(key, entry)
    this.#bytes += entry.bytes
    try {
      const given = await entry.answer
      if (given.text.length > mostBytesOfOne) this.#delete(key, entry)
      else this.#grow(key, entry, given.text.length * 2)
      return given
    } catch (error) {
      this.#delete(key, entry)
      throw error
    }
  }

  #grow(key: string, entry: Entry, bytes: number): void {
    if (this.#answers.get(key) !== entry) return
    entry.bytes += bytes
    this.#bytes += bytes
    this.#forget(performance.now())
  }

  #delete(key: string, entry: Entry): void {
    if (this.#answers.get(key) !== entry) return
    this.#answers.delete(key)
    this.#bytes -= entry.bytes
  }

  // In the order of arrival, so the oldest is the first.
  #forget(now: number): void {
    for (const [key, entry] of this.#answers) {
      const isRoom = this.#answers.size < mostEntries && this.#bytes <= limits.rememberedBytes
      if (entry.until > now && isRoom) return
      this.#delete(key, entry)
    }
  }
}
