import { expect, test, vi } from 'vitest'
import { limits } from '../../src/model/limits.ts'
import { dataOf } from '../../src/server/approval-data.ts'

const json = (text: string) => ({ payload: Buffer.from(text), payloadEncoding: 'json' })
const nested = (depth: number, width: number) => '['.repeat(depth) + '0,'.repeat(width) + '0' + ']'.repeat(depth)

test('small data is shown indented', () => {
  expect(dataOf(json('{"a":[1,2]}'))).toBe('{\n  "a": [\n    1,\n    2\n  ]\n}')
  expect(dataOf(json('not json'))).toBe('not json')
  expect(dataOf({ payload: null, payloadEncoding: null })).toBe('none')
  expect(dataOf({ payload: new Uint8Array(3), payloadEncoding: 'cbor' })).toBe('3 bytes of cbor')
})

test.each([
  ['deep', nested(limits.pageDataDepth + 1, 3)],
  ['large', `"${'x'.repeat(limits.pageDataBytes)}"`],
  ['deep, wide and large', nested(3000, 75_000)],
])('data that is %s is neither parsed nor formatted', (_, text) => {
  const parse = vi.spyOn(JSON, 'parse')
  const stringify = vi.spyOn(JSON, 'stringify')
  const shown = dataOf(json(text))
  expect([parse.mock.calls.length, stringify.mock.calls.length]).toEqual([0, 0])
  vi.restoreAllMocks()
  expect(shown.length).toBeLessThan(limits.pageDataBytes + 50)
  expect(shown.startsWith(text.slice(0, 1000))).toBe(true)
})

test('data is never cut after formatting: data that would be too long is shown as it arrived', () => {
  const text = nested(limits.pageDataDepth, 5000)
  expect(dataOf(json(text))).toBe(text)
})

test('the cut characters are counted', () => {
  expect(dataOf(json('x'.repeat(limits.pageDataBytes + 7)))).toContain('\n(7 more bytes)')
})

test('invisible characters and characters that turn text around are shown', () => {
  expect(dataOf(json('{"to":"a\u202eb\u200bc\u2066d"}'))).toBe('{\n  "to": "a\\u{202e}b\\u{200b}c\\u{2066}d"\n}')
})
