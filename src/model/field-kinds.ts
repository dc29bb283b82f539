// The kinds of fields. Each has one check, and the wire shape that belongs to it.
import type { Bytes } from './bytes.ts'
import { parseDuration, type Duration } from './duration.ts'
import { EngineError, refusal } from './errors.ts'
import { field, optionalField, type Field, type FieldColumn, type Given, type Wire } from './field.ts'
import type { Noun } from './id.ts'
import { parseJson, type Json } from './json.ts'
import { limits } from './limits.ts'
import { checkAbortSignal } from './shape.ts'
import { checkText, oneOf, show, type TextRule } from './text.ts'
import { checkTime } from './time.ts'

/** Text of a length in bytes of UTF-8. */
export function text(rule: TextRule) {
  return field<string>({
    check: (name, value) => checkText(name, value, rule),
    wire: { kind: 'text', rule },
    column: 'text',
  })
}

/** A kind of its own: `check` gives the checked value, and `wire` states its form in the API document. */
export function checkedBy<Value, Checked = Value>(
  check: (value: unknown, name: string) => Checked,
  wire: Wire,
  column: FieldColumn | null = null,
) {
  return field<Value, Checked>({ check: (name, value) => check(value, name), wire, column })
}

export const uuidForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/

/** In lower case. */
export function uuid() {
  return field<string>({
    check(name, value) {
      if (typeof value === 'string' && uuidForm.test(value)) return value
      throw refusal('invalid_input', name, show(value), 'a uuid')
    },
    wire: { kind: 'pattern', pattern: uuidForm },
    column: 'uuid',
  })
}

interface WholeRule {
  readonly min?: number
  readonly max: number
  /** Defaults to the smallest that has room for `max`. */
  readonly column?: 'int2' | 'int4' | 'int8'
  readonly allowed?: string
}

/** A whole number. */
export function whole({ min = 0, max, column = columnUpTo(max), allowed }: WholeRule) {
  return field<number>({
    check(name, value) {
      if (typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max) return value
      throw refusal('invalid_input', name, show(value), allowed ?? `a whole number from ${min} to ${max}`)
    },
    wire: { kind: 'whole', min, max },
    column,
  })
}

function columnUpTo(max: number): 'int2' | 'int4' | 'int8' {
  if (max < 2 ** 15) return 'int2'
  return max < 2 ** 31 ? 'int4' : 'int8'
}

/** One of a few words, which the API document may have under a name. */
export function word<const Word extends string>(words: readonly Word[], shape?: string) {
  return field<Word>({
    check(name, value) {
      if (words.includes(value as Word)) return value as Word
      throw refusal('invalid_input', name, show(value), oneOf(value, words))
    },
    wire: { kind: 'words', words, ...(shape !== undefined && { name: shape }) },
    column: 'text',
  })
}

export function flag() {
  return field<boolean>({
    check(name, value) {
      if (typeof value === 'boolean') return value
      throw refusal('invalid_input', name, show(value), 'true or false')
    },
    wire: { kind: 'flag' },
    column: 'bool',
  })
}

/** Checked to milliseconds. */
export function duration({ minMs = 0, maxMs = limits.durationMs, allowed }: DurationBounds = {}) {
  return field<Duration, number, 'Ms'>({
    check(name, value) {
      const ms = parseDuration(name, value)
      if (ms >= minMs && ms <= maxMs) return ms
      const found = typeof value === 'string' ? show(value) : `${ms} ms`
      throw refusal('invalid_input', name, found, allowed ?? `${minMs} to ${maxMs} ms`)
    },
    wire: { kind: 'duration', ...(maxMs !== limits.durationMs && { minMs, maxMs }) },
    column: 'int8',
    suffix: 'Ms',
  })
}

interface DurationBounds {
  readonly minMs?: number
  readonly maxMs?: number
  readonly allowed?: string
}

/** A point in time, in milliseconds since 1970. */
export function time() {
  return field<number>({ check: checkTime, wire: { kind: 'time' }, column: 'int8' })
}

interface BytesRule {
  readonly maxBytes: number
  /** Ends the refusal of larger bytes. */
  readonly advice: string
  /** How this refusal names the bytes. */
  readonly nameOf?: (request: Given) => string
}

export function bytes({ maxBytes, advice, nameOf }: BytesRule) {
  return field<Bytes>({
    check(name, value, request) {
      if (!(value instanceof Uint8Array)) {
        throw refusal('invalid_input', name, show(value), 'bytes (base64 over HTTP)')
      }
      if (value.byteLength <= maxBytes) return value
      const what = nameOf?.(request) ?? name
      const sentence = `${what} is ${value.byteLength} bytes; at most ${maxBytes} are stored. ${advice}`
      throw new EngineError('payload_too_large', sentence, { field: name, bytes: value.byteLength, limit: maxBytes })
    },
    wire: { kind: 'bytes' },
    column: 'bytea',
  })
}

/** How to read the bytes of another field: null without them, else `json` by default. */
export function encodingOf(bytesField: string, rule: Partial<TextRule> = { printableAscii: true }) {
  const encoding: TextRule = { minBytes: 1, maxBytes: limits.encodingBytes, ...rule }
  const read = (name: string, value: unknown = 'json'): string => checkText(name, value, encoding)
  return optionalField<string, string | null>({
    check: (name, value, request) => (request[bytesField] === undefined ? null : read(name, value)),
    wire: { kind: 'text', rule: encoding },
    column: 'text',
  })
}

/** Plain JSON. */
export function json({ maxDepth, maxTextBytes }: { readonly maxDepth: number; readonly maxTextBytes: number }) {
  return field<Json>({
    check: (name, value) => parseJson(name, value, { code: 'invalid_input', maxDepth, maxTextBytes }),
    wire: { kind: 'json' },
    column: 'jsonb',
  })
}

/** A field that the operation checks itself, after the others. */
export function unchecked<Value>(wire: Wire) {
  return checkedBy<Value, unknown>((value) => value, wire)
}

/** The id of a row. The operation parses it, because a bare uuid needs the database. */
export function id(noun: Noun) {
  return unchecked<string>({ kind: 'id', noun })
}

interface ListRule {
  /** How a refusal names an item; otherwise by its index, as in `names[2]`. */
  readonly each?: string
  readonly min?: number
  readonly max?: number
  readonly allowed: string
}

export function listOf<Value, Checked>(
  of: Field<Value, Checked>,
  { each, min = 0, max = Infinity, allowed }: ListRule,
) {
  return field<readonly Value[], readonly Checked[]>({
    check(name, value, request) {
      if (!Array.isArray(value)) throw refusal('invalid_input', name, show(value), allowed)
      if (value.length < min || value.length > max) {
        const found = value.length === 0 ? 'empty' : `an array of ${value.length}`
        throw refusal('invalid_input', name, found, allowed)
      }
      // Array.from also visits the holes of a sparse array, which map would skip.
      return Array.from(value, (item: unknown, index) => of.read(each ?? `${name}[${index}]`, item, request))
    },
    wire: { kind: 'list', of, ...(min > 0 && { min }), ...(max < Infinity && { max }) },
    column: null,
  })
}

/** Ends a wait early. Only for calls in this process. */
export function abortSignal() {
  return optionalField<AbortSignal, AbortSignal | undefined>({
    check: (_, value) => checkAbortSignal(value),
    wire: null,
    column: null,
  })
}
