// The merger by itself, over an operation that records its sets. What it does with real locks is in `races/`.
import { expect, test } from 'vitest'
import { Merger, held } from '../../src/engine/merge.ts'
import type { Outcome, SetOperation } from '../../src/engine/merge.ts'
import { EngineError } from '../../src/model/errors.ts'
import { around } from '../../src/sql/around.ts'
import { refusal } from '../support/refusal.ts'
import { setup } from '../support/setup.ts'

interface Recorded {
  readonly sets: string[][]
  readonly again: boolean[]
  /** Lets the sets go that wait; without a call, each goes at once. */
  readonly operation: SetOperation<string, string>
}

/** Items that share the part before a colon share a key. */
function record(answer: (items: readonly string[], sent: number) => readonly Outcome<string>[]): Recorded {
  const sets: string[][] = []
  const again: boolean[] = []
  return {
    sets,
    again,
    operation: {
      keyOf: (item) => item.split(':')[0]!,
      bytesOf: (item) => (item.startsWith('large') ? 3 * 1024 * 1024 : 1),
      async send(items, isAgain) {
        sets.push([...items])
        again.push(isAgain)
        await Promise.resolve()
        return answer(items, sets.length)
      },
      sendAlone: async () => held,
    },
  }
}

const echo = (items: readonly string[]) => items.map((item) => `did ${item}`)
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `i${index}`)

function sqlError(code: string, fields: object = {}): Error {
  return Object.assign(new Error(`refused with ${code}`), { code, severity: 'ERROR', ...fields })
}

async function merged(recorded: Recorded): Promise<Merger<string, string>> {
  const { sql } = await setup()
  return new Merger(sql, recorded.operation)
}

test('calls made in one go share a set, and calls made meanwhile form the next', async () => {
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

test('a set closes at 4 MiB, and one item that is larger goes alone', async () => {
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

test('a thousand calls for one key hold up nobody, and each is looked at once', async () => {
  const recorded = record(echo)
  const { sql } = await setup()
  let looks = 0
  const keyOf = (item: string): string => {
    looks += 1
    return recorded.operation.keyOf(item)
  }
  const merger = new Merger(sql, { ...recorded.operation, keyOf })
  const items = [...Array.from({ length: 1000 }, (_, index) => `hot:${index}`), 'other']
  expect(await Promise.all(items.map((item) => merger.one(item)))).toEqual(echo(items))
  expect(recorded.sets[0]).toEqual(['hot:0', 'other'])
  expect(recorded.sets.flat().filter((item) => item !== 'other')).toEqual(items.slice(0, -1))
  expect(looks).toBe(items.length)
})

test('a full set goes beside another, up to the first item that needs a row of that one', async () => {
  const { sql } = await setup()
  const { operation, sets, finish } = gated()
  const merger = new Merger({ ...around(sql, (ask) => ask()), kind: 'postgres' }, operation)
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
  const merger = new Merger({ ...around(sql, (ask) => ask()), kind: 'postgres' }, operation)
  const first = ['hot:1', ...cold(0, 499)]
  const answered = Promise.all([...first, ...cold(499, 499), 'hot:2'].map((item) => merger.one(item)))
  await expect.poll(() => sets).toEqual([first])
  finish(0)
  await expect.poll(() => sets).toEqual([first, [...cold(499, 499), 'hot:2']])
  finish(1)
  await answered
})

const cold = (from: number, count: number) => Array.from({ length: count }, (_, index) => `cold${from + index}:1`)

/** Sets that are under way until they are finished. Items that share the part before a colon need the same row. */
function gated() {
  const sets: string[][] = []
  const gates: (() => void)[] = []
  const operation: SetOperation<string, string> = {
    keyOf: (item) => item,
    rowOf: (item) => item.split(':')[0]!,
    async send(items) {
      sets.push([...items])
      await new Promise<void>((resolve) => gates.push(resolve))
      return echo(items)
    },
    sendAlone: async () => held,
  }
  return { operation, sets, finish: (index: number) => gates[index]!() }
}

test.each(['22001', '23502', '55P03'])(
  'a set that fails with %s is halved until the bad item stands alone',
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

test('a set whose reply was lost is sent again with the same items, and told that it is', async () => {
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

test('a database that stays away is given up on after four tries', async () => {
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

test('FAULT-03 lost races are tried again, then contended; other refusals are told as they are', async () => {
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
    const merger = new Merger(sql, recorded.operation)
    const error = await refusal(expected, merger.one('a'))
    expect(error.retryable, code).toBe(expected === 'contended')
    expect(recorded.sets, code).toHaveLength(sends)
    expect(recorded.again, code).not.toContain(true)
  }
})

test('an error that is no answer of the database is told too', async () => {
  const recorded = record(() => {
    throw new TypeError('a fault of ours')
  })
  const merger = await merged(recorded)
  const error = await refusal('internal_error', merger.one('a'))
  expect(error.cause).toBeInstanceOf(TypeError)
})

test('the merger goes on after a set that failed', async () => {
  const recorded = record((items, sent) => {
    if (sent === 1) throw sqlError('XX000')
    return echo(items)
  })
  const merger = await merged(recorded)
  await refusal('database_error', merger.one('a'))
  expect(await merger.one('a')).toBe('did a')
})

test('what was held is sent again alone, and holds up nobody', async () => {
  const recorded = record((items) => items.map((item) => (item === 'held' ? held : item)))
  let letGo: (answer: Outcome<string>) => void = () => {}
  const alone = new Promise<Outcome<string>>((resolve) => (letGo = resolve))
  const { sql } = await setup()
  const merger = new Merger(sql, { ...recorded.operation, sendAlone: () => alone })
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
  const merger = new Merger(sql, { ...recorded.operation, sendAlone: async (item) => `alone ${item}` })
  expect(await Promise.all(['a', 'b', 'c'].map((item) => merger.one(item)))).toEqual(['did a', 'alone b', 'did c'])
})

test('what stays held is contended', async () => {
  const recorded = record((items) => items.map(() => held))
  const { sql } = await setup()
  const timesOut = new Merger(sql, { ...recorded.operation, sendAlone: () => Promise.reject(sqlError('55P03')) })
  expect((await refusal('contended', timesOut.one('a'))).retryable).toBe(true)
  const stillHeld = new Merger(sql, { ...recorded.operation, sendAlone: async () => held })
  await refusal('contended', stillHeld.one('a'))
})

test('held items go one after the other, each with what is left of its patience', async () => {
  const recorded = record((items) => items.map(() => held))
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
    return `alone ${item}`
  }
  const merger = new Merger(sql, { ...recorded.operation, sendAlone })
  const items = numbered(20)
  expect(await Promise.all(items.map((item) => merger.one(item)))).toEqual(items.map((item) => `alone ${item}`))
  expect(most).toBe(1)
  expect(patience.every((ms) => ms >= 1 && ms <= 2000)).toBe(true)
})

test('that a reply was lost is remembered by the halves of a set and by an item that goes alone', async () => {
  const recorded = record((items, sent) => {
    if (sent === 1) throw sqlError('57P01')
    if (items.includes('b')) throw sqlError('55P03')
    return echo(items)
  })
  const { sql } = await setup()
  const alone: boolean[] = []
  const sendAlone = async (item: string, again: boolean) => {
    alone.push(again)
    return `alone ${item}`
  }
  const merger = new Merger(sql, { ...recorded.operation, sendAlone })
  expect(await Promise.all(['a', 'b'].map((item) => merger.one(item)))).toEqual(['did a', 'alone b'])
  expect(recorded.again).toEqual([false, true, true, true])
  expect(alone).toEqual([true])
})
