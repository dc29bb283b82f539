// Claims whose reply was lost. Their executions are leased to this worker, which does not run them, so they would wait
// until the leases expire. The worker finds them by a renewal, which returns every lease of its instance that it did
// not name.
//
// While a claim is under way, such a lease may belong to its reply. So no claim is sent during a search, the waits of
// claims under way are cut short, and the search begins when all of them have their reply.
import { setTimeout as sleep } from 'node:timers/promises'

// A claim without a reply within this time does not keep the others from claiming.
const longestPauseMs = 1000
// The statement of a lost claim may still be running after its connection is gone: a second search follows the first.
const searchAgainMs = 1000

export class LostClaims {
  readonly #giveBack: () => Promise<void>
  #isSuspected = false
  #isStopped = false
  #underWay = 0
  #cut = new AbortController()
  #search: Promise<void> | null = null
  #again: NodeJS.Timeout | undefined
  #onAnswered: (() => void)[] = []

  /** `giveBack` releases every lease of this worker that it does not know. */
  constructor(giveBack: () => Promise<void>) {
    this.#giveBack = giveBack
  }

  get isClaiming(): boolean {
    return this.#underWay > 0
  }

  /**
   * Sends a claim, with the signal that cuts its wait short. A search that is due comes first; rejects when that search
   * failed.
   */
  async claim<T>(send: (signal: AbortSignal) => Promise<T>): Promise<T> {
    // Nothing is awaited between the last check and the count, so a search that begins later waits for this claim.
    while (this.#mustSearch) await this.#searched()
    this.#underWay += 1
    try {
      return await send(this.#cut.signal)
    } catch (error) {
      this.#isSuspected = true
      this.#suspectAgain()
      throw error
    } finally {
      this.#underWay -= 1
      if (this.#underWay === 0) for (const answered of this.#onAnswered.splice(0)) answered()
    }
  }

  /** Leases may exist that no claim under way accounts for: waits are cut short, and the next claim searches first. */
  suspect(): void {
    this.#isSuspected = true
    this.#cutWaits()
  }

  /** Cuts all waits short. No further search begins. */
  stop(): void {
    this.#isStopped = true
    clearTimeout(this.#again)
    this.#cutWaits()
  }

  get #mustSearch(): boolean {
    return !this.#isStopped && (this.#isSuspected || this.#search !== null)
  }

  #searched(): Promise<void> {
    this.#search ??= this.#searchOnce().finally(() => (this.#search = null))
    return this.#search
  }

  async #searchOnce(): Promise<void> {
    this.#cutWaits()
    const areAllAnswered = await this.#allAnswered()
    // This search may miss leases that are reported from now on.
    this.#isSuspected = false
    if (!areAllAnswered) return this.#suspectAgain()
    try {
      await this.#giveBack()
    } catch (error) {
      this.#isSuspected = true
      throw error
    }
  }

  async #allAnswered(): Promise<boolean> {
    if (this.#underWay === 0) return true
    const late = new AbortController()
    const answered = new Promise<void>((resolve) => this.#onAnswered.push(resolve))
    const pause = sleep(longestPauseMs, undefined, { signal: late.signal }).catch(() => {})
    await Promise.race([answered, pause])
    late.abort()
    return this.#underWay === 0
  }

  #suspectAgain(): void {
    clearTimeout(this.#again)
    if (!this.#isStopped) this.#again = setTimeout(() => this.suspect(), searchAgainMs)
  }

  #cutWaits(): void {
    this.#cut.abort()
    if (!this.#isStopped) this.#cut = new AbortController()
  }
}
