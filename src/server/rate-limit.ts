// How many requests a second somebody may send: a bucket for each that fills with time and holds a second's worth.
import { EngineError } from '../model/errors.ts'

const mostBuckets = 10_000

interface Bucket {
  tokens: number
  at: number
}

export class RateLimit {
  readonly #buckets = new Map<string, Bucket>()
  readonly #now: () => number

  constructor(now: () => number = () => performance.now()) {
    this.#now = now
  }

  /** Refuses with how long to wait; `who` is named to whoever asked, so it may be no secret. */
  take(who: string, perSecond: number): void {
    const now = this.#now()
    const bucket = this.#buckets.get(who) ?? { tokens: perSecond, at: now }
    const filled = Math.min(perSecond, bucket.tokens + ((now - bucket.at) / 1000) * perSecond)
    // Behind all others, so that the first is the one that was idle longest.
    this.#buckets.delete(who)
    if (this.#buckets.size >= mostBuckets) this.#buckets.delete(this.#buckets.keys().next().value!)
    this.#buckets.set(who, { tokens: Math.max(0, filled - 1), at: now })
    if (filled >= 1) return
    const retryAfterMs = Math.ceil(((1 - filled) / perSecond) * 1000)
    const sentence = `${who} sent more than ${perSecond} requests in a second; try again in ${retryAfterMs} ms`
    throw new EngineError('rate_limited', sentence, { perSecond, retryAfterMs })
  }

  /** What was taken did not count after all. */
  giveBack(who: string): void {
    const bucket = this.#buckets.get(who)
    if (bucket !== undefined) bucket.tokens += 1
  }
}
