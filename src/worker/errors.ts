// What durable code throws and catches.
import { EngineError, errorTable, type ErrorEntry } from '../model/errors.ts'
import type { ExecutionId } from '../model/id.ts'
import type { RecordedError } from '../model/recorded-error.ts'

/** Thrown by a handler or a step: no further try will help, so none follows, whatever the policy says. */
export class PermanentError extends Error {
  // A text, so that a class that is derived from it may have a name of its own.
  override readonly name: string = 'PermanentError'
}

/**
 * Whether the same code on the same records must meet it again. A cause says nothing of that: whoever wraps an error decides
 * anew.
 */
export function isPermanent(thrown: unknown): boolean {
  if (thrown instanceof StepError) return thrown.isPermanent
  if (thrown instanceof PermanentError) return true
  // The code of another copy of the package may be unknown here.
  return EngineError.is(thrown) && (errorTable[thrown.code] as ErrorEntry | undefined)?.permanent === true
}

/**
 * A step that failed for good, as the code around it sees it: the same in the run in which it happened and in every later
 * run of the attempt. So it tells what was thrown by name and message, and is not the thing itself.
 */
export class StepError extends Error {
  override readonly name = 'StepError'
  readonly step: string
  /** What was thrown, as it was recorded. */
  readonly error: RecordedError

  constructor(step: string, error: RecordedError) {
    super(error.message, error.cause === undefined ? undefined : { cause: error.cause })
    this.step = step
    this.error = error
    if (error.stack !== undefined) this.stack = error.stack
  }

  get isPermanent(): boolean {
    return this.error.isPermanent === true
  }
}

/** For whoever asks what was thrown, with a key that may not read it: nothing is known. */
export function nothingWhenForbidden(error: unknown): undefined {
  if (!EngineError.is(error, 'forbidden')) throw error
}

/** A child that ended in another way than by success. */
export class ChildError extends Error {
  override readonly name = 'ChildError'
  readonly executionId: ExecutionId
  readonly ended: 'failed' | 'cancelled' | 'expired' | 'skipped'
  readonly reason: string | null

  constructor(executionId: ExecutionId, ended: ChildError['ended'], reason: string | null) {
    super(
      `child ${executionId} ${ended === 'failed' ? 'failed' : `was ${ended}`}${reason === null ? '' : `: ${reason}`}`,
    )
    this.executionId = executionId
    this.ended = ended
    this.reason = reason
  }
}

/** A wait that was over before the timeout of another one, and what it gave. */
export interface SatisfiedWait {
  /** The name of the wait; of a child, of its step. */
  readonly wait: string
  readonly value: unknown
}

/** A wait had no answer when its timeout came. From `ctx.all` and `ctx.race` it also tells about the other waits of the group. */
export class WaitTimeoutError extends Error {
  override readonly name = 'WaitTimeoutError'
  /** The name of the wait that timed out. */
  readonly wait: string
  /** The waits of the group that were satisfied by then, with their values; empty for a lone wait. */
  readonly satisfied: readonly SatisfiedWait[]
  /** The names of the others, in the order of the code; one that took the value of its `onTimeout` is among them. */
  readonly unsatisfied: readonly string[]

  constructor(wait: string, satisfied: readonly SatisfiedWait[] = [], unsatisfied: readonly string[] = [wait]) {
    super(`nobody answered ${JSON.stringify(wait)} in time${answeredBefore(satisfied)}`)
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

/** The step took longer than it may. */
export class StepTimeoutError extends Error {
  override readonly name = 'StepTimeoutError'
}

/**
 * Why a run ended without an ending: it sleeps, waits, begins again or was taken away. Middleware sees it as the rejection of
 * `next()`; the handler itself is dropped where it stands.
 */
export class RunLeft extends Error {
  override readonly name = 'RunLeft'
  readonly how: 'suspended' | 'delayed' | 'retried' | 'restarted' | 'cancelled' | 'lost'

  constructor(how: RunLeft['how'], cause?: unknown) {
    super(`the run was ${how}`, cause === undefined ? undefined : { cause })
    this.how = how
  }
}
