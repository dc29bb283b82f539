// A request to suspend, checked as far as it can be without the database.
import type { Condition } from '../../../model/condition.ts'
import { checkBinding } from '../../../model/condition-binding.ts'
import { parseCondition } from '../../../model/condition-parse.ts'
import { waitpointsNamedBy } from '../../../model/condition-waits.ts'
import { parseDuration, type Duration } from '../../../model/duration.ts'
import { EngineError, refusal } from '../../../model/errors.ts'
import { formatWaitpointId, parseWaitpointId, type WaitpointId } from '../../../model/id.ts'
import { limits } from '../../../model/limits.ts'
import { readShape, refuseUnknownFields } from '../../../model/shape.ts'
import { checkWaitpointKey } from '../../../model/signal.ts'
import {
  suspensionReasons,
  timeoutBehaviours,
  type SuspensionReason,
  type TimeoutBehaviour,
} from '../../../model/suspension.ts'
import { checkText, oneOf, show } from '../../../model/text.ts'
import { mintUuid } from '../../../model/uuid.ts'
import type { Caller } from '../../kernel/caller.ts'
import { checkTime } from '../../../model/time.ts'
import { checkFence, type Fence, type CheckedFence } from '../../transition/fence.ts'

export interface SuspendRequest extends Fence {
  /** What it waits for. */
  readonly condition: Condition
  /**
   * Where signals from outside arrive; the first is the primary one. Left out: a fresh one for each key that the
   * condition names.
   */
  readonly waitpoints?: readonly WaitpointBinding[]
  /**
   * Unanswered waitpoints outlive the suspension and keep their signals. One that was created in advance is pending
   * again. So is a fresh one, until the next suspension that keeps its waitpoints reuses it by its key, or closes it.
   * Left out: all close when the suspension ends.
   */
  readonly keepWaitpoints?: boolean
  /** Defaults to `waiting_for_signal`. */
  readonly reason?: SuspensionReason
  /** How long it waits at most; or `timeoutAt`, a point in time. Left out: without limit. */
  readonly timeout?: Duration
  readonly timeoutAt?: number
  /** Defaults to `fail`. */
  readonly timeoutBehaviour?: TimeoutBehaviour
  /** After the timeout has escalated: how much longer it waits, and what happens then. */
  readonly escalation?: { readonly timeout: Duration; readonly behaviour: Exclude<TimeoutBehaviour, 'escalate'> }
  /** How long it is not claimable after the condition is satisfied. */
  readonly resumeDelay?: Duration
  /** A repeat with the same key by the same holder returns the result of the first, with the same tokens. */
  readonly idempotencyKey?: string
}

/** A fresh waitpoint by its key, or one that was created in advance by its id. */
export type WaitpointBinding = { readonly key: string } | { readonly waitpointId: string }

/** A checked binding; the key of a waitpoint that was created in advance is not known yet. */
export interface CheckedBinding {
  readonly uuid: string
  readonly key: string | null
}

/** A checked request, as the statements take it. */
export interface NewSuspension extends CheckedFence {
  readonly suspensionId: string
  readonly condition: Condition
  readonly conditionLength: number
  readonly bindings: readonly CheckedBinding[]
  readonly keepsWaitpoints: boolean
  readonly reason: SuspensionReason
  readonly timeoutMs: number | null
  readonly timeoutAt: number | null
  readonly timeoutBehaviour: TimeoutBehaviour
  readonly secondTimeoutMs: number | null
  readonly secondBehaviour: TimeoutBehaviour | null
  readonly resumeDelayMs: number | null
  readonly idempotencyKey: string | null
}

const fields = [
  'executionId',
  'leaseId',
  'leaseEpoch',
  'condition',
  'waitpoints',
  'keepWaitpoints',
  'reason',
  'timeout',
  'timeoutAt',
  'timeoutBehaviour',
  'escalation',
  'resumeDelay',
  'idempotencyKey',
] as const satisfies readonly (keyof SuspendRequest)[]

export function checkSuspendRequest(caller: Caller, request: SuspendRequest): NewSuspension {
  refuseUnknownFields('suspend', request, fields)
  const { reason = 'waiting_for_signal', keepWaitpoints = false, resumeDelay, idempotencyKey } = request
  if (!suspensionReasons.includes(reason)) {
    throw refusal('invalid_input', 'reason', show(reason), oneOf(reason, suspensionReasons))
  }
  if (typeof keepWaitpoints !== 'boolean') {
    throw refusal('invalid_input', 'keepWaitpoints', show(keepWaitpoints), 'true, false or omitted')
  }
  const fence = checkFence(caller, request)
  const condition = parseCondition(request.condition)
  const timeout = checkTimeout(request)
  const escalation = checkEscalation(request)
  // Field by field: copied from several objects it takes twice as long, and ten thousand of them are made in one call.
  const item: NewSuspension = {
    executionId: fence.executionId,
    partition: fence.partition,
    uuid: fence.uuid,
    namespace: fence.namespace,
    leaseId: fence.leaseId,
    leaseEpoch: fence.leaseEpoch,
    actor: fence.actor,
    suspensionId: mintUuid(),
    condition,
    conditionLength: JSON.stringify(condition).length,
    bindings: checkBindings(fence, condition, request.waitpoints),
    keepsWaitpoints: keepWaitpoints,
    reason,
    timeoutMs: timeout.timeoutMs,
    timeoutAt: timeout.timeoutAt,
    timeoutBehaviour: timeout.timeoutBehaviour,
    secondTimeoutMs: escalation.secondTimeoutMs,
    secondBehaviour: escalation.secondBehaviour,
    resumeDelayMs: resumeDelay === undefined ? null : parseDuration('resumeDelay', resumeDelay),
    idempotencyKey:
      idempotencyKey === undefined
        ? null
        : checkText('idempotencyKey', idempotencyKey, { minBytes: 1, maxBytes: limits.idempotencyKeyBytes }),
  }
  const keys = item.bindings.map(({ key }) => key)
  if (!keys.includes(null)) checkKeys(item, keys as string[])
  return item
}

/** What the condition must have in common with the suspension; called again when the keys of pending ones are known. */
export function checkKeys({ condition, timeoutMs, timeoutAt }: NewSuspension, keys: readonly string[]): void {
  if (new Set(keys).size < keys.length) {
    const repeated = keys.find((key, index) => keys.indexOf(key) !== index)
    throw refusal('invalid_input', 'waitpoints', `a list with ${show(repeated)} twice`, 'a list of different keys')
  }
  checkBinding(condition, { waitpoints: keys, hasDeadline: timeoutMs !== null || timeoutAt !== null })
}

function checkBindings({ partition }: CheckedFence, condition: Condition, waitpoints: unknown): CheckedBinding[] {
  if (waitpoints === undefined) {
    const named = waitpointsNamedBy(condition)
    checkCount(named, 'different ones in the condition')
    return named.map((key) => ({ uuid: mintUuid(), key }))
  }
  if (!Array.isArray(waitpoints)) {
    throw refusal('invalid_input', 'waitpoints', show(waitpoints), 'an array of waitpoints, or omitted')
  }
  checkCount(waitpoints, 'of them')
  return Array.from(waitpoints as unknown[], (binding, index) => checkOne(partition, `waitpoints[${index}]`, binding))
}

function checkCount({ length }: readonly unknown[], which: string): void {
  if (length <= limits.waitpointCount) return
  throw refusal('invalid_input', 'waitpoints', `${length} ${which}`, `at most ${limits.waitpointCount}`)
}

function checkOne(partition: number, at: string, binding: unknown): CheckedBinding {
  const { key, waitpointId } = readShape('invalid_input', at, binding, {
    key: checkWaitpointKey,
    waitpointId: (_, id) => parseWaitpointId(id),
  })
  if ((key === undefined) === (waitpointId === undefined)) {
    throw refusal(
      'invalid_input',
      at,
      'without a key or waitpointId, or with both',
      'a key for a new waitpoint, or the waitpointId of a pending one',
    )
  }
  if (waitpointId === undefined) return { uuid: mintUuid(), key: key! }
  if (waitpointId.partition === partition) return { uuid: waitpointId.uuid, key: null }
  throw waitpointNotFound(formatWaitpointId(waitpointId.partition, waitpointId.uuid))
}

export function waitpointNotFound(waitpointId: WaitpointId): EngineError {
  const sentence = `waitpoint ${waitpointId} does not exist or belongs to another execution; create one, or pass a key`
  return new EngineError('waitpoint_not_found', sentence, { waitpointId })
}

function checkTimeout({ timeout, timeoutAt, timeoutBehaviour }: SuspendRequest) {
  if (timeout !== undefined && timeoutAt !== undefined) {
    throw refusal('invalid_input', 'timeout', 'given together with timeoutAt', 'given alone')
  }
  if (timeoutBehaviour !== undefined && !timeoutBehaviours.includes(timeoutBehaviour)) {
    const allowed = oneOf(timeoutBehaviour, timeoutBehaviours)
    throw refusal('invalid_input', 'timeoutBehaviour', show(timeoutBehaviour), allowed)
  }
  if (timeoutBehaviour !== undefined && timeout === undefined && timeoutAt === undefined) {
    throw refusal('invalid_input', 'timeoutBehaviour', 'given without a timeout', 'omitted, or given with one')
  }
  return {
    timeoutMs: timeout === undefined ? null : parseDuration('timeout', timeout),
    timeoutAt: timeoutAt === undefined ? null : checkTime('timeoutAt', timeoutAt),
    timeoutBehaviour: timeoutBehaviour ?? 'fail',
  }
}

const secondBehaviours = timeoutBehaviours.filter((behaviour) => behaviour !== 'escalate')

function checkEscalation({ escalation, timeoutBehaviour }: SuspendRequest) {
  if (escalation === undefined) return { secondTimeoutMs: null, secondBehaviour: null }
  if (timeoutBehaviour !== 'escalate') {
    throw refusal('invalid_input', 'escalation', 'given', "omitted unless timeoutBehaviour is 'escalate'")
  }
  refuseUnknownFields('escalation', escalation, ['timeout', 'behaviour'])
  const { timeout, behaviour } = escalation
  if (!secondBehaviours.includes(behaviour)) {
    throw refusal('invalid_input', 'escalation.behaviour', show(behaviour), oneOf(behaviour, secondBehaviours))
  }
  return { secondTimeoutMs: parseDuration('escalation.timeout', timeout), secondBehaviour: behaviour }
}
