// The leases that a worker holds. One call renews all of them, at a third of their time. Between renewals, once a
// second, one call checks whether a run was cancelled or its lease revoked; a hint of a stop triggers that check at
// once. A lease that is not renewed in time is lost, whatever the reason: its run is aborted, and the result of the run
// is discarded.
import type { Engine } from '../engine/contract.ts'
import type { Claim } from '../engine/execution/claim.ts'
import type { LeaseAnswer, RenewedLease } from '../engine/execution/renew.ts'
import type { Fence } from '../engine/transition/fence.ts'
import { EngineError, isUnreachable } from '../model/errors.ts'
import { bySets } from '../model/sets.ts'
import type { Logger } from '../model/logger.ts'
import { DatabaseClock } from './database-clock.ts'
import { Lease, type LeaseWatcher } from './lease.ts'
import { reportLost } from './report.ts'

// How soon a cancel reaches running code.
const checkEveryMs = 1000
const unhealthyAfter = 3

export interface LeaseHealth {
  readonly isHealthy: boolean
  /** Renewals that failed in a row. */
  readonly failureCount: number
}

export interface LeasesOptions {
  readonly engine: Engine
  readonly workerInstanceId: string
  readonly leaseTtlMs: number
  readonly logger: Logger
  /** Whether the reply to a claim may be under way: leases that this worker does not know yet are then expected. */
  readonly isClaiming: () => boolean
  /** A renewal found leases that this worker does not know, while the reply to a claim may have been under way. */
  readonly onUnknown: () => void
  readonly onStoppedRun?: ((listener: (executionId: string | null) => void) => () => void) | undefined
  /** Called with every pulse of the timer, at least once a second while leases are held. */
  readonly onPulse: () => void
}

export class Leases {
  readonly #options: LeasesOptions
  readonly #held: Lease[] = []
  readonly #clock = new DatabaseClock()
  readonly #pulseMs: number
  readonly #watcher: LeaseWatcher = {
    expired: (lease) => this.#expire(lease),
    lost: (lease, error) => reportLost(this.#options.logger, lease, error, this.#hasTimedOut(lease)),
  }
  #timer: NodeJS.Timeout | undefined
  #nextPulseAt = 0
  #nextRenewalAt = 0
  #isBusy = false
  #isCheckDue = false
  #unsubscribe: (() => void) | undefined
  #failureCount = 0
  #claimCount = 0

  constructor(options: LeasesOptions) {
    this.#options = options
    this.#pulseMs = Math.min(checkEveryMs, options.leaseTtlMs / 3)
  }

  get held(): readonly Lease[] {
    return this.#held
  }

  get health(): LeaseHealth {
    return { isHealthy: this.#failureCount < unhealthyAfter, failureCount: this.#failureCount }
  }

  /** Reads the database's clock, so that a reply to a claim that is read late is known to be late. */
  async readClock(): Promise<void> {
    const sentAt = performance.now()
    this.#clock.observe(await this.#options.engine.serverTime(), sentAt, performance.now())
  }

  /**
   * The time until a point of the database's clock. Its error is at most the time that a call takes, and it is never
   * too long.
   */
  msUntil(time: number): number {
    const now = performance.now()
    return this.#clock.earliest(time, now) - now
  }

  /** `sentAt`: when the claim was sent, by this process's clock. */
  hold(claim: Claim, sentAt: number): Lease {
    // The failures were those of leases that are gone, and a claim has succeeded.
    if (this.#held.length === 0) this.#failureCount = 0
    this.#claimCount += 1
    const now = performance.now()
    const { leaseTtlMs } = this.#options
    this.#clock.observe(claim.leaseExpiresAt - leaseTtlMs, sentAt, now)
    const expiresAt = Math.min(this.#clock.earliest(claim.leaseExpiresAt, now), now + leaseTtlMs)
    const isDoubtful = expiresAt <= now
    const lease = new Lease(claim, isDoubtful ? now + leaseTtlMs : expiresAt, this.#watcher)
    lease.isDoubtful = isDoubtful
    lease.place = this.#held.push(lease) - 1
    this.#unsubscribe ??= this.#options.onStoppedRun?.((executionId) => this.#stopped(executionId))
    if (this.#timer === undefined) {
      this.#nextRenewalAt = now + leaseTtlMs / 3
      this.#schedule()
    }
    return lease
  }

  /** A doubtful lease is renewed. Then it is no longer doubtful, or it is lost. */
  async confirm(lease: Lease): Promise<void> {
    const { engine, workerInstanceId, leaseTtlMs } = this.#options
    const sentAt = performance.now()
    try {
      const request = { workerInstanceId, leases: [renewalOf(lease)], leaseTtl: leaseTtlMs }
      const { leases } = await engine.executions.renew(request)
      this.#apply(lease, leases[0]!, sentAt)
      lease.isDoubtful = false
    } catch {
      this.#expire(lease)
    }
  }

  /** Reports that the handler of a lease is about to start, at once. When the report fails, the next renewal repeats it. */
  async reportStart(lease: Lease): Promise<void> {
    const { engine, workerInstanceId, leaseTtlMs, logger } = this.#options
    lease.isStarted = true
    const sentAt = performance.now()
    try {
      const request = { workerInstanceId, leases: [renewalOf(lease)], leaseTtl: leaseTtlMs }
      const { leases } = await engine.executions.renew(request)
      this.#apply(lease, leases[0]!, sentAt)
    } catch (error) {
      logger.debug(`reporting the start of ${lease.fence.executionId} failed: ${messageOf(error)}`)
    }
  }

  drop(lease: Lease): void {
    if (lease.place < 0) return
    const last = this.#held.pop()!
    if (last !== lease) {
      this.#held[lease.place] = last
      last.place = lease.place
    }
    lease.place = -1
  }

  /** Call it when no lease is held any more. */
  stop(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#unsubscribe?.()
    this.#unsubscribe = undefined
  }

  /** Releases everything that this instance holds. Call it when no run is active. */
  async giveBackUnknown(): Promise<void> {
    const { engine, workerInstanceId, leaseTtlMs, logger } = this.#options
    try {
      const { unnamed } = await engine.executions.renew({ workerInstanceId, leases: [], leaseTtl: leaseTtlMs })
      await this.#giveBack(unnamed)
    } catch (error) {
      logger.warn(`could not release leases of a claim without a reply; they expire: ${messageOf(error)}`)
    }
  }

  /**
   * Releases executions of claims whose reply was lost. Only while no claim is under way: its reply may bring the
   * lease.
   */
  async giveBackLost(): Promise<void> {
    const { engine, workerInstanceId, leaseTtlMs } = this.#options
    const leases = this.#held.map(renewalOf)
    const { unnamed } = await engine.executions.renew({ workerInstanceId, leases, leaseTtl: leaseTtlMs })
    await this.#giveBack(unnamed)
    await this.readClock()
  }

  // The timer fires once more after the last lease is gone: a worker of short runs would otherwise set and clear it for
  // each run.
  #schedule(): void {
    this.#nextPulseAt = performance.now() + this.#pulseMs
    this.#timer = setTimeout(() => void this.#pulse(), this.#pulseMs)
  }

  async #pulse(): Promise<void> {
    this.#timer = undefined
    if (this.#held.length === 0) return
    this.#warnOfLag(performance.now() - this.#nextPulseAt)
    this.#schedule()
    this.#loseExpired()
    this.#options.onPulse()
    // A call that hangs does not delay the next pulse.
    if (this.#isBusy || this.#held.length === 0) return
    await this.#contact()
  }

  // One check at a time. Hints that arrive in one turn of the event loop, or during a check, share the next check.
  #stopped(executionId: string | null): void {
    const isOurs = ({ fence }: Lease): boolean => executionId === null || fence.executionId.endsWith(executionId)
    if (this.#isCheckDue || !this.#held.some(isOurs)) return
    this.#isCheckDue = true
    if (!this.#isBusy) setImmediate(() => void (this.#isCheckDue && !this.#isBusy && this.#contact()))
  }

  async #contact(): Promise<void> {
    this.#isBusy = true
    try {
      do {
        this.#isCheckDue = false
        if (performance.now() >= this.#nextRenewalAt) await this.#renew()
        else await this.#check()
      } while (this.#isCheckDue && this.#held.length > 0)
    } finally {
      this.#isBusy = false
    }
  }

  #warnOfLag(lateMs: number): void {
    if (lateMs < this.#options.leaseTtlMs / 6) return
    const { logger, leaseTtlMs } = this.#options
    logger.warn(
      `the event loop was blocked for ${Math.round(lateMs)} ms; leases last ${leaseTtlMs} ms, so move long computations to a thread, or use longer leases`,
    )
  }

  #loseExpired(): void {
    const now = performance.now()
    const expired = this.#held.filter((lease) => now >= lease.expiresAt)
    if (expired.length > 0) this.#failureCount += 1
    for (const lease of expired) this.#expire(lease)
  }

  #expire(lease: Lease): void {
    if (!lease.isLost) this.#lose(lease, notRenewed(lease))
  }

  async #renew(): Promise<void> {
    const { engine, workerInstanceId, leaseTtlMs, isClaiming, onUnknown, logger } = this.#options
    const leases = [...this.#held]
    const sentAt = performance.now()
    const claimsBefore = isClaiming() ? -1 : this.#claimCount
    try {
      const answer = await engine.executions.renew({
        workerInstanceId,
        leases: leases.map(renewalOf),
        leaseTtl: leaseTtlMs,
      })
      this.#failureCount = 0
      this.#nextRenewalAt = sentAt + leaseTtlMs / 3
      leases.forEach((lease, index) => this.#apply(lease, answer.leases[index]!, sentAt))
      if (claimsBefore === this.#claimCount && !isClaiming()) await this.#giveBack(answer.unnamed)
      else if (answer.unnamed.length > 0) onUnknown()
    } catch (error) {
      this.#failureCount += 1
      const isReported = isUnreachable(error) || this.#failureCount > 1
      const count = leases.length === 1 ? '1 lease' : `${leases.length} leases`
      logger[isReported ? 'debug' : 'warn'](
        `${count} could not be renewed; retried until they expire: ${messageOf(error)}`,
      )
    }
  }

  async #check(): Promise<void> {
    const leases = [...this.#held]
    try {
      const answers = await this.#options.engine.leases.check({ leases: leases.map((lease) => lease.fence) })
      leases.forEach((lease, index) => this.#apply(lease, answers[index]!, null))
    } catch (error) {
      // The next renewal shows whether that matters.
      this.#options.logger.debug(`could not check ${leases.length} leases: ${messageOf(error)}`)
    }
  }

  /** `renewedAt`: when the renewal was sent; null when nothing was renewed. */
  #apply(lease: Lease, answer: LeaseAnswer, renewedAt: number | null): void {
    if (lease.place < 0) return
    if (answer.kind === 'lost') return this.#lose(lease, answer.error)
    if (renewedAt !== null) {
      const { leaseTtlMs } = this.#options
      lease.expiresAt = renewedAt + leaseTtlMs
      this.#clock.observe(answer.expiresAt - leaseTtlMs, renewedAt, performance.now())
    }
    if (answer.cancelRequested) lease.askToStop(askedToStop(lease))
  }

  #hasTimedOut({ attemptDeadlineAt }: Lease): boolean {
    return attemptDeadlineAt !== null && this.msUntil(attemptDeadlineAt) <= 0
  }

  #lose(lease: Lease, error: EngineError): void {
    this.drop(lease)
    lease.lose(error)
  }

  /** The reply to a claim was lost, so no run of this worker belongs to these leases. */
  async #giveBack(unnamed: readonly Fence[]): Promise<void> {
    if (unnamed.length === 0) return
    this.#options.logger.warn(`releasing ${unnamed.length} executions: the reply to their claim was lost`)
    const reason = 'the reply to its claim was lost'
    const fences = unnamed.map(({ executionId, leaseId, leaseEpoch }) => ({ executionId, leaseId, leaseEpoch, reason }))
    await bySets(fences, (set) => this.#options.engine.executions.releaseMany(set))
  }
}

function renewalOf({ fence, isStarted, isStartReported }: Lease): RenewedLease {
  return isStarted && !isStartReported ? { ...fence, started: true } : fence
}

function notRenewed({ fence }: Lease): EngineError {
  const { executionId } = fence
  const sentence = `the lease on ${executionId} could not be renewed in time; the result of the run is discarded`
  return new EngineError('lease_expired', sentence, { executionId })
}

function askedToStop({ fence }: Lease): EngineError {
  const { executionId } = fence
  const sentence = `execution ${executionId} was asked to stop; finish or clean up within the grace period`
  return new EngineError('execution_cancelled', sentence, { executionId })
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
