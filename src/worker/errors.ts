// The errors that durable code throws and catches.
import { EngineError, errorTable, type ErrorEntry } from '../model/errors.ts'
import type { ExecutionId } from '../model/id.ts'
import type { RecordedError } from '../model/recorded-error.ts'
import { originOf, reviveError } from '../model/revived-error.ts'
import { stackOf, userFrames } from '../model/stack.ts'

/** Thrown by a handler or a step: no further try will help, so none follows, whatever the policy allows. */
export class PermanentError extends Error {
  // Typed as `string`, so that a derived class may have another name.
  override readonly name: string = 'PermanentError'
}

/**
 * Whether the same code on the same records must throw it again. The cause of an error does not count: code that wraps
 * an error decides anew.
 */
export function isPermanent(thrown: unknown): boolean {
  if (thrown instanceof StepError) return thrown.isPermanent === true
  if (thrown instanceof PermanentError || isWaitTimeout(thrown)) return true
  // An error of another copy of the package may have a code that is unknown here.
  return EngineError.is(thrown) && (errorTable[thrown.code] as ErrorEntry | undefined)?.permanent === true
}

/**
 * The timeout of a wait is recorded, so the next attempt would end by it again, at once. `ctx.any` throws it for all of
 * its waits together.
 */
export function isWaitTimeout(thrown: unknown): boolean {
  if (thrown instanceof AggregateError) return thrown.errors.length > 0 && thrown.errors.every(isWaitTimeout)
  return thrown instanceof WaitTimeoutError
}

/**
 * A step has failed for good. The error is made from the record, so it is the same in the run in which the step failed
 * and in every later run of the attempt: `cause` is an `Error` with the recorded name, message, stack, fields and
 * causes. The class of the thrown error is not restored, so `error.cause instanceof BankError` is false. Compare
 * `error.cause.name`.
 */
export class StepError extends Error {
  override readonly name = 'StepError'
  readonly step: string
  /** No further try of the step would have helped. */
  readonly isPermanent: true | undefined
  readonly #error: RecordedError

  constructor(step: string, error: RecordedError) {
    super(messageOfStep(step, error), { cause: reviveError(error) })
    this.step = step
    this.isPermanent = error.isPermanent
    this.#error = error
    this.stack = stackOf(`${this.name}: ${this.message}`, userFrames(error.stack, error.message))
  }

  /** The thrown error as it was recorded. */
  get error(): RecordedError {
    return this.#error
  }
}

// The refusal of a value that the step returned names the step itself.
function messageOfStep(step: string, { name, message }: RecordedError): string {
  const named = `step ${JSON.stringify(step)}`
  return message.includes(named) ? message : `${named} failed: ${message === '' ? name : message}`
}

/** A key without the right to read attempts does not see the thrown error. */
export function nothingWhenForbidden(error: unknown): undefined {
  if (!EngineError.is(error, 'forbidden')) throw error
}

/**
 * A child did not succeed. When it failed, `cause` is the error that it threw, made from the record: an `Error` with the recorded
 * name, message, stack, fields and causes. The class is not restored: compare `error.cause.name`.
 */
export class ChildError extends Error {
  override readonly name = 'ChildError'
  readonly executionId: ExecutionId
  readonly ended: 'failed' | 'cancelled' | 'expired' | 'skipped'
  readonly reason: string | null

  constructor(executionId: ExecutionId, ended: ChildError['ended'], reason: string | null, error?: RecordedError) {
    super(
      `child ${executionId} ${ended === 'failed' ? 'failed' : `was ${ended}`}${reason === null ? '' : `: ${reason}`}`,
      error === undefined ? undefined : { cause: reviveError(originOf(error).error) },
    )
    this.executionId = executionId
    this.ended = ended
    this.reason = reason
  }
}

/** A wait that was satisfied before the timeout of another one, and its value. */
export interface SatisfiedWait {
  /** The name of the wait; for a child, the name of its step. */
  readonly wait: string
  readonly value: unknown
}

/**
 * A wait was not satisfied before its timeout. From `ctx.all` and `ctx.race` it also lists the other waits of the
 * group. If the code does not catch it, the execution fails for good, with the category `timeout`.
 */
export class WaitTimeoutError extends Error {
  override readonly name = 'WaitTimeoutError'
  /** The name of the wait that timed out. */
  readonly wait: string
  /** The waits of the group that were satisfied by then, with their values; empty for a lone wait. */
  readonly satisfied: readonly SatisfiedWait[]
  /** The names of the others, in the order of the code. A wait that took the value of its `onTimeout` is among them. */
  readonly unsatisfied: readonly string[]

  constructor(wait: string, satisfied: readonly SatisfiedWait[] = [], unsatisfied: readonly string[] = [wait]) {
    super(`the wait ${JSON.stringify(wait)} timed out${answeredBefore(satisfied)}`)
    this.wait = wait
    this.satisfied = satisfied
    this.unsatisfied = unsatisfied
  }
}

function answeredBefore(satisfied: readonly SatisfiedWait[]): string {
  if (satisfied.length === 0) return ''
  const few = satisfied.slice(0, 10).map(({ wait }) => JSON.stringify(wait))
  return `; satisfied before: ${few.join(', ')}${satisfied.length > few.length ? ', ...' : ''}`
}

/**
 * The execution was asked to stop: thrown by the first call of `ctx` that has no recorded result. `finally` and `catch`
 * blocks run; then the compensations run, even if the code catches this error.
 */
export class Cancelled extends Error {
  override readonly name = 'Cancelled'

  constructor() {
    super('the execution was asked to stop')
  }
}

/** The step took longer than it may. */
export class StepTimeoutError extends Error {
  override readonly name = 'StepTimeoutError'
}

/**
 * Why a run ended before its execution did: it sleeps, waits, restarts or has lost its lease. Middleware receives it as
 * the rejection of `next()`. The handler itself never continues.
 */
export class RunLeft extends Error {
  override readonly name = 'RunLeft'
  readonly how: 'suspended' | 'delayed' | 'retried' | 'restarted' | 'cancelled' | 'lost'

  constructor(how: RunLeft['how'], cause?: unknown) {
    super(`the run was ${how}`, cause === undefined ? undefined : { cause })
    this.how = how
  }
}
