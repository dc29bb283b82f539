import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { nextTime, parseTiming, timesUpTo, type Timing } from '../../src/model/schedule-timing.ts'
import { EngineError } from '../../src/model/errors.ts'

function cron(cron: string, timeZone = 'UTC'): Timing {
  return parseTiming({ cron, timeZone }) as Timing
}

function next(timing: Timing, after: string, count: number): string[] {
  const times: string[] = []
  let time: number | null = Date.parse(after)
  while (times.length < count) {
    time = nextTime(timing, time!)
    times.push(new Date(time!).toISOString())
  }
  return times
}

describe('patterns', () => {
  test('five fields, six with seconds, words; in UTC unless a zone is given', () => {
    expect(parseTiming({ cron: ' 0  9 * * MON-FRI ' })).toEqual({
      kind: 'cron',
      cron: '0  9 * * MON-FRI',
      timeZone: 'UTC',
    })
    expect(next(cron('0 9 * * MON-FRI'), '2026-03-06T10:00:00Z', 2)).toEqual([
      '2026-03-09T09:00:00.000Z',
      '2026-03-10T09:00:00.000Z',
    ])
    expect(next(cron('*/20 * * * * *'), '2026-03-06T10:00:00Z', 2)).toEqual([
      '2026-03-06T10:00:20.000Z',
      '2026-03-06T10:00:40.000Z',
    ])
    expect(next(cron('@daily', 'Asia/Kolkata'), '2026-03-06T10:00:00Z', 1)).toEqual(['2026-03-06T18:30:00.000Z'])
    expect(next(cron('0 0 29 2 *'), '2026-03-06T10:00:00Z', 1)).toEqual(['2028-02-29T00:00:00.000Z'])
  })

  test('a pattern that never matches has no next time', () => {
    expect(nextTime(cron('0 0 31 2 *'), 0)).toBeNull()
  })

  test('the next time is after the given one, never equal to it', () => {
    expect(next(cron('* * * * *'), '2026-03-06T10:00:00.000Z', 1)).toEqual(['2026-03-06T10:01:00.000Z'])
    expect(next(cron('* * * * *'), '2026-03-06T09:59:59.999Z', 1)).toEqual(['2026-03-06T10:00:00.000Z'])
  })
})

describe('where the clocks change, in New York', () => {
  const zone = 'America/New_York'

  test('forward: a time that does not exist fires when the clocks have gone, once', () => {
    expect(next(cron('30 2 * * *', zone), '2026-03-07T12:00:00Z', 2)).toEqual([
      '2026-03-08T07:00:00.000Z',
      '2026-03-09T06:30:00.000Z',
    ])
  })

  test('forward: an hourly pattern continues by elapsed time', () => {
    expect(next(cron('0 * * * *', zone), '2026-03-08T05:10:00Z', 3)).toEqual([
      '2026-03-08T06:00:00.000Z',
      '2026-03-08T07:00:00.000Z',
      '2026-03-08T08:00:00.000Z',
    ])
  })

  test('back: a fixed time fires the first time that it is shown, and not again', () => {
    expect(next(cron('30 1 * * *', zone), '2026-10-31T12:00:00Z', 2)).toEqual([
      '2026-11-01T05:30:00.000Z',
      '2026-11-02T06:30:00.000Z',
    ])
  })

  test('back: a repeating pattern continues by elapsed time', () => {
    expect(next(cron('*/30 * * * *', zone), '2026-11-01T05:10:00Z', 4)).toEqual([
      '2026-11-01T05:30:00.000Z',
      '2026-11-01T06:00:00.000Z',
      '2026-11-01T06:30:00.000Z',
      '2026-11-01T07:00:00.000Z',
    ])
  })

  test.each(['2026-03-08T08:00:00Z', '2026-11-01T08:00:00Z'])(
    'an interval ignores changes of clocks, around %s',
    (after) => {
      const hourly: Timing = { kind: 'every', everyMs: 3_600_000, anchorAt: Date.parse(after) - 86_400_000 }
      expect(nextTime(hourly, Date.parse(after))).toBe(Date.parse(after) + 3_600_000)
    },
  )
})

test('an interval counts from its anchor, and begins after one', () => {
  const timing: Timing = { kind: 'every', everyMs: 1000, anchorAt: 500 }
  expect([0, 500, 1499, 1500, 9999].map((after) => nextTime(timing, after))).toEqual([1500, 1500, 1500, 2500, 10_500])
})

test('of past times the newest are returned, however many exist', () => {
  const timing = cron('* * * * * *', 'Europe/Berlin')
  const now = Date.parse('2026-06-01T00:00:00.700Z')
  const first = Date.parse('2020-01-01T00:00:00Z')
  expect(timesUpTo(timing, first, now, 3)).toEqual([now - 2700, now - 1700, now - 700])
  const every: Timing = { kind: 'every', everyMs: 1000, anchorAt: first - 1000 }
  expect(timesUpTo(every, first, now, 3)).toEqual([now - 2700, now - 1700, now - 700])
  expect(timesUpTo(every, first, first - 1, 3)).toEqual([])
  expect(timesUpTo(every, first, first, 3)).toEqual([first])
})

const patterns = [
  '30 2 * * *',
  '*/15 * * * *',
  '0 * * * *',
  '30 1 * * 0',
  '15,45 1-3 * * *',
  '0 0 1 * *',
  '*/7 */5 * * *',
]
const zones = ['America/New_York', 'Europe/Berlin', 'Australia/Lord_Howe', 'America/Sao_Paulo', 'Pacific/Apia', 'UTC']

test('the times counted back are those counted forward, in every zone and over every change of clocks', () => {
  const day = 86_400_000
  const start = Date.parse('2026-01-01T00:00:00Z')
  const given = [fc.constantFrom(...patterns), fc.constantFrom(...zones), fc.nat(365 * day), fc.nat(4 * day)] as const
  fc.assert(
    fc.property(...given, (pattern, zone, from, length) => {
      const timing = cron(pattern, zone)
      const now = start + from + length
      const first = nextTime(timing, start + from)!
      const forward: number[] = []
      for (let time: number | null = first; time !== null && time <= now; time = nextTime(timing, time)) {
        forward.push(time)
      }
      expect(timesUpTo(timing, first, now, 500)).toEqual(forward)
      expect(timesUpTo(timing, first, now, 2)).toEqual(forward.slice(-2))
    }),
    { numRuns: 60 },
  )
})

const refused: readonly [string, object, string][] = [
  ['neither', {}, 'neither cron nor every is given; pass exactly one of them'],
  ['both', { cron: '* * * * *', every: '1m' }, 'cron and every are both given; pass exactly one of them'],
  [
    'an unknown zone',
    { cron: '* * * * *', timeZone: 'Mars/Olympus' },
    'timeZone is "Mars/Olympus"; it must be the name',
  ],
  ['a zone without clocks', { every: '1m', timeZone: 'UTC' }, 'timeZone is given with every, which does not use it'],
  ['an interval of nothing', { every: 0 }, 'every is 0; it must be at least 1000 ms'],
  ['a negative interval', { every: -1 }, 'every is -1; it must be a whole number of milliseconds'],
  ['four fields', { cron: '* * * *' }, 'cron is "* * * *"; it must be five fields'],
  ['a year', { cron: '* * * * * * 2030' }, 'cron is "* * * * * * 2030"; it must be five fields'],
  ['a minute of 99', { cron: '99 * * * *' }, 'Invalid value for minute: 99'],
  ['a date', { cron: '2030-01-01T00:00:00' }, 'cron is "2030-01-01T00:00:00"; it must be five fields'],
  ['nothing', { cron: '' }, 'cron is empty; it must be 1 to 256 bytes'],
  ['a number', { cron: 5 }, 'cron is 5; it must be 1 to 256 bytes'],
]

test.each(refused)('%s is refused', (_, given, message) => {
  expect(() => parseTiming(given)).toThrow(message)
  expect(() => parseTiming(given)).toThrow(EngineError)
})
