import { expect, test } from 'vitest'
import { DatabaseClock } from '../../src/worker/database-clock.ts'

/** A clock that is ahead by a day, after answers that came when given: sent, read by the database, and answered. */
function clockAfter(...answers: readonly (readonly [sentAt: number, readAt: number, answeredAt: number])[]) {
  const clock = new DatabaseClock()
  for (const [sentAt, readAt, answeredAt] of answers) clock.observe(day + readAt, sentAt, answeredAt)
  return (time: number, now: number): number => clock.earliest(day + time, now)
}

const day = 86_400_000

test('a time of the database is never taken for a later one than it is, by at most what the call took', () => {
  expect(clockAfter([100, 104, 110])(1000, 110)).toBe(996)
})

test('an answer that is read late is dated by a quick one from before', () => {
  const earliest = clockAfter([100, 101, 102], [200, 20_000, 60_000])
  expect(earliest(20_000, 102)).toBe(19_999)
})

test('without a quick one it counts from the moment in which it was sent', () => {
  expect(clockAfter([200, 20_000, 60_000])(25_000, 60_000)).toBe(5200)
})

test('a bound that gets old makes times earlier, by a thousandth of its age', () => {
  expect(clockAfter([100, 100, 100])(70_000, 60_100)).toBe(69_940)
})

test('a clock that was set back is known with the next answer', () => {
  const earliest = clockAfter([100, 101, 102], [200, -40_000, 202])
  expect(earliest(-39_000, 202)).toBe(1200)
})

test('a clock that was set forward is known with the next answer', () => {
  const earliest = clockAfter([100, 101, 102], [200, 40_201, 202])
  expect(earliest(41_000, 202)).toBe(999)
})
