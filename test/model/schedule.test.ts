import { describe, expect, test } from 'vitest'
import { firingsOf, jitterOf, triggered, type DueSchedule } from '../../src/model/schedule.ts'

const minute = 60_000
const hour = 60 * minute

/** Hourly; its time at one hour is the next. */
const hourly: DueSchedule = {
  timing: { kind: 'every', everyMs: hour, anchorAt: 0 },
  plannedAt: hour,
  lastPlannedAt: null,
  until: null,
  overlap: 'skip',
  catchUp: 'last',
  catchUpLimit: 100,
  queued: [],
  isPreviousRunning: false,
}

const nothing = { fired: [], skipped: [], queued: [], cancelsPrevious: false }

test('a time that has come fires, and the next is planned', () => {
  expect(firingsOf(hourly, hour)).toEqual({ ...nothing, fired: [hour], plannedAt: 2 * hour, nextFireAt: 2 * hour })
})

test('before its time nothing fires, and nothing changes', () => {
  expect(firingsOf(hourly, hour - 1)).toEqual({ ...nothing, plannedAt: hour, nextFireAt: hour })
})

test('after its end nothing is planned', () => {
  expect(firingsOf({ ...hourly, until: 2 * hour - 1 }, hour)).toMatchObject({
    fired: [hour],
    plannedAt: null,
    nextFireAt: null,
  })
  expect(firingsOf({ ...hourly, until: 2 * hour }, hour)).toMatchObject({ plannedAt: 2 * hour })
})

test('times after the end that no process fired are not caught up', () => {
  const schedule: DueSchedule = { ...hourly, catchUp: 'all', overlap: 'allow', until: 3 * hour }
  expect(firingsOf(schedule, 9 * hour).fired).toEqual([hour, 2 * hour, 3 * hour])
})

test('a clock that was set back fires nothing again', () => {
  expect(firingsOf({ ...hourly, lastPlannedAt: hour }, hour).fired).toEqual([])
})

describe('times at which no process ran', () => {
  const late = 5 * hour + minute + 1

  test.each([
    ['none', late, []],
    ['none', late - 1, [5 * hour]],
    ['last', late, [5 * hour]],
    ['all', late, [hour, 2 * hour, 3 * hour, 4 * hour, 5 * hour]],
  ] as const)('%s, at %i', (catchUp, now, fired) => {
    const { plannedAt, ...rest } = firingsOf({ ...hourly, catchUp, overlap: 'allow' }, now)
    expect(rest.fired).toEqual(fired)
    expect(plannedAt).toBe(6 * hour)
  })

  test('all, up to a limit: the newest', () => {
    const schedule: DueSchedule = { ...hourly, catchUp: 'all', catchUpLimit: 2, overlap: 'allow' }
    expect(firingsOf(schedule, late).fired).toEqual([4 * hour, 5 * hour])
  })

  test('all, when only one may run: the first fires and the others are skipped', () => {
    const { fired, skipped } = firingsOf({ ...hourly, catchUp: 'all' }, 3 * hour)
    expect([fired, skipped]).toEqual([[hour], [2 * hour, 3 * hour]])
  })
})

describe('while the last execution has not ended', () => {
  const running = { ...hourly, isPreviousRunning: true }

  test('skip: it is skipped', () => {
    expect(firingsOf(running, hour)).toMatchObject({ fired: [], skipped: [hour], queued: [], plannedAt: 2 * hour })
  })

  test('cancelPrevious: it fires, and the last one must end', () => {
    expect(firingsOf({ ...running, overlap: 'cancelPrevious' }, hour)).toMatchObject({
      fired: [hour],
      cancelsPrevious: true,
    })
    const caughtUp = firingsOf({ ...running, overlap: 'cancelPrevious', catchUp: 'all' }, 3 * hour)
    expect(caughtUp).toMatchObject({ fired: [3 * hour], skipped: [hour, 2 * hour] })
  })

  test('allow: it fires', () => {
    expect(firingsOf({ ...running, overlap: 'allow' }, hour)).toMatchObject({ fired: [hour], cancelsPrevious: false })
  })

  test('queue: it waits, and is checked again, less often the longer it waits', () => {
    const schedule: DueSchedule = { ...running, overlap: 'queue' }
    expect(firingsOf(schedule, hour)).toEqual({
      ...nothing,
      queued: [hour],
      plannedAt: 2 * hour,
      nextFireAt: hour + 1000,
    })
    const waiting = { ...schedule, queued: [hour], plannedAt: 2 * hour, lastPlannedAt: hour }
    expect(firingsOf(waiting, hour + minute).nextFireAt).toBe(hour + minute + 7500)
    expect(firingsOf(waiting, hour + 30 * minute).nextFireAt).toBe(hour + 30 * minute + 15_000)
    expect(firingsOf(waiting, 2 * hour - 1).nextFireAt).toBe(2 * hour)
  })

  test('queue: when it has ended the first fires, and the others wait for that one', () => {
    const schedule: DueSchedule = { ...hourly, overlap: 'queue', queued: [1, 2], plannedAt: 2 * hour }
    expect(firingsOf(schedule, hour)).toMatchObject({ fired: [1], queued: [2] })
    expect(
      firingsOf({ ...schedule, plannedAt: null, timing: { kind: 'cron', cron: '0 0 31 2 *', timeZone: 'UTC' } }, hour),
    ).toMatchObject({ fired: [1], queued: [2], plannedAt: null, nextFireAt: hour + 15_000 })
  })

  test('queue: of more than a thousand the newest are skipped', () => {
    const queued = Array.from({ length: 1000 }, (_, index) => index)
    const full = firingsOf({ ...running, overlap: 'queue', queued }, hour)
    expect([full.queued.length, full.skipped]).toEqual([1000, [hour]])
  })
})

test('by hand: at a time that is none of its own, with the same overlap', () => {
  expect(triggered(hourly, 5)).toEqual({ ...nothing, time: 5, fired: [5] })
  expect(triggered(hourly, hour)).toMatchObject({ time: hour + 1 })
  expect(triggered({ ...hourly, isPreviousRunning: true }, 5)).toMatchObject({ fired: [], skipped: [5] })
  const queue: DueSchedule = { ...hourly, overlap: 'queue', isPreviousRunning: true, queued: [5] }
  expect(triggered(queue, 5)).toMatchObject({ time: 6, fired: [], queued: [5, 6] })
})

test('jitter is the same for the same time, and within its bound', () => {
  const times = Array.from({ length: 500 }, (_, index) => jitterOf('a', index * hour, 1000))
  expect(times).toEqual(Array.from({ length: 500 }, (_, index) => jitterOf('a', index * hour, 1000)))
  expect(Math.min(...times)).toBeGreaterThanOrEqual(0)
  expect(Math.max(...times)).toBeLessThanOrEqual(1000)
  expect(new Set(times).size).toBeGreaterThan(200)
  expect(jitterOf('a', hour, 0)).toBe(0)
})
