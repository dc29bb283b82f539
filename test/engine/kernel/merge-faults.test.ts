// A merger with sets that are refused, lost or blocked by locks, over an operation that records them.
import { expect, test } from 'vitest'
import { Merger, rowLocked } from '../../../src/engine/kernel/merge.ts'
import type { Outcome } from '../../../src/engine/kernel/merge.ts'
import { EngineError } from '../../../src/model/errors.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { record, echo, numbered, sqlError, merged, sent } from './recorded-sets.ts'

test.each(['22001', '23502', '55P03'])(
  'a set that fails with %s is halved until the bad item is alone',
  async (code) => {
    const recorded = record((items) => {
      if (items.includes('i13')) throw sqlError(code)
      return echo(items)
    })
    const merger = await merged(recorded)
    const settled = await Promise.allSettled(numbered(64).map((item) => merger.one(item)))
    expect(settled.filter((outcome) => outcome.status === 'fulfilled')).toHaveLength(63)
    expect(settled[13]).toMatchObject({
      status: 'rejected',
      reason: { code: code === '55P03' ? 'contended' : 'database_error' },
    })
    expect(recorded.sets.at(-1)!.length).toBeLessThan(64)
    // Each level of halving sends the bad half once more and the good half once.
    expect(recorded.sets.length).toBe(13)
  },
)

test("an item's own refusal reaches its caller alone", async () => {
  const recorded = record((items) =>
    items.map((item) => (item === 'b' ? new EngineError('execution_not_found', 'no b') : item)),
  )
  const merger = await merged(recorded)
  const [a, b] = [merger.one('a'), merger.one('b')]
  await refusal('execution_not_found', b)
  expect(await a).toBe('a')
})

test('a set whose reply was lost is sent again with the same items, and the operation knows that it is a repeat', async () => {
  const recorded = record((items, sent) => {
    if (sent <= 2) throw sqlError('57P01')
    return echo(items)
  })
  const merger = await merged(recorded)
  expect(await Promise.all([merger.one('a'), merger.one('b')])).toEqual(['did a', 'did b'])
  expect(recorded.sets).toEqual([
    ['a', 'b'],
    ['a', 'b'],
    ['a', 'b'],
  ])
  expect(recorded.again).toEqual([false, true, true])
})

test('after four tries the merger gives up on a database that stays away', async () => {
  const recorded = record(() => {
    throw sqlError('57P01')
  })
  const merger = await merged(recorded)
  const [a, b] = [merger.one('a'), merger.one('b')]
  const error = await refusal('database_unreachable', a)
  await refusal('database_unreachable', b)
  expect(error.retryable).toBe(true)
  expect(recorded.sets).toHaveLength(4)
})

test('FAULT-03 lost races are retried, then contended; other refusals are returned unchanged', async () => {
  const { sql } = await setup()
  for (const [code, expected, sends] of [
    ['40001', 'contended', 4],
    ['40P01', 'contended', 4],
    ['23505', 'database_error', 4],
    ['42P01', 'schema_missing', 1],
    ['42501', 'database_right_missing', 1],
    ['XX000', 'database_error', 1],
  ] as const) {
    const recorded = record(() => {
      throw sqlError(code)
    })
    const merger = new Merger(sql, recorded.operation, () => {})
    const error = await refusal(expected, merger.one('a'))
    expect(error.retryable, code).toBe(expected === 'contended')
    expect(recorded.sets, code).toHaveLength(sends)
    expect(recorded.again, code).not.toContain(true)
  }
})

test('an error that is no answer of the database is returned too', async () => {
  const recorded = record(() => {
    throw new TypeError('a fault of ours')
  })
  const merger = await merged(recorded)
  const error = await refusal('internal_error', merger.one('a'))
  expect(error.cause).toBeInstanceOf(TypeError)
})

test('the merger continues after a set that failed', async () => {
  const recorded = record((items, sent) => {
    if (sent === 1) throw sqlError('XX000')
    return echo(items)
  })
  const merger = await merged(recorded)
  await refusal('database_error', merger.one('a'))
  expect(await merger.one('a')).toBe('did a')
})

test('a locked item is sent again alone, and delays no other', async () => {
  const recorded = record((items) => items.map((item) => (item === 'held' ? rowLocked : item)))
  let letGo: (answer: Outcome<string>) => void = () => {}
  const alone = new Promise<Outcome<string>>((resolve) => (letGo = resolve))
  const { sql } = await setup()
  const merger = new Merger(sql, { ...recorded.operation, sendAlone: async () => sent([await alone]) }, () => {})
  const waits = merger.one('held')
  expect(await merger.one('a')).toBe('a')
  expect(await merger.one('b')).toBe('b')
  letGo('late')
  expect(await waits).toBe('late')
})

test('an item that timed out on a lock in its set is sent again alone', async () => {
  const recorded = record((items) => {
    if (items.includes('b')) throw sqlError('55P03')
    return echo(items)
  })
  const { sql } = await setup()
  const merger = new Merger(
    sql,
    { ...recorded.operation, sendAlone: async (item) => sent([`alone ${item}`]) },
    () => {},
  )
  expect(await Promise.all(['a', 'b', 'c'].map((item) => merger.one(item)))).toEqual(['did a', 'alone b', 'did c'])
})

test('an item that stays locked is contended', async () => {
  const recorded = record((items) => items.map(() => rowLocked))
  const { sql } = await setup()
  const timesOut = new Merger(
    sql,
    { ...recorded.operation, sendAlone: () => Promise.reject(sqlError('55P03')) },
    () => {},
  )
  expect((await refusal('contended', timesOut.one('a'))).retryable).toBe(true)
  const stillHeld = new Merger(sql, { ...recorded.operation, sendAlone: async () => sent([rowLocked]) }, () => {})
  await refusal('contended', stillHeld.one('a'))
})

test('locked items are sent one after the other, each with the remainder of its patience', async () => {
  const recorded = record((items) => items.map(() => rowLocked))
  const { sql } = await setup()
  let atOnce = 0
  let most = 0
  const patience: number[] = []
  const sendAlone = async (item: string, _again: boolean, lockTimeoutMs: number) => {
    patience.push(lockTimeoutMs)
    atOnce += 1
    most = Math.max(most, atOnce)
    await new Promise((resolve) => setImmediate(resolve))
    atOnce -= 1
    return sent([`alone ${item}`])
  }
  const merger = new Merger(sql, { ...recorded.operation, sendAlone }, () => {})
  const items = numbered(20)
  expect(await Promise.all(items.map((item) => merger.one(item)))).toEqual(items.map((item) => `alone ${item}`))
  expect(most).toBe(1)
  expect(patience.every((ms) => ms >= 1 && ms <= 2000)).toBe(true)
})

test('the halves of a set and an item that is sent alone still know that a reply was lost', async () => {
  const recorded = record((items, sent) => {
    if (sent === 1) throw sqlError('57P01')
    if (items.includes('b')) throw sqlError('55P03')
    return echo(items)
  })
  const { sql } = await setup()
  const alone: boolean[] = []
  const sendAlone = async (item: string, again: boolean) => {
    alone.push(again)
    return sent([`alone ${item}`])
  }
  const merger = new Merger(sql, { ...recorded.operation, sendAlone }, () => {})
  expect(await Promise.all(['a', 'b'].map((item) => merger.one(item)))).toEqual(['did a', 'alone b'])
  expect(recorded.again).toEqual([false, true, true, true])
  expect(alone).toEqual([true])
})
