import { expect, test } from 'vitest'
import { DatabaseClock } from '../../src/worker/database-clock.ts'

/**
 * A clock that is a day ahead. Each answer has three times: when it was sent, when the database read its clock, and
 * when it arrived.
 */
function clockAfter(...answers: readonly (readonly [sentAt: number, readAt: number, answeredAt: number])[]) {
  const clock = new DatabaseClock()
  for (const [sentAt, readAt, answeredAt] of answers) clock.observe(day + readAt, sentAt, answeredAt)
  return (time: number, now: number): number => clock.earliest(day + time, now)
}

const day = 86_400_000

test('the estimated time of the database is never late, and early by at most the duration of the call', () => {
  expect(clockAfter([100, 104, 110])(1000, 110)).toBe(996)
})

test('an answer that arrives late is dated by an earlier quick one', () => {
  const earliest = clockAfter([100, 101, 102], [200, 20_000, 60_000])
  expect(earliest(20_000, 102)).toBe(19_999)
})

test('without a quick answer the estimate starts at the moment the request was sent', () => {
  expect(clockAfter([200, 20_000, 60_000])(25_000, 60_000)).toBe(5200)
})

test('an aging bound makes the estimate earlier, by a thousandth of its age', () => {
  expect(clockAfter([100, 100, 100])(70_000, 60_100)).toBe(69_940)
})

test('the next answer reveals a clock that was set back', () => {
  const earliest = clockAfter([100, 101, 102], [200, -40_000, 202])
  expect(earliest(-39_000, 202)).toBe(1200)
})

test('the next answer reveals a clock that was set forward', () => {
  const earliest = clockAfter([100, 101, 102], [200, 40_201, 202])
  expect(earliest(41_000, 202)).toBe(999)
})
