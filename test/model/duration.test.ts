import { describe, expect, test } from 'vitest'
import { parseDuration } from '../../src/model/duration.ts'
import { refused } from './refused.ts'

describe('a duration', () => {
  test.each([
    [0, 0],
    [1500, 1500],
    ['250ms', 250],
    ['30s', 30_000],
    ['5m', 300_000],
    ['2 hours', 7_200_000],
    ['7d', 604_800_000],
    ['1.5s', 1500],
    ['1.1h', 3_960_000],
    ['1.15h', 4_140_000],
    ['100', 100],
    ['100y', 3_155_760_000_000],
  ])('of %j is %i ms', (value, duration) => {
    expect(parseDuration('delay', value)).toBe(duration)
  })

  test.each([
    '',
    ' ',
    '1h30m',
    '1h 30m',
    'PT5M',
    'P1D',
    'soon',
    '5 lightyears',
    '-5m',
    ' 5m',
    '5m\n',
    '0.5ms',
    '101y',
    'Infinity',
    'NaN',
    '1e3',
    '9'.repeat(200),
    -1,
    1.5,
    NaN,
    Infinity,
    3_155_760_000_001,
    2 ** 60,
    null,
    undefined,
    true,
    5n,
    [5],
    { minutes: 5 },
  ])('is never %s', (value) => {
    const error = refused('invalid_input', () => parseDuration('delay', value))
    expect(error.message).toMatch(/^delay is .+; it must be a whole number of milliseconds, or .+'5m'/)
  })
})
