// Suspend: the holder parks the execution until its condition is satisfied, and gives up the lease. `trySuspend` gives it up only
// if needed: if the condition is satisfied already, the holder continues under its lease.
//
// If no earlier fact can satisfy the condition, which is the rule, a suspension is one round trip (`suspend-directly.ts`).
// Otherwise it is one transaction in two round trips: the first locks the executions and reads the facts after the lock; this
// process evaluates the condition; the second writes the decision with the commit. A repeat by the same holder with the same key
// gets the result of the first call, from the record of the suspension.
import { EngineError } from '../../model/errors.ts'
import type { ExecutionId } from '../../model/id.ts'
import { call, type Call, type PipelineOptions, type RowsOf, type Sql } from '../../sql/sql.ts'
import { asOwnAnswer } from '../kernel/failure.ts'
import { lockHeld } from '../transition/fence.ts'
import { noEffects, onlyEvents, Unpublished, type Effects, type HintedTimer } from '../kernel/effects.ts'
import { rowLocked, type Outcome, type SetOperation } from '../kernel/merge.ts'
import type { SigningKeys } from '../signing-key/keys.ts'
import {
  evaluateSuspensions,
  type SuspendDecision,
  type NewlySuspended,
  type RepeatedSuspension,
} from '../waiting/suspension/evaluate.ts'
import { readCalls, lockedRowsOf } from '../waiting/suspension/read-locked.ts'
import type { CheckedBinding, NewSuspension } from '../waiting/suspension/request.ts'
import { readResumptions, type Resumption } from '../waiting/suspension/resumption.ts'
import { suspendDirectly, directSuspensionOf, type SuspendedDirectly } from '../waiting/suspension/suspend-directly.ts'
import { isKind, writesOf } from '../waiting/suspension/write.ts'
import { readWaitpoints } from '../waiting/suspension/waitpoints.ts'
import type { OpenedWaitpoints } from '../waiting/waitpoint/opened.ts'
import { withToken, type BoundWaitpoint, type UnsignedWaitpoint } from '../waiting/waitpoint/tokens.ts'
import { effectsOfStopped } from '../waiting/suspension/stop.ts'

export interface Suspended {
  readonly kind: 'suspended'
  readonly executionId: ExecutionId
  readonly suspensionId: string
  /** In the order of the request; the first is the primary one. */
  readonly waitpoints: readonly BoundWaitpoint[]
}

export type TrySuspendResult =
  | Suspended
  /** A cancel was requested while it ran, so it ended and does not return. */
  | { readonly kind: 'cancelled'; readonly executionId: ExecutionId }
  /** The lease is kept. */
  | { readonly kind: 'already_satisfied'; readonly executionId: ExecutionId; readonly resumption: Resumption }

/** `already_satisfied` only as the repeat, by its key, of a `trySuspend` with that result. */
export type SuspendResult = TrySuspendResult

interface SuspendDeps {
  readonly sql: Sql
  readonly keys: SigningKeys
  readonly opened: OpenedWaitpoints
}

export function suspendOperation(deps: SuspendDeps): SetOperation<NewSuspension, SuspendResult> {
  return suspending(deps, false)
}

export function trySuspendOperation(deps: SuspendDeps): SetOperation<NewSuspension, TrySuspendResult> {
  return suspending(deps, true)
}

function suspending(deps: SuspendDeps, keepsLease: boolean): SetOperation<NewSuspension, TrySuspendResult> {
  const { sql, keys, opened } = deps
  const unpublished = new Unpublished()
  const decideAll = async (items: readonly NewSuspension[], first: readonly Call[], options: PipelineOptions) => {
    let decisions: readonly SuspendDecision[] = []
    const context = { keepsLease, keys, isAlone: first.length > 0 }
    const decide = (rows: RowsOf<readonly Call[]>): readonly Call[] => {
      decisions = evaluateSuspensions(items, lockedRowsOf(rows.slice(first.length)), context)
      return writesOf(decisions)
    }
    if (items.length === 0) return decisions
    await sql.decide([...first, ...readCalls(items)], decide, options)
    const stopped = decisions.filter((decision) => isKind(decision, 'stop'))
    if (stopped.length > 0) unpublished.add(effectsOfStopped(stopped))
    unpublished.add(effectsOf(decisions))
    return decisions
  }
  return {
    keyOf: (item) => item.uuid,
    bytesOf: (item) => 512 + item.conditionLength,
    async send(items) {
      const keyless = items.some(opensWaitpoints) ? await keys.ready().catch(asOwnAnswer) : undefined
      const able = keyless === undefined ? items : items.filter((item) => !opensWaitpoints(item))
      const unsatisfied = able.flatMap((item) => directSuspensionOf(item, opened) ?? [])
      const parked = await suspendDirectly(sql, keys, unsatisfied)
      for (const one of parked.values()) opened.remember(one)
      unpublished.add(effectsOf([...parked.values()]))
      const others = able.filter((item) => !parked.has(item))
      const decided = await decideAll(others, [], {})
      const decisionOf = new Map<NewSuspension, SuspendDecision>(others.map((item, place) => [item, decided[place]!]))
      const outcomes = await answersTo(
        deps,
        items.map((item) => parked.get(item) ?? decisionOf.get(item) ?? keyless!),
      )
      return { outcomes, effects: unpublished.take() }
    },
    async sendAlone(item, _again, lockTimeoutMs) {
      if (opensWaitpoints(item)) await keys.ready()
      const decided = await decideAll([item], [call(lockHeld, { execution_id: item.uuid })], { lockTimeoutMs })
      const outcomes = await answersTo(deps, decided)
      return { outcomes, effects: unpublished.take() }
    },
  }
}

function opensWaitpoints({ bindings }: NewSuspension): boolean {
  return bindings.some(({ key }) => key !== null)
}

async function answersTo(
  deps: SuspendDeps,
  decisions: readonly (SuspendDecision | SuspendedDirectly)[],
): Promise<Outcome<TrySuspendResult>[]> {
  const passed = decisions.flatMap((decision) => (isPassed(decision) ? [decision.item.uuid] : []))
  const resumptions = passed.length === 0 ? new Map<string, null>() : await readResumptions(deps.sql, passed)
  return Promise.all(
    decisions.map(async (decision): Promise<Outcome<TrySuspendResult>> => {
      if (decision === rowLocked || EngineError.is(decision)) return decision
      const { executionId, uuid } = decision.item
      if (decision.kind === 'stop') return { kind: 'cancelled', executionId }
      if (isPassed(decision)) return { kind: 'already_satisfied', executionId, resumption: resumptions.get(uuid)! }
      return suspended(deps, decision).catch(asOwnAnswer)
    }),
  )
}

function isPassed(decision: SuspendDecision | SuspendedDirectly): decision is NewlySuspended | RepeatedSuspension {
  return (isKind(decision, 'suspend') || isKind(decision, 'repeat')) && decision.isAtOnce
}

/** Executions whose condition is satisfied already are in their queues again; others may be due soon. */
function effectsOf(decisions: readonly (SuspendDecision | SuspendedDirectly)[]): Effects {
  const ready = new Set<number>()
  const dueInMs: Partial<Record<HintedTimer, number>> = {}
  const due = (timer: HintedTimer, inMs: number): void => {
    dueInMs[timer] = Math.min(dueInMs[timer] ?? inMs, inMs)
  }
  let isWritten = false
  for (const decision of decisions) {
    if (isKind(decision, 'parked')) {
      const { row, wakeAt } = decision
      isWritten = true
      if (row.timeout_at_ms !== null) due('timeout', untilOver(row.timeout_at_ms, row.parked_at_ms))
      if (wakeAt !== null) due('wake', wakeAt - row.parked_at_ms)
    }
    if (!isKind(decision, 'suspend')) continue
    isWritten = true
    if (decision.isAtOnce) continue
    const { item, row, evaluation, timeoutAt } = decision
    const delayMs = item.resumeDelayMs ?? 0
    if (!evaluation.satisfied && timeoutAt !== null) due('timeout', untilOver(timeoutAt, row.now_ms))
    if (evaluation.dueAt !== null) due('wake', evaluation.dueAt - row.now_ms)
    if (evaluation.satisfied && delayMs > 0) due('delay', delayMs)
    if (evaluation.satisfied && delayMs === 0) ready.add(row.queue_id)
  }
  if (!isWritten) return noEffects
  if (ready.size === 0 && Object.keys(dueInMs).length === 0) return onlyEvents
  return { readyQueueIds: [...ready], dueInMs, wroteEvents: true }
}

// In the millisecond of the timeout itself, it has not passed yet.
function untilOver(timeoutAt: number, now: number): number {
  return timeoutAt + 1 - now
}

async function suspended(
  { sql, keys }: SuspendDeps,
  decision: NewlySuspended | RepeatedSuspension | SuspendedDirectly,
): Promise<Suspended> {
  const { item, row } = decision
  const suspensionId = decision.kind === 'repeat' ? decision.row.last_suspension_id! : item.suspensionId
  const unsigned = decision.kind === 'repeat' ? await readWaitpoints(sql, item, suspensionId) : decision.waitpoints
  if (decision.kind === 'repeat') {
    await keys.openAll(
      row.namespace,
      unsigned.map(({ kid }) => kid),
    )
  }
  const waitpoints = inOrder(item.bindings, unsigned).map((waitpoint) =>
    withToken(keys, row.namespace, item, waitpoint),
  )
  return { kind: 'suspended', executionId: item.executionId, suspensionId, waitpoints }
}

function inOrder(bindings: readonly CheckedBinding[], waitpoints: readonly UnsignedWaitpoint[]): UnsignedWaitpoint[] {
  if (waitpoints.length < 2) return [...waitpoints]
  const placeOf = ({ uuid, key }: UnsignedWaitpoint): number =>
    bindings.findIndex((binding) => binding.uuid === uuid || binding.key === key)
  return waitpoints.toSorted((one, other) => placeOf(one) - placeOf(other))
}
