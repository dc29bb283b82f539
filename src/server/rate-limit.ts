// Limits requests a second: a token bucket for each caller, which holds the tokens of one second.
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

  /** Refuses with the time to wait. The error names `who`, so it must not be a secret. */
  take(who: string, perSecond: number): void {
    const now = this.#now()
    const bucket = this.#buckets.get(who) ?? { tokens: perSecond, at: now }
    const filled = Math.min(perSecond, bucket.tokens + ((now - bucket.at) / 1000) * perSecond)
    // Moved to the end, so that the first bucket is the one that was idle longest.
    this.#buckets.delete(who)
    if (this.#buckets.size >= mostBuckets) this.#buckets.delete(this.#buckets.keys().next().value!)
    this.#buckets.set(who, { tokens: Math.max(0, filled - 1), at: now })
    if (filled >= 1) return
    const retryAfterMs = Math.ceil(((1 - filled) / perSecond) * 1000)
    const sentence = `${who} sent more than ${perSecond} requests in a second; try again in ${retryAfterMs} ms`
    throw new EngineError('rate_limited', sentence, { perSecond, retryAfterMs })
  }

  /** The request did not count after all. */
  giveBack(who: string): void {
    const bucket = this.#buckets.get(who)
    if (bucket !== undefined) bucket.tokens += 1
  }
}
