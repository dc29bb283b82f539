import { expect, test } from 'vitest'
import { attached } from '../../src/model/attached.ts'
import {
  cancelledWhenLeft,
  cleanUpUntil,
  endsWhenLeft,
  isAskedByCancel,
  isAskedByLimit,
  limitAsks,
  type Stoppable,
} from '../../src/model/stop.ts'

const { compensation, onFailure } = attached
const noRequest = { deadlineAt: null, reason: null, actor: null, outcome: null }

function execution(bits: number, stop: Partial<NonNullable<Stoppable['stop']>> | null = null): Stoppable {
  return { attached: bits, stop: stop && { ...noRequest, ...stop } }
}

test.each([
  ['nothing', 0, false, false],
  ['a compensation', compensation, true, true],
  ['only onFailure', onFailure, false, true],
  ['both', compensation | onFailure, true, true],
])('with %s to clean up, a cancel and a limit make a request or end the execution', (_, bits, byCancel, byLimit) => {
  expect(isAskedByCancel(execution(bits))).toBe(byCancel)
  expect(isAskedByLimit(execution(bits))).toBe(byLimit)
  expect(limitAsks(execution(bits))).toBe(byLimit)
  // With an earlier request, it has no time left.
  expect(limitAsks(execution(bits, {}))).toBe(false)
})

test.each([
  ['it has no stop request', 0, null, false],
  ['a cancel asked it to stop', 0, {}, true],
  ['a cancel asked it, and it has a compensation', compensation, {}, false],
  ['a cancel asked it, and it has only onFailure', onFailure, {}, true],
  ['a limit asked it, and it has onFailure', onFailure, { outcome: 'failed' }, false],
  ['a limit asked it, and it has nothing left to clean up', 0, { outcome: 'failed' }, true],
] as const)('leaving its holder ends it or not, when %s', (_, bits, stop, ends) => {
  expect(endsWhenLeft(execution(bits, stop))).toBe(ends)
})

test('an execution that ends when it leaves its holder has the reason and the actor of the request, if these are known', () => {
  expect(cancelledWhenLeft(execution(0, { reason: 'enough', actor: 'ann' }), 'duty')).toEqual({
    outcome: 'cancelled',
    reason: 'enough',
    actor: 'ann',
  })
  expect(cancelledWhenLeft(execution(0, {}), 'duty')).toMatchObject({ reason: 'cancel_requested', actor: 'duty' })
})

test('a clean-up has ten minutes', () => {
  expect(cleanUpUntil(1000)).toBe(601_000)
})
