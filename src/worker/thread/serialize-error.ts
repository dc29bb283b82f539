// Carries a thrown value to another thread. There it has the same class where the class is ours; otherwise it is an error with the
// same name, message, stack and fields.
import { EngineError, errorTable, type ErrorCode, type ErrorDetails } from '../../model/errors.ts'
import { decodeError, encodeError, noError, type RecordedError } from '../../model/recorded-error.ts'
import { Cancelled, PermanentError, StepError, StepTimeoutError } from '../errors.ts'

export function serializeError(thrown: unknown): RecordedError {
  return decodeError(encodeError(thrown))
}

export function deserializeError(recorded: RecordedError): unknown {
  const { name, message, stack, details, cause, errors } = recorded
  if (name === noError) return details ?? message
  const fields = (details ?? {}) as Readonly<Record<string, unknown>>
  if (name === 'StepError' && cause !== undefined && 'step' in fields) {
    return new StepError(
      String(fields['step']),
      fields['isPermanent'] === true ? { ...cause, isPermanent: true } : cause,
    )
  }
  const options = cause === undefined ? undefined : { cause: deserializeError(cause) }
  const error = errorOf(name, message, options, fields, errors)
  if (stack !== undefined) error.stack = stack
  return error
}

function errorOf(
  name: string,
  message: string,
  options: { readonly cause: unknown } | undefined,
  fields: Readonly<Record<string, unknown>>,
  errors: readonly RecordedError[] | undefined,
): Error {
  if (name === 'PermanentError') return Object.assign(new PermanentError(message, options), fields)
  if (name === 'StepTimeoutError') return Object.assign(new StepTimeoutError(message, options), fields)
  if (name === 'Cancelled') return new Cancelled()
  const { code } = fields
  if (name === 'EngineError' && typeof code === 'string' && Object.hasOwn(errorTable, code)) {
    return new EngineError(code as ErrorCode, message, (fields['details'] ?? {}) as ErrorDetails, options)
  }
  const plain =
    errors === undefined
      ? new Error(message, options)
      : new AggregateError(errors.map(deserializeError), message, options)
  return Object.assign(plain, { name }, fields)
}
