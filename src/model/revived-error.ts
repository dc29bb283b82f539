// Converts a recorded error to an error again, for the process that reads it.
import { noError, type RecordedError } from './recorded-error.ts'
import { stackOf, userFrames } from './stack.ts'

// As many as are recorded; a record of another program may be deeper.
const mostCauses = 8
const ownFields = new Set(['name', 'message', 'stack', 'cause', 'errors', '__proto__'])

/** The original error, and the step that threw it, if any. */
export interface Origin {
  readonly step?: string
  readonly error: RecordedError
}

/** The error that a failed step threw, where the code did not catch it; else the error that the code threw. */
export function originOf(recorded: RecordedError): Origin {
  const step = (recorded.details as { readonly step?: unknown } | undefined)?.step
  const isOfStep = recorded.name === 'StepError' && typeof step === 'string' && recorded.cause !== undefined
  return isOfStep ? { step, error: recorded.cause } : { error: recorded }
}

/**
 * An `Error` with the recorded name, message, own fields (such as `code`) and causes. Its stack has the frames of the
 * user's code. The class is not restored, so `instanceof BankError` is false: compare `error.name`. A thrown value that
 * is no error is returned as that value.
 */
export function reviveError(recorded: RecordedError): unknown {
  return revived(recorded, mostCauses)
}

function revived({ name, message, stack, details, cause, errors }: RecordedError, depth: number): unknown {
  if (name === noError) return details ?? message
  const options = cause === undefined || depth === 0 ? undefined : { cause: revived(cause, depth - 1) }
  const error =
    errors === undefined || depth === 0
      ? new Error(message, options)
      : new AggregateError(
          errors.map((each) => revived(each, depth - 1)),
          message,
          options,
        )
  const head = message === '' ? name : `${name}: ${message}`
  define(error, 'name', name, false)
  define(error, 'stack', stackOf(head, userFrames(stack, message)), false)
  for (const [field, value] of fieldsOf(details)) define(error, field, value, true)
  return error
}

function fieldsOf(details: unknown): readonly (readonly [string, unknown])[] {
  if (typeof details !== 'object' || details === null) return []
  return Object.entries(details).filter(([field]) => !ownFields.has(field))
}

function define(error: Error, field: string, value: unknown, enumerable: boolean): void {
  Object.defineProperty(error, field, { value, enumerable, writable: true, configurable: true })
}

/** For the details of an error, which are printed and sent as JSON: the stacks belong to the cause. */
export function withoutStacks(recorded: RecordedError): RecordedError {
  const { stack: _, cause, errors, ...rest } = recorded
  return {
    ...rest,
    ...(cause !== undefined && { cause: withoutStacks(cause) }),
    ...(errors !== undefined && { errors: errors.map(withoutStacks) }),
  }
}
