// A transaction with a decision in this process, on both adapters.
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { call, type Sql } from '../../src/sql/sql.ts'
import { statement } from '../../src/sql/statement.ts'
import { COUNT, DIVIDE, INSERT, ONE, openThings, type Things } from './things.ts'

const LOCK = statement({
  name: 'test.lock',
  params: { id: 'int8' },
  row: { id: 'int8' },
  text: 'select id from flowfabric.thing where id = $1 for no key update',
})

describe.each(['embedded', 'postgres'] as const)('%s', (kind) => {
  let things: Things
  let sql: Sql

  beforeAll(async () => {
    things = await openThings(kind)
    sql = things.sql
  })
  afterAll(() => things.end())

  const count = async (): Promise<number> => (await sql.query(COUNT, {}))[0]!.count

  test('a decision turns rows that were read into writes, in one transaction', async () => {
    const before = await count()
    const [inserted] = await sql.decide([call(COUNT, {}), call(ONE, {})], ([[counted], [one]]) => [
      call(INSERT, { ids: [100 + counted!.count, 200 + one!.one], colour: 'red' }),
    ])
    expect(inserted.map((row) => row.id)).toEqual([100 + before, 201])
    expect(await count()).toBe(before + 2)
  })

  test('a decision with nothing to write ends the transaction', async () => {
    expect(await sql.decide([call(ONE, {})], () => [])).toEqual([])
    expect(await sql.query(ONE, {})).toEqual([{ one: 1 }])
  })

  test('a read that fails is thrown before the decision runs', async () => {
    let isAsked = false
    const work = sql.decide([call(INSERT, { ids: [300], colour: 'red' }), call(DIVIDE, { by: 0 })], () => {
      isAsked = true
      return []
    })
    await expect(work).rejects.toMatchObject({ code: '22012' })
    expect(isAsked).toBe(false)
    expect(await sql.query(LOCK, { id: 300 })).toEqual([])
  })

  test('an error of the decision rolls the reads back', async () => {
    const wrong = new Error('changed my mind')
    const work = sql.decide([call(INSERT, { ids: [400], colour: 'red' })], () => {
      throw wrong
    })
    await expect(work).rejects.toBe(wrong)
    expect(await sql.query(LOCK, { id: 400 })).toEqual([])
  })

  test('a write that fails rolls everything back', async () => {
    const work = sql.decide([call(INSERT, { ids: [500], colour: 'red' })], () => [
      call(INSERT, { ids: [501], colour: 'red' }),
      call(DIVIDE, { by: 0 }),
    ])
    await expect(work).rejects.toMatchObject({ code: '22012' })
    expect(await sql.query(LOCK, { id: 500 })).toEqual([])
    expect(await sql.query(LOCK, { id: 501 })).toEqual([])
  })

  // The embedded database has one connection, so no other session can hold the lock.
  if (kind === 'embedded') return
  test('a decision waits for a lock no longer than its limit', async () => {
    await sql.query(INSERT, { ids: [600], colour: 'red' })
    const other = await things.another()
    await sql.transaction(async (tx) => {
      await tx.query(LOCK, { id: 600 })
      const work = other.decide([call(LOCK, { id: 600 })], () => [], { lockTimeoutMs: 10 })
      await expect(work).rejects.toMatchObject({ code: '55P03' })
    })
    await other.close()
  })
})
