// Objects from outside. Only own enumerable fields count, each is read once, and nothing is ignored: an unknown field
// is refused, with the name that was probably meant.
import { EngineError, refusal } from './errors.ts'
import type { ErrorCode } from './errors.ts'
import { nearest, show } from './text.ts'

/** Checks the value at a path such as `policy.retry.attempts`, and returns the part to keep. */
export type Reader<T = unknown> = (at: string, value: unknown) => T
export type Shape = Readonly<Record<string, Reader>>
export type Read<S extends Shape> = { readonly [K in keyof S]?: ReturnType<S[K]> }

/** The given fields, checked, in the order of the shape; a field that is undefined counts as left out. */
export function readShape<S extends Shape>(code: ErrorCode, at: string, value: unknown, shape: S): Read<S> {
  const fields = ownFields(value)
  if (fields === null) throw refusal(code, at, show(value), 'a plain object')
  const known = Object.keys(shape)
  for (const name of fields.keys()) {
    if (!known.includes(name)) throw unknownField(code, at, name, known)
  }
  // Without a prototype, so that a default is not read from Object.prototype.
  const read = Object.create(null) as Record<string, unknown>
  for (const name of known) {
    const found = fields.get(name)
    if (found !== undefined) read[name] = shape[name]!(`${at}.${name}`, found)
  }
  return read as Read<S>
}

/**
 * For requests, whose fields the caller reads one by one: refuses a value that is no object, and every unknown field.
 */
export function refuseUnknownFields(operation: string, request: unknown, known: readonly string[]): void {
  if (typeof request !== 'object' || request === null || Array.isArray(request)) {
    throw refusal('invalid_input', `the request to ${operation}`, show(request), 'an object')
  }
  for (const name of Object.keys(request)) {
    if (!known.includes(name)) throw unknownField('invalid_input', operation, name, known)
  }
}

/** Null for anything but a plain object. A map, so that a field called `constructor` is a field like any other. */
export function ownFields(value: unknown): ReadonlyMap<string, unknown> | null {
  return isPlainObject(value) ? new Map(Object.entries(value)) : null
}

// By shape, not by identity: a plain object of another realm is plain too. Symbols would be lost, so they disqualify.
function isPlainObject(value: unknown): value is object {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  if (Object.getOwnPropertySymbols(value).length > 0) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

function unknownField(code: ErrorCode, at: string, name: string, known: readonly string[]): EngineError {
  const meant = nearest(name, known)
  const hint = meant === undefined ? `allowed fields are ${known.join(', ')}` : `did you mean ${meant}?`
  return new EngineError(code, `${at} has an unknown field ${show(name)}; ${hint}`, { field: at, unknown: name, meant })
}

/** Not by its class: another realm has a class of its own. */
export function checkAbortSignal(value: unknown): AbortSignal | undefined {
  if (value === undefined) return undefined
  const { aborted, addEventListener } = (value ?? {}) as Partial<AbortSignal>
  if (typeof aborted === 'boolean' && typeof addEventListener === 'function') return value as AbortSignal
  throw refusal('invalid_input', 'signal', show(value), 'an AbortSignal')
}
