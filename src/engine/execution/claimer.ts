// The claims of one process: which queues to read, where each begins, how many rows to read, and when to poll again.
import { EngineError } from '../../model/errors.ts'
import { abortSignal, duration, listOf, whole } from '../../model/field-kinds.ts'
import { checkFields, type RequestOf } from '../../model/field.ts'
import { limits } from '../../model/limits.ts'
import { lane, leaseTtl, namespace, wait, workerName } from '../../model/named-fields.ts'
import type { Sql } from '../../sql/sql.ts'
import type { RowOf } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import type { Hints } from '../kernel/hint.ts'
import type { QueueHeads } from '../queue/head.ts'
import type { QueueFilter, QueueMatcher } from '../queue/match.ts'
import { servedFields } from '../queue/served.ts'
import { untilSent } from '../kernel/resend.ts'
import { claimReady, countReady, decodeClaim, type Claim, type ClaimRow } from './claim.ts'
import type { MoreToClose } from '../transition/more-to-close.ts'
import { defaultLeaseTtlMs } from './renew.ts'

const mostClaims = limits.claimCount

export const claimFields = {
  workerId: workerName,
  workerInstanceId: workerName,
  lanes: listOf(lane, { each: 'lane', min: 1, allowed: 'an array of one or more lanes' }),
  /** Defaults to all that the caller may see. */
  namespaces: listOf(namespace, {
    each: 'namespace',
    min: 1,
    allowed: 'an array of one or more, or omitted',
  }).optional(),
  ...servedFields,
  /** 1 to 10,000; defaults to 1. */
  max: whole({ min: 1, max: mostClaims }).default(1).describe('Defaults to 1.'),
  /**
   * How many of them the worker starts at once; it claims the others ahead and reports their start when it renews. Only runs
   * that have started count when their leases expire. Defaults to all of them.
   */
  startCount: whole({ max: mostClaims })
    .optional()
    .describe('How many of them start at once; the others are claimed ahead. Defaults to all.'),
  leaseTtl: leaseTtl.optional(),
  /** How long to wait when nothing is ready; defaults to no wait. */
  wait: wait.default(0).describe('How long to wait when no execution is ready, a minute at most.'),
  /**
   * Other workers wait for the same queues: the claim follows a hint after a random part of this time, so that they do
   * not all claim at once.
   */
  spread: duration().default(0).describe('A hint is followed after a random part of this duration.'),
  /** Ends the wait early. */
  signal: abortSignal(),
}

export interface ClaimRequest extends RequestOf<typeof claimFields> {}

export interface ClaimResult {
  readonly claims: readonly Claim[]
  /** More may be ready. */
  readonly more: boolean
}

interface CheckedClaim {
  readonly filter: QueueFilter
  readonly workerId: string
  readonly workerInstanceId: string
  readonly leaseTtlMs: number
  readonly actor: string
  readonly max: number
  readonly startCount: number
  readonly waitMs: number
  readonly spreadMs: number
  readonly signal: AbortSignal | undefined
}

// Polls are the guarantee if hints do not arrive: soon at first, then at growing intervals.
const firstPollMs = 50
const longestPollMs = 1000
// How far a claim reads past locked rows.
const fewestCandidates = 64
const mostCandidates = 16_384
const mostOthers = 16
// How often it queries again, with every ready row in its window, for rows that are free but were locked.
const mostRepeats = 3

interface ClaimRound extends ClaimResult {
  /** Claimable rows are ready, but other transactions had locked them each time. */
  readonly isHeldUp: boolean
}

interface Taken {
  readonly rows: readonly ClaimRow[]
  /** As many ready rows exist as it read. */
  readonly isWindowFull: boolean
  readonly isFromHead: boolean
}

export class Claimer {
  readonly #sql: Sql
  readonly #matcher: QueueMatcher
  readonly #heads: QueueHeads
  readonly #hints: Hints
  readonly #moreToClose: MoreToClose
  /** How many other processes claim from the same queues at the same time, estimated by their locked rows. */
  #others = 0
  /** The last waiting claim ended without a result. */
  #isQuiet = false

  constructor(sql: Sql, matcher: QueueMatcher, heads: QueueHeads, hints: Hints, moreToClose: MoreToClose) {
    this.#sql = sql
    this.#matcher = matcher
    this.#heads = heads
    this.#hints = hints
    this.#moreToClose = moreToClose
  }

  async claim(caller: Caller, request: ClaimRequest): Promise<ClaimResult> {
    const checked = this.#check(caller, request)
    const { claims, more } = await (checked.waitMs === 0 ? this.#claimNow(checked) : this.#claimWithin(checked))
    return { claims, more }
  }

  async #claimWithin(checked: CheckedClaim): Promise<ClaimRound> {
    const { signal } = checked
    const waitUntil = performance.now() + checked.waitMs
    const watch = this.#hints.watch((queueId) => this.#matcher.mayMatch(checked.filter, queueId))
    try {
      let isHinted = false
      let result = await this.#claimNow(checked)
      // Right after a wait without a result, the next one need not begin with short pauses.
      const startMs = this.#isQuiet ? longestPollMs : firstPollMs
      for (let pollMs = startMs; ; pollMs = Math.min(pollMs * 2, longestPollMs)) {
        const leftMs = waitUntil - performance.now()
        this.#isQuiet = result.claims.length === 0 && leftMs <= 0
        if (result.claims.length > 0 || leftMs <= 0 || signal?.aborted === true) return result
        // The lock may be released without another hint.
        if (isHinted && result.isHeldUp) pollMs = firstPollMs
        isHinted = await watch.next(Math.min(leftMs, pollMs), signal, Math.min(leftMs, checked.spreadMs))
        // An idle worker costs this one statement.
        if (isHinted || (await this.#matcher.mayFind(checked.filter))) result = await this.#claimNow(checked, isHinted)
      }
    } finally {
      watch.end()
    }
  }

  #check(caller: Caller, request: ClaimRequest): CheckedClaim {
    const { lanes, namespaces, kinds, versions, capabilities, ...claim } = checkFields('claim', claimFields, request)
    return {
      ...claim,
      filter: { namespaces: namespacesOf(caller, namespaces), lanes, kinds, versions, capabilities },
      leaseTtlMs: claim.leaseTtlMs ?? defaultLeaseTtlMs(this.#sql),
      startCount: claim.startCount ?? claim.max,
      actor: caller.actor,
    }
  }

  // Rows that other transactions have locked, and rows with a grant, may be in front of free ones. So a claim that took
  // nothing counts the ready rows, and queries again with a larger window when more exist than it read. Otherwise the
  // free ones may have been behind a row that another claim was taking and has taken by now, or their lock was released
  // since; no hint follows for those, so it queries a few times more. A hint names its queue: a hinted claim does not
  // search for unknown ones.
  async #claimNow(checked: CheckedClaim, isHinted = false): Promise<ClaimRound> {
    const queues = await this.#matcher.match(checked.filter)
    const queueIds = [...queues.keys()]
    let candidates = this.#others > 0 ? Math.min(checked.max * 2, mostCandidates) : checked.max
    let repeats = 0
    while (queueIds.length > 0) {
      const { rows, isWindowFull } = await this.#claimOnce(checked, queueIds, candidates)
      if (rows.length > 0) {
        this.#others = othersAfter(this.#others, isWindowFull && rows.length < checked.max)
        for (const row of rows) if (row.has_more_to_close) this.#moreToClose.add(row.execution_id)
        const claims = rows.map((row) => decodeClaim(row, queues.get(row.queue_id)!))
        return { claims, more: isWindowFull, isHeldUp: false }
      }
      if (candidates >= mostCandidates) break
      const { ready, has_claimable: hasClaimable } = await this.#countReady(queueIds, candidates + 1)
      if (ready > candidates) {
        this.#others = othersAfter(this.#others, true)
      } else {
        if (!hasClaimable) break
        if (repeats === mostRepeats) return { claims: [], more: false, isHeldUp: true }
        repeats += 1
      }
      candidates = Math.min(Math.max(candidates * 2, fewestCandidates), mostCandidates)
    }
    if (!isHinted && (await this.#matcher.hasOthers(checked.filter, queues))) return this.#claimNow(checked)
    return { claims: [], more: false, isHeldUp: false }
  }

  /** From the known start of each queue, and, when that found too few, from the head. */
  async #claimOnce(checked: CheckedClaim, queueIds: readonly number[], candidates: number): Promise<Taken> {
    const taken = await this.#send(checked, queueIds, 0, candidates)
    if (taken.rows.length === checked.max || taken.isFromHead) return taken
    // Other transactions have locked the rest.
    if (taken.rows.length > 0 && taken.isWindowFull) return taken
    this.#heads.reset(queueIds)
    try {
      const more = await this.#send(checked, queueIds, taken.rows.length, candidates)
      return { ...more, rows: [...taken.rows, ...more.rows] }
    } catch (error) {
      // The rows of the first query belong to the caller; otherwise no process would know of them until the next
      // renewal.
      if (taken.rows.length === 0) throw error
      return taken
    }
  }

  // Competing claims would all begin with rows that another one is taking at this moment. So each begins a random number
  // of sets further on, unless it is time to read the head.
  async #send(
    checked: CheckedClaim,
    queueIds: readonly number[],
    takenCount: number,
    candidates: number,
  ): Promise<Taken> {
    const starts = this.#heads.startsOf(queueIds)
    const skip = starts.isDue ? 0 : Math.floor(Math.random() * (this.#others + 1)) * checked.max
    // A repeat after a lost reply would claim as many more; the next renewal finds the executions of the first claim.
    const claimed = await untilSent(this.#sql, { again: false, onlyOnce: true }, () =>
      this.#sql.query(claimReady, {
        worker_id: checked.workerId,
        worker_instance_id: checked.workerInstanceId,
        lease_ttl_ms: checked.leaseTtlMs,
        actor: checked.actor,
        queue_ids: queueIds,
        from_neg_priorities: starts.keys.map((start) => start.negPriority),
        from_ranks: starts.keys.map((start) => start.rank),
        from_ids: starts.keys.map((start) => start.executionId),
        candidates,
        max: checked.max - takenCount,
        skip: Math.min(skip, mostCandidates),
        start_count: Math.max(0, checked.startCount - takenCount),
      }),
    )
    const rows = claimed.toSorted(inClaimOrder)
    const isWindowFull = rows[0] !== undefined && rows[0].seen >= candidates
    if (isWindowFull && skip === 0) this.#remember(rows)
    return { rows, isWindowFull, isFromHead: starts.areHeads && skip === 0 }
  }

  #remember(rows: readonly ClaimRow[]): void {
    const seen = new Set<number>()
    for (const row of rows) {
      if (seen.has(row.queue_id)) continue
      seen.add(row.queue_id)
      this.#heads.advance(row.queue_id, { negPriority: -row.priority, rank: row.rank, executionId: row.execution_id })
    }
  }

  async #countReady(queueIds: readonly number[], most: number): Promise<RowOf<typeof countReady.row>> {
    const [found] = await this.#sql.query(countReady, { queue_ids: queueIds, most })
    return found!
  }
}

// The rows are in this order already, as the statement is planned today (measured: sorted by the database, a claim of
// 500 takes two hundredths longer).
function inClaimOrder(a: ClaimRow, b: ClaimRow): number {
  return b.priority - a.priority || a.rank - b.rank || (a.execution_id < b.execution_id ? -1 : 1)
}

// Increases at once when a claim notices other processes, and decreases a little with each claim that notices none.
function othersAfter(others: number, metOthers: boolean): number {
  if (metOthers) return Math.min(others * 2 + 3, mostOthers)
  return others < 0.5 ? 0 : others * 0.9
}

function namespacesOf(caller: Caller, namespaces: readonly string[] | null): readonly string[] | null {
  if (caller.namespace === null) return namespaces
  if (namespaces === null || namespaces.every((one) => one === caller.namespace)) return [caller.namespace]
  throw new EngineError(
    'namespace_mismatch',
    `this caller is bound to namespace '${caller.namespace}' and cannot claim from ${namespaces.join(', ')}; omit namespaces`,
    { bound: caller.namespace, wanted: namespaces },
  )
}
