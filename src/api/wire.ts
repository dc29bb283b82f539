// Values as JSON: bytes are base64, errors are their public fields. The route names the places of bytes and errors in a
// response, so that no part of a user's document is taken for them.
import { EngineError, errorTable, type ErrorCode, type ErrorDetails } from '../model/errors.ts'
import type { Route } from './route.ts'

/** `exposeError` returns the error as the caller may see it; by default all of it. */
export function toWire(value: unknown, exposeError: (error: EngineError) => EngineError = itself): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (value instanceof Uint8Array) return encodeBytes(value)
  if (Array.isArray(value)) return value.map((item) => toWire(item, exposeError))
  if (EngineError.is(value)) return toWire(exposeError(value).toJSON(), exposeError)
  // As JSON.stringify does: a Date is a text.
  if ('toJSON' in value && typeof value.toJSON === 'function') return toWire(value.toJSON(), exposeError)
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, toWire(field, exposeError)]))
}

function itself(error: EngineError): EngineError {
  return error
}

/** Decodes the response of an operation, in place. */
export function fromWire({ bytes = [], errors = [] }: Route, answer: unknown): unknown {
  for (const path of bytes) replaceAt(answer, path.split('.'), (found) => decodeBytes(found))
  for (const path of errors) replaceAt(answer, path.split('.'), (found) => errorFrom(found))
  return answer
}

export function encodeBytes(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
}

/** Null for a text that is not base64. */
export function parseBytes(text: string): Uint8Array | null {
  const bytes = Buffer.from(text, 'base64')
  // Node skips characters that are not base64, so the text is valid only if it encodes to itself.
  return bytes.toString('base64') === text ? new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength) : null
}

/** Revives a refusal from JSON. An unknown code of a later server becomes an internal error. */
export function errorFrom(json: unknown, cause?: unknown): EngineError {
  const { code, message, details } = (json ?? {}) as {
    code?: unknown
    message?: unknown
    details?: ErrorDetails
  }
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
