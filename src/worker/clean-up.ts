// The clean-up of a run that was asked to stop, or that has failed for good. Its compensations run, the last one first, then the task's
// hook. Each is recorded, so that another worker can continue if this one is lost. The ending is sent when all have ended.
//
//   handler ends ──► reason recorded, unless the engine has it ──► compensations ──► onCancel or onFailure ──► ending
import type { Claim } from '../engine/execution/claim.ts'
import type { Step } from '../engine/step/step.ts'
import { encodeValue } from '../model/codec.ts'
import { EngineError } from '../model/errors.ts'
import { shouldRetry } from '../model/policy.ts'
import { decodeError, encodeError } from '../model/recorded-error.ts'
import type { CodeMode } from './code-mode.ts'
import { Code } from './code.ts'
import { hookCall } from './compensations.ts'
import type { Context } from './context.ts'
import { isPermanent, PermanentError, RunLeft } from './errors.ts'
import { History, hookPrefix, type StepCall } from './history.ts'
import type { Holder } from './holder.ts'
import { categoryOf, messageOf, type Outcome } from './outcome.ts'
import type { Task } from './task.ts'
import { deserializeError } from './thread/serialize-error.ts'
import type { WaitFacts } from './waits.ts'

/** Why the run cleans up, and its outcome afterwards. */
export interface CleanUpReason {
  readonly kind: 'asked' | 'cancelled' | 'failed'
  readonly error: unknown
  readonly outcome: Outcome
  /** The engine has the reason, or an earlier run has recorded it. */
  readonly isRecorded: boolean
}

const failedName = 'clean-up after a failure'
const cancelledName = 'clean-up after a cancel'

interface Recorded {
  /** The steps of the handler. */
  readonly forward: readonly Step[]
  /** The record by which an earlier run began to clean up, with the reason. */
  readonly marker: Step | null
  readonly mode: CodeMode | undefined
}

const isMarker = ({ kind, name }: Step): boolean => kind === 'hook' && (name === failedName || name === cancelledName)

export function recordedBy(claim: Claim, steps: readonly Step[]): Recorded {
  const isCancel = claim.reason === 'cancel'
  const hasRegistered = steps.some(({ kind }) => kind === 'compensation' || kind === 'hook')
  if (!hasRegistered && !isCancel) return { forward: steps, marker: null, mode: undefined }
  const marker = steps.find(isMarker) ?? null
  const hook = steps.find((step) => step.kind === 'hook' && !isMarker(step)) ?? null
  const mode = { isStopping: isCancel || marker !== null, hasRegistered, hook, canStop: true }
  const forward = steps.filter(({ kind, name }) => kind !== 'hook' && !name.startsWith(hookPrefix))
  return { forward, marker, mode }
}

/** Null: nothing to clean up. The run ends or suspends with its outcome. */
export function reasonToCleanUp(
  holder: Holder,
  code: Code,
  outcome: Outcome,
  marker: Step | null,
): CleanUpReason | null {
  if (outcome.kind === 'left' || holder.lease.isLost) return null
  if (marker !== null) return byMarker(holder, marker)
  const asked = {
    kind: 'asked',
    error: null,
    outcome: { kind: 'cancel', reason: undefined },
    isRecorded: true,
  } as const
  if (holder.claim.reason === 'cancel') return asked
  if (!code.cleansUp) return null
  if (code.wasStopped || (holder.lease.isAskedToStop && outcome.kind !== 'returned')) return asked
  if (outcome.kind === 'cancel') return { kind: 'cancelled', error: null, outcome, isRecorded: false }
  const { policy, retryCount } = holder.claim
  const isFinal = (error: unknown): boolean => !shouldRetry(policy, retryCount, categoryOf(error), isPermanent(error))
  if (outcome.kind === 'threw' && isFinal(outcome.error)) {
    return { kind: 'failed', error: outcome.error, outcome, isRecorded: false }
  }
  if (outcome.kind === 'retry' && isFinal(null)) {
    return { kind: 'failed', error: new Error(outcome.reason), outcome, isRecorded: false }
  }
  return null
}

function byMarker(holder: Holder, { name, result, resultEncoding }: Step): CleanUpReason {
  if (name === cancelledName) {
    const reason = holder.decode('the reason of a cancel', result, resultEncoding) as string | null
    const outcome = { kind: 'cancel', reason: reason ?? undefined } as const
    return { kind: 'cancelled', error: null, outcome, isRecorded: true }
  }
  const recorded = decodeError({ bytes: result!, encoding: resultEncoding! }, holder.codec)
  const thrown = deserializeError(recorded)
  // The error of a failure for good is permanent, also if its class is not.
  const isFinal = recorded.isPermanent === true && !isPermanent(thrown)
  const error = isFinal ? new PermanentError(messageOf(thrown), { cause: thrown }) : thrown
  return { kind: 'failed', error, outcome: { kind: 'threw', error }, isRecorded: true }
}

export interface CleanUp {
  readonly holder: Holder
  readonly task: Task
  /** The code of the handler, which has ended. */
  readonly code: Code
  readonly steps: readonly Step[]
  readonly facts: WaitFacts
  readonly input: unknown
}

/** Never rejects. A compensation that fails is logged and recorded, and the execution still ends. */
export async function cleanUp(of: CleanUp, why: CleanUpReason): Promise<Outcome> {
  const { holder, task, steps, facts } = of
  const ownSteps = steps.filter(({ name }) => name.startsWith(hookPrefix))
  const history = new History(ownSteps, holder.claim.attemptIndex, false, hookPrefix)
  const mode = { isStopping: false, hasRegistered: true, hook: null, canStop: false }
  const cleaning = new Code(holder, task, history, facts, 'warn', mode)
  try {
    await cleaning.around(() => undoAll(of, cleaning, why))
  } catch (error) {
    if (holder.lease.isLost) return { kind: 'left', how: 'lost' }
    if (error instanceof RunLeft) return { kind: 'left', how: error.how }
    logFailure(holder, 'the clean-up', error)
  } finally {
    cleaning.end()
  }
  return why.outcome
}

async function undoAll(of: CleanUp, cleaning: Code, why: CleanUpReason): Promise<void> {
  const { holder, code, steps } = of
  if (!why.isRecorded) await recordReason(holder, why)
  const registered = code.compensations?.toUndo() ?? []
  for (const compensation of registered) {
    const { call } = compensation
    // It ran, or failed for good, in an earlier run.
    if (call.recorded !== null && call.recorded.state !== 'pending') continue
    try {
      await cleaning.undo(compensation)
    } catch (error) {
      if (error instanceof RunLeft || holder.lease.isLost) throw error
      logFailure(holder, `compensation ${JSON.stringify(call.name)}`, error)
    }
  }
  const reached = new Set(registered.map(({ call }) => keyOf(call)))
  for (const step of steps) {
    if (step.kind !== 'compensation' || step.state !== 'pending' || reached.has(keyOf(step))) continue
    logFailure(holder, `compensation ${JSON.stringify(step.name)}`, new Error('the code did not reach it again'))
  }
  const hook = code.compensations?.hook ?? null
  if (hook !== null && (hook.recorded === null || hook.recorded.state === 'pending')) {
    await runHook(of, cleaning, why, hook)
  }
}

async function runHook(of: CleanUp, cleaning: Code, why: CleanUpReason, call: StepCall): Promise<void> {
  const { holder, task, input } = of
  const { onCancel, onFailure } = task.hooks as {
    readonly onCancel?: (ctx: Context, input: unknown, reason: string | null) => unknown
    readonly onFailure?: (ctx: Context, input: unknown, error: unknown) => unknown
  }
  const stop = await stopOf(holder, why)
  const name = stop.kind === 'failed' ? 'onFailure' : 'onCancel'
  try {
    if (stop.kind === 'failed') await onFailure?.(cleaning.context, input, stop.error)
    else await onCancel?.(cleaning.context, input, stop.reason)
    cleaning.checkAwaited()
    await holder.record(call, { state: 'succeeded' })
  } catch (error) {
    if (holder.lease.isLost || error instanceof RunLeft) throw error
    logFailure(holder, name, error)
    const { bytes, encoding } = encodeError(error, holder.codec)
    await holder.record(call, { state: 'failed', result: bytes, resultEncoding: encoding })
  }
}

type Stop =
  | { readonly kind: 'cancelled'; readonly reason: string | null }
  | { readonly kind: 'failed'; readonly error: unknown }

/** Which hook runs, and its argument. The reason of a stop that the engine requested is read from the engine. */
async function stopOf(holder: Holder, { kind, error, outcome }: CleanUpReason): Promise<Stop> {
  if (kind === 'failed') return { kind, error }
  if (kind === 'cancelled') {
    const reason = outcome.kind === 'cancel' && outcome.reason !== undefined ? outcome.reason : null
    return { kind, reason }
  }
  const { engine, claim } = holder
  const { executionId } = claim
  const found = await holder.retryWhileLeased(() => engine.executions.describe(executionId))
  const reason = found?.cancellationReason ?? null
  const pending = found?.pendingOutcome ?? 'cancelled'
  if (pending === 'cancelled') return { kind: 'cancelled', reason }
  const sentence = `execution ${executionId} ${pending === 'failed' ? 'failed' : 'ran out of time'}: ${reason}`
  const code = pending === 'failed' ? 'execution_failed' : 'execution_expired'
  return { kind: 'failed', error: new EngineError(code, sentence, { executionId, reason }) }
}

/** Recorded before the first compensation, so that a later run continues the clean-up even if its code would now succeed. */
async function recordReason(holder: Holder, { kind, error, outcome }: CleanUpReason): Promise<void> {
  const call = hookCall(kind === 'failed' ? failedName : cancelledName, null)
  const reason = outcome.kind === 'cancel' ? (outcome.reason ?? null) : null
  const { bytes, encoding } =
    kind === 'failed'
      ? encodeError(error, holder.codec, isPermanent(error))
      : encodeValue(holder.codec, 'the reason of a cancel', reason)!
  await holder.record(call, { state: 'succeeded', result: bytes, resultEncoding: encoding })
}

function keyOf({ name, index }: { readonly name: string; readonly index: number }): string {
  return `${index} ${name}`
}

function logFailure({ logger, claim }: Holder, what: string, error: unknown): void {
  logger.error(`${what} of ${claim.executionId} did not finish: ${messageOf(error)}`)
}
