// Values as JSON: bytes are base64, errors are what they tell of themselves. Where bytes and errors are in an answer is said by
// its route, so that nothing of a user's own documents is taken for them.
import { EngineError, errorTable, type ErrorCode, type ErrorDetails } from '../model/errors.ts'
import type { Route } from './route.ts'

/** `told` gives what is told of an error; left out, it tells all of itself. */
export function toWire(value: unknown, told: (error: EngineError) => EngineError = itself): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Uint8Array) return encodeBytes(value)
  if (Array.isArray(value)) return value.map((item) => toWire(item, told))
  if (EngineError.is(value)) return toWire(told(value).toJSON(), told)
  // As JSON.stringify would: a Date is a text.
  if ('toJSON' in value && typeof value.toJSON === 'function') return toWire(value.toJSON(), told)
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, toWire(field, told)]))
}

function itself(error: EngineError): EngineError {
  return error
}

/** The answer of an operation, as it came. Changes what it is given. */
export function fromWire({ bytes = [], errors = [] }: Route, answer: unknown): unknown {
  for (const path of bytes) replaceAt(answer, path.split('.'), (found) => decodeBytes(found))
  for (const path of errors) replaceAt(answer, path.split('.'), (found) => errorFrom(found))
  return answer
}

export function encodeBytes(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

/** Null for what is not base64. */
export function parseBytes(text: string): Uint8Array | null {
  const bytes = Buffer.from(text, 'base64')
  // Node skips what is no base64, so only a text that comes out the same was whole.
  return bytes.toString('base64') === text ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength) : null
}

/** The refusal that was told as JSON; of a later server, one with a code that is not known here is an internal error. */
export function errorFrom(told: unknown, cause?: unknown): EngineError {
  const { code, message, details } = (told ?? {}) as { code?: unknown; message?: unknown; details?: ErrorDetails }
  const isKnown = typeof code === 'string' && Object.hasOwn(errorTable, code)
  return new EngineError(
    isKnown ? (code as ErrorCode) : 'internal_error',
    typeof message === 'string' ? message : 'the server rejected the request without a reason',
    isKnown ? details : { ...details, code },
    { cause },
  )
}

function decodeBytes(found: unknown): unknown {
  return typeof found === 'string' ? parseBytes(found) : found
}

function replaceAt(value: unknown, path: readonly string[], replace: (found: unknown) => unknown): void {
  if (typeof value !== 'object' || value === null) return
  const [first, ...rest] = path
  if (first === '*') {
    for (const item of value as unknown[]) replaceAt(item, rest, replace)
    return
  }
  const holder = value as Record<string, unknown>
  const found = holder[first!]
  if (found === undefined || found === null) return
  if (rest.length === 0) holder[first!] = replace(found)
  else replaceAt(found, rest, replace)
}
