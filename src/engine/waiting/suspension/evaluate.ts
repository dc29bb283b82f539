// Decides a request to suspend from the locked rows, without awaiting anything.
import { evaluate, type Evaluation } from '../../../model/condition-evaluate.ts'
import { childrenOf, requiredSignalNames } from '../../../model/condition-waits.ts'
import { EngineError, refusal } from '../../../model/errors.ts'
import { formatExecutionId, formatWaitpointId } from '../../../model/id.ts'
import type { CloseReason } from '../../../model/suspension.ts'
import { asOwnAnswer } from '../../kernel/failure.ts'
import { lostLease } from '../../transition/fenced-answer.ts'
import { rowLocked } from '../../kernel/merge.ts'
import type { SigningKeys } from '../../signing-key/keys.ts'
import { isStored } from '../../signing-key/stored-key.ts'
import { storedConditionSignal } from './open-suspensions.ts'
import type { ChildRow, EarlySignalRow, SuspensionRows, LockedRow, PendingRow } from './read-locked.ts'
import { answeredBy } from '../../transition/wake.ts'
import { checkKeys, waitpointNotFound, type CheckedBinding, type NewSuspension } from './request.ts'

/** A waitpoint of the suspension. */
export interface SuspensionWaitpoint {
  readonly uuid: string
  readonly key: string
  readonly kid: string
  readonly createdAt: number
  /** Not created in advance. */
  readonly isFresh: boolean
  readonly requiredNames: readonly string[]
}

export interface ClosingWaitpoint {
  readonly uuid: string
  readonly reason: Extract<CloseReason, 'resumed' | 'proactive_close'>
}

export type SuspendDecision = Decided | EngineError | typeof rowLocked

export type Decided = RepeatedSuspension | Stopped | NewlySuspended

/** The same holder sent this request before; the record of its suspension has the result. */
export interface RepeatedSuspension {
  readonly kind: 'repeat'
  readonly item: NewSuspension
  readonly row: LockedRow
  readonly isAtOnce: boolean
}

/** It was asked to stop, and does not suspend. */
export interface Stopped {
  readonly kind: 'stop'
  readonly item: NewSuspension
  readonly row: LockedRow
}

export interface NewlySuspended {
  readonly kind: 'suspend'
  readonly item: NewSuspension
  readonly row: LockedRow
  readonly waitpoints: readonly SuspensionWaitpoint[]
  /** Earlier waitpoints that close: kept by an earlier suspension and not reused, or closed with this one at once. */
  readonly closing: readonly ClosingWaitpoint[]
  readonly timeoutAt: number | null
  /** The signals that were evaluated. */
  readonly signals: readonly EarlySignalRow[]
  readonly evaluation: Evaluation
  /** The condition is satisfied, and the holder continues under its lease. */
  readonly isAtOnce: boolean
}

/** The numbers of the signals that satisfy it; none if nothing does. */
export function numbersTakenBy({ signals, evaluation }: NewlySuspended): number[] {
  const ids = new Set(evaluation.signals)
  return signals.filter((signal) => ids.has(signal.signal_id)).map((signal) => signal.signal_no)
}

export interface EvaluateOptions {
  /** A suspension whose condition is satisfied at once is not parked. */
  readonly keepsLease: boolean
  /** They open the keys of the waitpoints, or these are refused. */
  readonly keys: SigningKeys
  /** Execution and lease were locked before the read. */
  readonly isAlone: boolean
}

export function evaluateSuspensions(
  items: readonly NewSuspension[],
  rows: SuspensionRows,
  { keepsLease, keys, isAlone }: EvaluateOptions,
): SuspendDecision[] {
  return items.map((item, index) => {
    const row = rows.found.get(index + 1)
    const { executionId, uuid } = item
    if (row === undefined) {
      return new EngineError('execution_not_found', `execution ${executionId} does not exist`, { executionId })
    }
    if (!rows.locked.has(uuid)) return rowLocked
    const isAtOnce = row.last_was_at_once
    if (isRepeat(item, row)) return { kind: 'repeat', item, row, isAtOnce }
    // The lease seems to have expired; a renewal may be under way.
    if (!row.is_held && row.is_last_holder && row.public_state === 'active' && !isAlone) return rowLocked
    if (!row.is_held) return refused(item, row)
    try {
      const evaluated = suspensionOf(item, row, rows, keepsLease, keys)
      // A holder that keeps its lease may clean up.
      return row.is_asked_to_stop && !evaluated.isAtOnce ? { kind: 'stop', item, row } : evaluated
    } catch (error) {
      return asOwnAnswer(error)
    }
  })
}

// By the key and the holder; or by the id that this process minted, when its own reply was lost.
function isRepeat({ suspensionId, idempotencyKey }: NewSuspension, row: LockedRow): boolean {
  if (row.last_suspension_id === suspensionId) return true
  return row.last_is_ours && idempotencyKey !== null && row.last_key === idempotencyKey
}

function refused(item: NewSuspension, row: LockedRow): EngineError {
  if (!row.is_last_holder || row.public_state !== 'suspended') return lostLease(item, row)
  const { executionId, leaseEpoch } = item
  const sentence = `execution ${executionId} was already suspended with this lease; stop working on it, or repeat the call with its idempotency key`
  return new EngineError('stale_lease', sentence, { executionId, publicState: 'suspended', leaseEpoch })
}

function suspensionOf(
  item: NewSuspension,
  row: LockedRow,
  rows: SuspensionRows,
  keepsLease: boolean,
  keys: SigningKeys,
): NewlySuspended {
  const kept = new Map(keptOf(item, rows.pending).map((found) => [found.waitpoint_key, found.waitpoint_id]))
  const waitpoints = item.bindings.map((binding) => {
    const uuid = binding.key === null ? undefined : kept.get(binding.key)
    return waitpointOf(item, row, uuid === undefined ? binding : { uuid, key: null }, rows.pending, keys)
  })
  checkKeys(
    item,
    waitpoints.map(({ key }) => key),
  )
  const timeoutAt = checkTimeout(item, row.now_ms)
  const ids = new Set(waitpoints.map(({ uuid }) => uuid))
  const signals = (rows.signals.get(item.uuid) ?? []).filter(
    (signal) => signal.waitpoint_id === null || ids.has(signal.waitpoint_id),
  )
  const evaluation = evaluate(item.condition, {
    signals: signals.map(storedConditionSignal),
    childEndings: childEndings(item, rows.children.get(item.uuid) ?? []),
    now: row.now_ms,
  })
  const isAtOnce = keepsLease && evaluation.satisfied
  const isOver = isAtOnce ? overAtOnce(item, evaluation, signals) : () => false
  const closing: ClosingWaitpoint[] = [
    ...keptOf(item, rows.pending).flatMap(({ waitpoint_id: uuid }) =>
      ids.has(uuid) ? [] : [{ uuid, reason: 'proactive_close' as const }],
    ),
    ...waitpoints.filter(isOver).map(({ uuid }) => ({ uuid, reason: 'resumed' as const })),
  ]
  return { kind: 'suspend', item, row, waitpoints, closing, timeoutAt, signals, evaluation, isAtOnce }
}

/** Fresh waitpoints were never issued, and are not created. */
function overAtOnce({ keepsWaitpoints }: NewSuspension, evaluation: Evaluation, signals: readonly EarlySignalRow[]) {
  const answered = new Set(answeredBy(evaluation, signals.map(storedConditionSignal)))
  return ({ key, isFresh }: SuspensionWaitpoint): boolean => !isFresh && (!keepsWaitpoints || answered.has(key))
}

/** The waitpoints that earlier suspensions created and kept; empty if this one does not reuse them. */
function keptOf({ uuid, keepsWaitpoints }: NewSuspension, pending: ReadonlyMap<string, PendingRow>): PendingRow[] {
  if (!keepsWaitpoints) return []
  return [...pending.values()].filter(
    (found) => found.execution_id === uuid && found.state === 'pending' && !found.is_made_ahead,
  )
}

function waitpointOf(
  { condition, partition, uuid: executionUuid }: NewSuspension,
  row: LockedRow,
  { uuid, key }: CheckedBinding,
  pending: ReadonlyMap<string, PendingRow>,
  keys: SigningKeys,
): SuspensionWaitpoint {
  if (key !== null) {
    if (isStored(row)) keys.open(row)
    const requiredNames = requiredSignalNames(condition, key)
    return { uuid, key, kid: row.key_kid!, createdAt: row.now_ms, isFresh: true, requiredNames }
  }
  const waitpointId = formatWaitpointId(partition, uuid)
  const found = pending.get(uuid)
  if (found?.execution_id !== executionUuid) throw waitpointNotFound(waitpointId)
  const isExpired = found.expires_at_ms !== null && found.expires_at_ms <= row.now_ms
  if (isExpired || found.close_reason === 'never_committed') {
    const sentence = `waitpoint ${waitpointId} expired before a suspension used it; create another`
    throw new EngineError('pending_waitpoint_expired', sentence, { waitpointId })
  }
  if (found.state !== 'pending') {
    const sentence = `waitpoint ${waitpointId} is ${found.state}; pass a pending waitpoint, or a key for a new one`
    throw new EngineError('waitpoint_not_pending', sentence, { waitpointId, state: found.state })
  }
  if (isStored(found)) keys.open(found)
  return {
    uuid,
    key: found.waitpoint_key,
    kid: found.token_kid,
    createdAt: found.created_at_ms,
    isFresh: false,
    requiredNames: requiredSignalNames(condition, found.waitpoint_key),
  }
}

function checkTimeout({ timeoutMs, timeoutAt }: NewSuspension, now: number): number | null {
  if (timeoutMs !== null) return now + timeoutMs
  if (timeoutAt === null || timeoutAt > now) return timeoutAt
  const found = `${new Date(timeoutAt).toISOString()}, and it is ${new Date(now).toISOString()}`
  throw new EngineError('invalid_input', `timeout_at_in_past: timeoutAt is ${found}; pass a time in the future`, {
    field: 'timeoutAt',
    why: 'timeout_at_in_past',
  })
}

function childEndings({ condition, executionId }: NewSuspension, children: readonly ChildRow[]): Map<string, number> {
  const found = new Map(
    children.map((row): [string, typeof row] => [formatExecutionId(row.partition_key, row.child_id), row]),
  )
  const endings = new Map<string, number>()
  for (const child of childrenOf(condition)) {
    const row = found.get(child)
    if (row === undefined) {
      throw refusal('invalid_condition', `child ${child}`, 'unknown to the execution', `a child of ${executionId}`)
    }
    if (row.terminal_at_ms !== null) endings.set(child, row.terminal_at_ms)
  }
  return endings
}
