import { describe, expect, test } from 'vitest'
import { parseCapabilities } from '../../src/model/capability.ts'
import { refused } from './refused.ts'

describe('capabilities', () => {
  test('may be absent or none', () => {
    expect(parseCapabilities(undefined)).toEqual([])
    expect(parseCapabilities([])).toEqual([])
  })

  test('are returned sorted by their bytes and once each', () => {
    expect(parseCapabilities(['gpu', 'Arm', 'gpu', '😀', '\uffee', 'größe'])).toEqual(
      ['Arm', 'größe', 'gpu', '\uffee', '😀'].toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
    )
    expect(parseCapabilities(['😀', '\uffee'])).toEqual(['\uffee', '😀'])
  })

  test.each([
    ['not_array', 'gpu'],
    ['not_array', null],
    ['not_array', { 0: 'gpu', length: 1 }],
    ['non_string_token', [null]],
    ['non_string_token', [7]],
    ['non_string_token', [{}]],
    ['non_string_token', Array(1)],
    ['empty_token', ['gpu', '']],
    ['comma_in_token', ['gpu,arm']],
    ['control_or_whitespace', ['a b']],
    ['control_or_whitespace', ['a\tb']],
    ['control_or_whitespace', ['a\nb']],
    ['control_or_whitespace', ['a\0b']],
    ['control_or_whitespace', ['a\x7fb']],
    ['lone_surrogate', ['a\ud800']],
  ])('EXEC-10 are refused as %s: %j', (why, value) => {
    expect(refused('invalid_capabilities', () => parseCapabilities(value)).details).toMatchObject({ why })
  })

  test('EXEC-10 are 256 at most, counted before repeats are dropped', () => {
    const names = Array.from({ length: 256 }, (_, index) => `c${index}`)
    expect(parseCapabilities(names)).toHaveLength(256)
    for (const tooMany of [[...names, 'one-more'], Array(257).fill('same'), Array(1_000_000)]) {
      expect(refused('invalid_capabilities', () => parseCapabilities(tooMany)).details).toMatchObject({
        why: 'too_many_tokens',
      })
    }
  })

  test('EXEC-10 are 4096 bytes at most, joined by commas, after repeats are dropped', () => {
    const half = 'a'.repeat(2047)
    expect(parseCapabilities([half, `b${half}`, half])).toEqual([half, `b${half}`])
    expect(refused('invalid_capabilities', () => parseCapabilities([half, `bb${half}`])).details).toMatchObject({
      why: 'too_many_bytes',
    })
    expect(refused('invalid_capabilities', () => parseCapabilities(['ä'.repeat(2049)])).message).toBe(
      'capabilities are 4098 bytes, joined by commas; at most 4096 are allowed',
    )
  })
})
