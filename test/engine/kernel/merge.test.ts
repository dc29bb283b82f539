// How calls become sets, over an operation that records them. The tests with real locks are in `races/`.
import { expect, test } from 'vitest'
import { onlyEvents, type Effects } from '../../../src/engine/kernel/effects.ts'
import { Merger, rowLocked } from '../../../src/engine/kernel/merge.ts'
import type { SetOperation } from '../../../src/engine/kernel/merge.ts'
import { around } from '../../../src/sql/around.ts'
import { setup } from '../../support/setup.ts'
import { record, echo, numbered, merged, sent } from './recorded-sets.ts'

test('calls made in one turn share a set, and later calls form the next', async () => {
  const recorded = record(echo)
  const merger = await merged(recorded)
  const first = [merger.one('a'), merger.one('b')]
  await Promise.resolve()
  const second = [merger.one('c'), merger.one('d')]
  expect(await Promise.all([...first, ...second])).toEqual(['did a', 'did b', 'did c', 'did d'])
  expect(recorded.sets).toEqual([
    ['a', 'b'],
    ['c', 'd'],
  ])
})

test('a set closes at its most items, and no item is lost or sent twice', async () => {
  const recorded = record(echo)
  const merger = await merged(recorded)
  const items = numbered(1201)
  expect(await Promise.all(items.map((item) => merger.one(item)))).toEqual(echo(items))
  expect(recorded.sets.flat()).toEqual(items)
  expect(Math.max(...recorded.sets.map((set) => set.length))).toBe(recorded.sets[0]!.length)
  expect([100, 500]).toContain(recorded.sets[0]!.length)
})

test('a set closes at 4 MiB, and one item that is larger is sent alone', async () => {
  const recorded = record(echo)
  const merger = await merged(recorded)
  await Promise.all(['large1', 'large2', 'small'].map((item) => merger.one(item)))
  expect(recorded.sets).toEqual([['large1'], ['large2', 'small']])
})

test('two items with one key never share a set, and keep their order', async () => {
  const recorded = record(echo)
  const merger = await merged(recorded)
  await Promise.all(['a:1', 'b', 'a:2', 'a:3', 'c'].map((item) => merger.one(item)))
  expect(recorded.sets).toEqual([['a:1', 'b', 'c'], ['a:2'], ['a:3']])
})

test('a thousand calls for one key delay no other, and the merger checks each of them once', async () => {
  const recorded = record(echo)
  const { sql } = await setup()
  let reads = 0
  const keyOf = (item: string): string => {
    reads += 1
    return recorded.operation.keyOf(item)
  }
  const merger = new Merger(sql, { ...recorded.operation, keyOf }, () => {})
  const items = [...Array.from({ length: 1000 }, (_, index) => `hot:${index}`), 'other']
  expect(await Promise.all(items.map((item) => merger.one(item)))).toEqual(echo(items))
  expect(recorded.sets[0]).toEqual(['hot:0', 'other'])
  expect(recorded.sets.flat().filter((item) => item !== 'other')).toEqual(items.slice(0, -1))
  expect(reads).toBe(items.length)
})

test('a full set is sent beside another, up to the first item that needs a row of that one', async () => {
  const { sql } = await setup()
  const { operation, sets, finish } = gated()
  const merger = new Merger({ ...around(sql, (ask) => ask()), kind: 'postgres' }, operation, () => {})
  const answers = (items: readonly string[]) => Promise.all(items.map((item) => merger.one(item)))
  const [first, second] = [['hot:1', ...cold(0, 499)], cold(499, 500)]
  const answered = answers([...first, ...second, 'hot:2', ...cold(999, 600)])
  await expect.poll(() => sets).toEqual([first, second])
  finish(1)
  await expect.poll(() => sets.length).toBe(2)
  finish(0)
  await expect.poll(() => sets).toEqual([first, second, ['hot:2', ...cold(999, 499)]])
  finish(2)
  await expect.poll(() => sets).toHaveLength(4)
  finish(3)
  expect(await answered).toHaveLength(1601)
})

test('a set that is not full waits, though its rows are free', async () => {
  const { sql } = await setup()
  const { operation, sets, finish } = gated()
  const merger = new Merger({ ...around(sql, (ask) => ask()), kind: 'postgres' }, operation, () => {})
  const first = ['hot:1', ...cold(0, 499)]
  const answered = Promise.all([...first, ...cold(499, 499), 'hot:2'].map((item) => merger.one(item)))
  await expect.poll(() => sets).toEqual([first])
  finish(0)
  await expect.poll(() => sets).toEqual([first, [...cold(499, 499), 'hot:2']])
  finish(1)
  await answered
})

test('the effects of a set are published once, after its commit and before its callers continue', async () => {
  const { sql } = await setup()
  const order: string[] = []
  const effects: Effects = { readyQueueIds: [7] }
  const operation: SetOperation<string, string> = {
    keyOf: (item) => item,
    async send(items) {
      order.push('sent')
      return { outcomes: items.map((item) => (item === 'locked' ? rowLocked : item)), effects }
    },
    sendAlone: async (item) => ({ outcomes: [item], effects: onlyEvents }),
  }
  const published: Effects[] = []
  const merger = new Merger(sql, operation, (one) => {
    published.push(one)
    order.push('published')
  })
  await Promise.all(['a', 'b'].map((item) => merger.one(item).then(() => order.push(item))))
  expect(order).toEqual(['sent', 'published', 'a', 'b'])
  await merger.one('locked')
  expect(published).toEqual([effects, effects, onlyEvents])
})

const cold = (from: number, count: number) => Array.from({ length: count }, (_, index) => `cold${from + index}:1`)

/** Sets in progress until the test finishes them. Items that share the part before a colon need the same row. */
function gated() {
  const sets: string[][] = []
  const gates: (() => void)[] = []
  const operation: SetOperation<string, string> = {
    keyOf: (item) => item,
    rowOf: (item) => item.split(':')[0]!,
    async send(items) {
      sets.push([...items])
      await new Promise<void>((resolve) => gates.push(resolve))
      return sent(echo(items))
    },
    sendAlone: async () => sent([rowLocked]),
  }
  return { operation, sets, finish: (index: number) => gates[index]!() }
}
