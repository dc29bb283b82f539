import { describe, expect, expectTypeOf, test } from 'vitest'
import type { Duration } from '../../src/model/duration.ts'
import {
  bytes,
  duration,
  encodingOf,
  flag,
  id,
  json,
  listOf,
  text,
  time,
  uuid,
  whole,
  word,
} from '../../src/model/field-kinds.ts'
import { checkFields, type AnyField, type CheckedOf, type RequestOf } from '../../src/model/field.ts'
import { lane, namespace, priority, workerName } from '../../src/model/named-fields.ts'
import { refused } from './refused.ts'

const table = {
  reason: text({ minBytes: 1, maxBytes: 10 }),
  count: whole({ max: 5 }).default(2),
  wait: duration().optional(),
}

describe('a table of fields', () => {
  test('returns the type of the request, and of its checked values', () => {
    expectTypeOf<RequestOf<typeof table>>().branded.toEqualTypeOf<{
      readonly reason: string
      readonly count?: number
      readonly wait?: Duration
    }>()
    expectTypeOf<CheckedOf<typeof table>>().branded.toEqualTypeOf<{
      readonly reason: string
      readonly count: number
      readonly waitMs: number | null
    }>()
  })

  test('checks every field; an omitted one has its default, or is null', () => {
    expect(checkFields('try', table, { reason: 'late' })).toEqual({ reason: 'late', count: 2, waitMs: null })
    expect(checkFields('try', table, { reason: 'late', count: 0, wait: '2s' })).toEqual({
      reason: 'late',
      count: 0,
      waitMs: 2000,
    })
    expect(checkFields('try', table, { reason: 'late', count: undefined, wait: undefined })).toEqual({
      reason: 'late',
      count: 2,
      waitMs: null,
    })
  })

  test('refuses an unknown field with the one that was probably meant, and a request that is no object', () => {
    expect(refused('invalid_input', () => checkFields('try', table, { reason: 'a', cout: 1 })).message).toBe(
      'try has an unknown field "cout"; did you mean count?',
    )
    expect(refused('invalid_input', () => checkFields('try', table, [])).message).toContain('the request to try is')
  })

  test('refuses a field that is missing, and null where a field may be omitted', () => {
    expect(refused('invalid_input', () => checkFields('try', table, {})).message).toContain('reason is undefined')
    expect(refused('invalid_input', () => checkFields('try', table, { reason: 'a', wait: null })).message).toContain(
      'wait is null',
    )
    expect(refused('invalid_input', () => checkFields('try', table, { reason: 'a', count: null })).message).toContain(
      'count is null',
    )
  })
})

type Case = readonly [kind: string, field: AnyField, given: unknown, checked?: unknown]

const accepted: readonly Case[] = [
  ['text', text({ maxBytes: 4 }), ''],
  ['text', text({ maxBytes: 4 }), '語'],
  ['whole', whole({ min: 1, max: 3 }), 3],
  ['word', word(['a', 'b']), 'b'],
  ['flag', flag(), false],
  ['duration', duration(), '1m', 60_000],
  ['time', time(), 0],
  ['bytes', bytes({ maxBytes: 2, advice: 'Send less' }), new Uint8Array(2)],
  ['json', json({ maxDepth: 1, maxTextBytes: 4 }), { a: 'b' }],
  ['json', json({ maxDepth: 1, maxTextBytes: 4 }), null],
  ['uuid', uuid(), '0190a000-0000-7000-8000-00000000000a'],
  ['id', id('execution'), 'checked by its operation'],
  ['list', listOf(lane, { each: 'lane', min: 1, allowed: 'a list' }), ['a', 'b']],
  ['priority', priority, 10_000, 9000],
]

const cases = accepted.map(([kind, field, given, checked = given]) => [kind, field, given, checked] as const)

test.each(cases)('a %s accepts %#', (_, field, given, checked) => {
  expect(field.read('f', given, {})).toEqual(checked)
})

const refusals: readonly (readonly [sentence: string, field: AnyField, given: unknown])[] = [
  ['f is 6 bytes long; it must be 0 to 4 bytes of text', text({ maxBytes: 4 }), '語語'],
  ['f is 0; it must be a whole number from 1 to 3', whole({ min: 1, max: 3 }), 0],
  ['f is 1.5; it must be a whole number from 1 to 3', whole({ min: 1, max: 3 }), 1.5],
  ['f is 7; it must be the id of a process', whole({ max: 3, allowed: 'the id of a process' }), 7],
  ['f is "appl"; it must be one of apple, pear; did you mean apple?', word(['apple', 'pear']), 'appl'],
  ['f is "yes"; it must be true or false', flag(), 'yes'],
  ['f is "61s"; it must be 1 to 60000 ms', duration({ minMs: 1, maxMs: 60_000 }), '61s'],
  ['f is 0 ms; it must be 1 to 60000 ms', duration({ minMs: 1, maxMs: 60_000 }), 0],
  ['f is -1; it must be a time in milliseconds since 1970', time(), -1],
  ['f is "AAA="; it must be bytes (base64 over HTTP)', bytes({ maxBytes: 2, advice: 'Send less' }), 'AAA='],
  ['f is "x"; it must be a uuid', uuid(), 'x'],
  ['f is an object; it must be a list', listOf(lane, { each: 'lane', allowed: 'a list' }), {}],
  ['f is empty; it must be a list', listOf(lane, { each: 'lane', min: 1, allowed: 'a list' }), []],
  ['f is an array of 2; it must be a list', listOf(lane, { each: 'lane', max: 1, allowed: 'a list' }), ['a', 'b']],
  [
    'lane is empty; it must be 1 to 64 bytes of printable ASCII',
    listOf(lane, { each: 'lane', allowed: 'a list' }),
    [''],
  ],
  ["namespace is '*', which means all namespaces; pass one", namespace, '*'],
  ['f is "a\\tb" with a control character', workerName, 'a\tb'],
]

test.each(refusals)('%s', (sentence, field, given) => {
  expect(refused('invalid_input', () => field.read('f', given, {})).message).toContain(sentence)
})

test('bytes over their limit are refused with advice', () => {
  const { message, details } = refused('payload_too_large', () =>
    bytes({ maxBytes: 2, advice: 'Send less' }).read('result', new Uint8Array(3), {}),
  )
  expect(message).toBe('result is 3 bytes; at most 2 are stored. Send less')
  expect(details).toEqual({ field: 'result', bytes: 3, limit: 2 })
})

test('an encoding is null without its bytes, and json by default', () => {
  const encoding = encodingOf('result')
  const result = new Uint8Array(1)
  expect(encoding.read('resultEncoding', undefined, {})).toBeNull()
  expect(encoding.read('resultEncoding', 'text', {})).toBeNull()
  expect(encoding.read('resultEncoding', undefined, { result })).toBe('json')
  expect(encoding.read('resultEncoding', 'text', { result })).toBe('text')
  refused('invalid_input', () => encoding.read('resultEncoding', 'é', { result }))
})

test('a column is as wide as the largest number', () => {
  expect([100, 2 ** 15, 2 ** 31].map((max) => whole({ max }).column)).toEqual(['int2', 'int4', 'int8'])
})
