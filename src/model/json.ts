// Plain JSON, checked when it comes from outside and compared by value: the order of keys does not matter, and nothing
// is converted.
import { EngineError, refusal } from './errors.ts'
import type { ErrorCode } from './errors.ts'
import { ownFields } from './shape.ts'
import { checkText, show } from './text.ts'

export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json }

export interface JsonRule {
  readonly code: ErrorCode
  /** How deep arrays and objects may be nested, so that a cycle ends. */
  readonly maxDepth: number
  readonly maxTextBytes: number
}

/** A copy of the value, free of accessors and prototypes. */
export function parseJson(at: string, value: unknown, rule: JsonRule): Json {
  if (value === null || typeof value === 'boolean') return value
  if (typeof value === 'string') return checkText(at, value, { maxBytes: rule.maxTextBytes, code: rule.code })
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (typeof value !== 'object') throw refusal(rule.code, at, show(value), 'plain JSON')
  if (rule.maxDepth === 0) throw new EngineError(rule.code, `${at} is nested too deep; make it flatter`, { field: at })
  const inner = { ...rule, maxDepth: rule.maxDepth - 1 }
  // Array.from also visits the holes of a sparse array, which map would skip.
  if (Array.isArray(value)) return Array.from(value as unknown[], (item, i) => parseJson(`${at}[${i}]`, item, inner))
  const fields = ownFields(value)
  if (fields === null) throw refusal(rule.code, at, show(value), 'plain JSON')
  const keep = ([key, item]: [string, unknown]): [string, Json] => [
    checkText(`a key of ${at}`, key, { maxBytes: rule.maxTextBytes, code: rule.code }),
    parseJson(`${at}.${key}`, item, inner),
  ]
  return Object.fromEntries([...fields].map(keep))
}

/** No deeper than `wanted`, however deep the other is. */
export function equalJson(wanted: Json, found: Json): boolean {
  if (wanted === found) return true
  if (typeof wanted !== 'object' || typeof found !== 'object' || wanted === null || found === null) return false
  if (isArray(wanted) || isArray(found)) {
    if (!isArray(wanted) || !isArray(found) || wanted.length !== found.length) return false
    return wanted.every((item, index) => equalJson(item, found[index]!))
  }
  const keys = Object.keys(wanted)
  if (keys.length !== Object.keys(found).length) return false
  return keys.every((key) => Object.hasOwn(found, key) && equalJson(wanted[key]!, found[key]!))
}

// Array.isArray does not recognise a readonly array's type.
function isArray(value: Json): value is readonly Json[] {
  return Array.isArray(value)
}

/**
 * The value at the end of the path: texts are keys of objects, numbers indexes of arrays. Undefined if it does not
 * exist.
 */
export function valueAt(json: Json, path: readonly (string | number)[]): Json | undefined {
  let value: Json | undefined = json
  for (const step of path) {
    if (typeof value !== 'object' || value === null) return undefined
    if (isArray(value) !== (typeof step === 'number') || !Object.hasOwn(value, step)) return undefined
    value = (value as Readonly<Record<string | number, Json>>)[step]
  }
  return value
}
