import { expect, test } from 'vitest'
import { mergeEffects, noEffects, onlyEvents, Unpublished, type Effects } from '../../../src/engine/kernel/effects.ts'

test('merged effects have each id once, the soonest time of each timer, and all bits', () => {
  const one: Effects = {
    readyQueueIds: [1, 2],
    dueInMs: { delay: 500, wake: 10 },
    pendingDispatch: 1,
    stoppedRunIds: ['a'],
  }
  const other: Effects = {
    readyQueueIds: [2, 3],
    dueInMs: { delay: 20, timeout: 7 },
    pendingDispatch: 4,
    endedFlowIds: ['f'],
    wroteEvents: true,
  }
  const merged: Effects = {
    readyQueueIds: [1, 2, 3],
    dueInMs: { delay: 20, wake: 10, timeout: 7 },
    pendingDispatch: 5,
    stoppedRunIds: ['a'],
    endedFlowIds: ['f'],
    wroteEvents: true,
  }
  expect(mergeEffects(one, other)).toEqual(merged)
  expect(mergeEffects(other, one)).toEqual({ ...merged, readyQueueIds: [2, 3, 1] })
})

test('a queue whose hint was carried by its write is not announced again', () => {
  const merged = mergeEffects({ notifiedQueueIds: [1] }, { readyQueueIds: [2] })
  expect(merged).toEqual({ notifiedQueueIds: [1], readyQueueIds: [2] })
})

test('no effects and equal constants are merged without a new object', () => {
  const effects: Effects = { readyQueueIds: [1] }
  expect(mergeEffects(noEffects, effects)).toBe(effects)
  expect(mergeEffects(effects, noEffects)).toBe(effects)
  expect(mergeEffects(onlyEvents, onlyEvents)).toBe(onlyEvents)
})

test('unpublished effects are taken once', () => {
  const unpublished = new Unpublished()
  unpublished.add(onlyEvents)
  unpublished.add({ pendingDispatch: 2 })
  expect(unpublished.take()).toEqual({ wroteEvents: true, pendingDispatch: 2 })
  expect(unpublished.take()).toBe(noEffects)
})
