// What our client sends again after a lost reply carries the same request id, and is answered as the first was: the same key,
// request id, path and body, within a minute and this process. On another server it hears `duplicate` for the id that it has
// minted, and knows what that means (`client/mint.ts`).
import { createHash } from 'node:crypto'

const keptMs = 60_000
const mostEntries = 10_000
const mostBytes = 64 * 1024

export interface Answer {
  readonly status: number
  readonly text: string
}

export class Remembered {
  readonly #answers = new Map<string, { readonly answer: Promise<Answer>; readonly until: number }>()

  /** A refusal is not kept: the next try may go better. */
  async once(parts: readonly unknown[], act: () => Promise<Answer>): Promise<Answer> {
    const now = performance.now()
    this.#forget(now)
    const key = createHash('sha256').update(JSON.stringify(parts)).digest('base64')
    const before = this.#answers.get(key)
    if (before !== undefined) return before.answer
    const answer = act()
    this.#answers.set(key, { answer, until: now + keptMs })
    try {
      const given = await answer
      if (given.text.length > mostBytes) this.#answers.delete(key)
      return given
    } catch (error) {
      this.#answers.delete(key)
      throw error
    }
  }

  // In the order in which they came, so the oldest is the first.
  #forget(now: number): void {
    for (const [key, { until }] of this.#answers) {
      if (until > now && this.#answers.size < mostEntries) return
      this.#answers.delete(key)
    }
  }
}
