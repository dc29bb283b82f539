// Transactions, on both adapters.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { call, type Sql } from '../../src/sql/sql.ts'
import { newGate } from './fixture.ts'
import { COUNT, DIVIDE, INSERT, ONE, openThings, type Things } from './things.ts'

describe.each(['embedded', 'postgres'] as const)('%s', (kind) => {
  let things: Things
  let sql: Sql

  beforeAll(async () => {
    things = await openThings(kind)
    sql = things.sql
  })
  afterAll(() => things.end())

  const count = async (): Promise<number> => (await sql.query(COUNT, {}))[0]!.count

  test('a transaction commits when its function resolves', async () => {
    const before = await count()
    const seen = await sql.transaction(async (tx) => {
      await tx.query(INSERT, { ids: [20, 21], colour: 'red' })
      return tx.query(COUNT, {})
    })
    expect(seen).toEqual([{ count: before + 2 }])
    expect(await count()).toBe(before + 2)
  })

  test('a transaction rolls back when its function throws, and throws that error', async () => {
    const before = await count()
    const wrong = new Error('changed my mind')
    const work = sql.transaction(async (tx) => {
      await tx.query(INSERT, { ids: [30], colour: 'red' })
      throw wrong
    })
    await expect(work).rejects.toBe(wrong)
    expect(await count()).toBe(before)
  })

  test('queries sent together inside a transaction return their results in order', async () => {
    const answers = await sql.transaction((tx) =>
      Promise.all([tx.query(ONE, {}), tx.query(DIVIDE, { by: 1 }), tx.query(COUNT, {})]),
    )
    expect(answers.map((rows) => rows.length)).toEqual([1, 1, 1])
  })

  test('a failing query rolls back all queries that were sent together with it inside a transaction', async () => {
    const before = await count()
    const ids = Array.from({ length: 20 }, (_, index) => 1000 + index)
    let others: Promise<PromiseSettledResult<unknown>[]> | undefined
    const work = sql.transaction(async (tx) => {
      const bad = tx.query(DIVIDE, { by: 0 })
      const inserts = ids.map((id) => tx.query(INSERT, { ids: [id], colour: 'red' }))
      const script = tx.script(`insert into flowfabric.thing values (1100, 'red')`)
      others = Promise.allSettled([...inserts, script])
      await bad
    })
    await expect(work).rejects.toMatchObject({ code: '22012' })
    const outcomes = await others
    expect(outcomes!.map((outcome) => outcome.status)).toEqual(Array.from({ length: 21 }, () => 'rejected'))
    expect(await count()).toBe(before)
  })

  test('a query of a transaction that is not awaited never runs outside of it', async () => {
    const before = await count()
    const late: Promise<unknown>[] = []
    const work = sql.transaction(async (tx) => {
      for (const id of [1200, 1201, 1202]) late.push(tx.query(INSERT, { ids: [id], colour: 'red' }))
      throw new Error('changed my mind')
    })
    await expect(work).rejects.toThrow('changed my mind')
    await Promise.allSettled(late)
    expect(await count()).toBe(before)
  })

  test('a transaction that hides a failed statement is not reported as committed', async () => {
    const work = sql.transaction(async (tx) => {
      await tx.query(INSERT, { ids: [40], colour: 'red' })
      await tx.query(DIVIDE, { by: 0 }).catch(() => {})
    })
    await expect(work).rejects.toMatchObject({ reason: 'rolled_back' })
  })

  test('the root handle is refused inside its transaction, in every way to use it', async () => {
    await sql.transaction(async (tx) => {
      const uses = [
        () => sql.query(ONE, {}),
        () => sql.pipeline([call(ONE, {})]),
        () => sql.decide([], () => []),
        () => sql.script('select 1'),
        () => sql.transaction(async () => {}),
        () => sql.listen('x', () => {}),
        () => sql.close(),
      ]
      for (const use of uses) await expect(use()).rejects.toMatchObject({ reason: 'nested_query' })
      expect(await tx.query(ONE, {})).toEqual([{ one: 1 }])
    })
  })

  test('the root handle works again after a transaction, also for code that the transaction started', async () => {
    const gate = newGate()
    const late = await sql.transaction(async () => ({ answer: gate.opened.then(() => sql.query(ONE, {})) }))
    gate.open()
    expect(await late.answer).toEqual([{ one: 1 }])
  })

  test('the handle of a transaction is refused after its end', async () => {
    const tx = await sql.transaction(async (inside) => ({ handle: inside }))
    await expect(tx.handle.query(ONE, {})).rejects.toMatchObject({ reason: 'closed' })
    await expect(tx.handle.script('select 1')).rejects.toMatchObject({ reason: 'closed' })
  })
})
