// The contract of `Sql`, on both adapters.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest'
import { DatabaseError } from '../../src/sql/errors.ts'
import { openEmbedded } from '../../src/sql/pglite.ts'
import { openPostgres } from '../../src/sql/postgres.ts'
import { call, type Sql } from '../../src/sql/sql.ts'
import { oneOf, statement } from '../../src/sql/statement.ts'
import { createDatabase, type Database } from '../support/database.ts'
import { until } from './fixture.ts'
import { ECHO, SAMPLE } from './sample.ts'

const ONE = statement({ name: 'test.one', params: {}, row: { one: 'int4' }, text: 'select 1 as one' })
const DIVIDE = statement({
  name: 'test.divide',
  params: { by: 'int4' },
  row: { result: 'int4' },
  text: 'select 1 / $1::int4 as result',
})
const INSERT = statement({
  name: 'test.insert',
  params: { ids: 'int8[]', colour: 'text' },
  row: { id: 'int8', colour: oneOf<'red' | 'green'>() },
  text: `
insert into flowfabric.thing (id, colour)
select id, $2::flowfabric.colour from unnest($1::int8[]) as given (id)
returning id, colour`,
})
const COUNT = statement({
  name: 'test.count',
  params: {},
  row: { count: 'int8' },
  text: 'select count(*) as count from flowfabric.thing',
})
const NOTIFY = statement({
  name: 'test.notify',
  params: { channel: 'text', payload: 'text' },
  row: { done: 'bool' },
  text: 'select pg_notify($1, $2) is not null as done',
})

// A schema whose name needs every kind of care, so that each of these tests also is one of the swap.
const SCHEMA = `Odd "schema" isn't flowfabric.x`

describe.each(['embedded', 'postgres'] as const)('%s', (kind) => {
  let database: Database | undefined
  let sql: Sql

  beforeAll(async () => {
    if (kind === 'embedded') {
      sql = await openEmbedded({ directory: null, schema: SCHEMA })
    } else {
      database = await createDatabase(inject('postgres').url)
      sql = await openPostgres({ url: database.url, schema: SCHEMA })
    }
    await sql.script(`
      create schema "${SCHEMA.replaceAll('"', '""')}";
      create type flowfabric.colour as enum ('red', 'green');
      create table flowfabric.thing (id bigint primary key, colour flowfabric.colour not null)`)
  }, 30_000)

  afterAll(async () => {
    await sql.close()
    await database?.drop()
  })

  const count = async (): Promise<number> => (await sql.query(COUNT, {}))[0]!.count

  test('values come back as they went, in plain JavaScript types', async () => {
    const [row] = await sql.query(ECHO, SAMPLE)
    expect(row).toStrictEqual(SAMPLE)
    expect(Object.getPrototypeOf(row!.bytea)).toBe(Uint8Array.prototype)
  })

  test('empty arrays come back empty', async () => {
    const empty = { texts: [], uuids: [], int8s: [], bools: [], floats: [], byteas: [], jsonbs: [], instants: [] }
    const [row] = await sql.query(ECHO, { ...SAMPLE, ...empty })
    expect(row).toMatchObject(empty)
  })

  test('an enum comes back as its word', async () => {
    const [row] = await sql.query(INSERT, { ids: [100], colour: 'red' })
    expect(row).toStrictEqual({ id: 100, colour: 'red' })
  })

  test('a megabyte of bytes comes back whole', async () => {
    const bytes = new Uint8Array(1 << 20).map((_, index) => index * 31)
    const [row] = await sql.query(ECHO, { ...SAMPLE, bytea: bytes, byteas: [bytes, null, bytes] })
    expect(Buffer.compare(row!.bytea, bytes)).toBe(0)
    expect(row!.byteas.map((found) => found?.length ?? null)).toEqual([bytes.length, null, bytes.length])
    expect(Buffer.compare(row!.byteas[2]!, bytes)).toBe(0)
  })

  test('an integer beyond 2^53 is an error, not another number', async () => {
    const big = statement({
      name: `test.big.${kind}`,
      params: {},
      row: { big: 'int8' },
      text: 'select 9007199254740993 as big',
    })
    await expect(sql.query(big, {})).rejects.toThrow('9007199254740993')
    expect(await sql.query(ONE, {})).toEqual([{ one: 1 }])
  })

  test.each([
    ['a string for an integer', { int4: '1' }, 'test.echo: int4 must be a safe integer, not a string'],
    ['a fraction for an integer', { int8: 1.5 }, 'test.echo: int8 must be a safe integer, not the number 1.5'],
    ['null where none is declared', { text: null }, 'test.echo: text must be a string, not null'],
    ['null inside an array without', { uuids: [null] }, 'test.echo: uuids must be an array of uuid without null'],
    ['no array for an array', { texts: 'x' }, 'test.echo: texts must be an array'],
    ['an invalid date', { timestamptz: new Date(Number.NaN) }, 'test.echo: timestamptz must be a valid Date'],
    ['a plain array for bytes', { bytea: [1] }, 'test.echo: bytea must be a Uint8Array, not an instance of Array'],
    ['nothing for JSON', { jsonb: undefined }, 'test.echo: jsonb must be a JSON value, not undefined'],
    ['a value that nobody asked for', { extra: 1 }, 'test.echo: there is no parameter extra'],
  ])('%s is a TypeError that names statement and parameter', async (_, wrong, message) => {
    await expect(sql.query(ECHO, { ...SAMPLE, ...wrong } as never)).rejects.toThrow(
      expect.objectContaining({ name: 'TypeError', message: expect.stringContaining(message) }),
    )
  })

  test('a text that is no uuid cannot become two elements of an array', async () => {
    const smuggled = '01900000-0000-7000-8000-000000000001,01900000-0000-7000-8000-000000000002'
    await expect(sql.query(ECHO, { ...SAMPLE, uuids: [smuggled] })).rejects.toMatchObject({ code: '22P02' })
  })

  test('an error of the server carries its SQLSTATE', async () => {
    await expect(sql.query(DIVIDE, { by: 0 })).rejects.toMatchObject({ code: '22012' })
  })

  test('a pipeline answers each call in order', async () => {
    const [first, second, third] = await sql.pipeline([
      call(INSERT, { ids: [1, 2], colour: 'green' }),
      call(ONE, {}),
      call(DIVIDE, { by: 1 }),
    ])
    expect(first.map((row) => row.id)).toEqual([1, 2])
    expect(second).toEqual([{ one: 1 }])
    expect(third).toEqual([{ result: 1 }])
  })

  test('an empty pipeline does nothing', async () => {
    expect(await sql.pipeline([])).toEqual([])
  })

  test('an error in the middle of a pipeline undoes all of it and is the one thrown', async () => {
    const before = await count()
    const calls = [
      call(INSERT, { ids: [10], colour: 'red' }),
      call(DIVIDE, { by: 0 }),
      call(INSERT, { ids: [11], colour: 'red' }),
    ]
    await expect(sql.pipeline(calls)).rejects.toMatchObject({ code: '22012' })
    expect(await count()).toBe(before)
  })

  test('a statement that failed in a pipeline works the next time', async () => {
    const late = statement({
      name: `test.late.${kind}`,
      params: { id: 'int8' },
      row: { id: 'int8' },
      text: 'select id from flowfabric.thing where id = $1',
    })
    await expect(sql.pipeline([call(DIVIDE, { by: 0 }), call(late, { id: 1 })])).rejects.toThrow()
    await expect(sql.pipeline([call(late, { id: 1 }), call(DIVIDE, { by: 0 })])).rejects.toThrow()
    await expect(sql.query(late, { id: -1 })).resolves.toEqual([])
  })

  test('a pipeline takes a lock timeout for itself alone', async () => {
    const shown = statement({
      name: `test.lock_timeout.${kind}`,
      params: {},
      row: { value: 'text' },
      text: `select current_setting('lock_timeout') as value`,
    })
    const [inside] = await sql.pipeline([call(shown, {})], { lockTimeoutMs: 250 })
    expect(inside).toEqual([{ value: '250ms' }])
    expect(await sql.query(shown, {})).toEqual([{ value: '0' }])
  })

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

  test('queries sent together inside a transaction are answered in order', async () => {
    const answers = await sql.transaction((tx) =>
      Promise.all([tx.query(ONE, {}), tx.query(DIVIDE, { by: 1 }), tx.query(COUNT, {})]),
    )
    expect(answers.map((rows) => rows.length)).toEqual([1, 1, 1])
  })

  test('a transaction that hides a failed statement is not taken for committed', async () => {
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
        () => sql.script('select 1'),
        () => sql.transaction(async () => {}),
        () => sql.listen('x', () => {}),
        () => sql.close(),
      ]
      for (const use of uses) await expect(use()).rejects.toMatchObject({ reason: 'nested_query' })
      expect(await tx.query(ONE, {})).toEqual([{ one: 1 }])
    })
  })

  test('the root handle is free again after a transaction, also for what the transaction started', async () => {
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

  test('a script runs any number of statements, and leaves no transaction open when it fails', async () => {
    await expect(sql.script('begin; select 1; select 1 / 0; commit')).rejects.toMatchObject({ code: '22012' })
    expect(await sql.query(ONE, {})).toEqual([{ one: 1 }])
  })

  test('a hint arrives on its channel after the commit, and not after a rollback', async () => {
    const channel = `Channel "${randomUUID()}"`
    const heard: (string | null)[] = []
    const stop = await sql.listen(channel, (payload) => heard.push(payload))
    expect(heard).toEqual([null])
    await sql
      .transaction(async (tx) => {
        await tx.query(NOTIFY, { channel, payload: 'undone' })
        throw new Error('undo')
      })
      .catch(() => {})
    await sql.pipeline([call(NOTIFY, { channel: 'another', payload: 'x' }), call(NOTIFY, { channel, payload: 'done' })])
    await until(() => heard.length > 1)
    expect(heard).toEqual([null, 'done'])
    await stop()
    await sql.query(NOTIFY, { channel, payload: 'late' })
    expect(heard).toEqual([null, 'done'])
  })

  test('two listeners of one channel both hear, and one goes on when the other stops', async () => {
    const channel = randomUUID()
    const [first, second]: [string[], string[]] = [[], []]
    const stopFirst = await sql.listen(channel, (payload) => payload !== null && first.push(payload))
    const stopSecond = await sql.listen(channel, (payload) => payload !== null && second.push(payload))
    await sql.query(NOTIFY, { channel, payload: 'both' })
    await until(() => first.length === 1 && second.length === 1)
    await stopFirst()
    await sql.query(NOTIFY, { channel, payload: 'one' })
    await until(() => second.length === 2)
    expect(first).toEqual(['both'])
    await stopSecond()
  })

  test('a change of a result type by a migration is survived by the statements that were prepared before', async () => {
    const all = statement({
      name: `test.all.${kind}`,
      params: {},
      row: { id: 'int8' },
      text: 'select * from flowfabric.shape',
    })
    await sql.script('create table flowfabric.shape (id bigint); insert into flowfabric.shape values (1)')
    for (let uses = 0; uses < 3; uses += 1) expect(await sql.query(all, {})).toEqual([{ id: 1 }])
    await sql.script(`alter table flowfabric.shape add more text default 'x'`)
    expect(await sql.query(all, {})).toEqual([{ id: 1, more: 'x' }])
    await sql.script(`alter table flowfabric.shape add most text default 'y'`)
    const [first, second] = await sql.pipeline([call(INSERT, { ids: [50], colour: 'red' }), call(all, {})])
    expect(first).toHaveLength(1)
    expect(second).toEqual([{ id: 1, more: 'x', most: 'y' }])
  })

  test('a close waits for what is under way', async () => {
    const own = kind === 'embedded' ? sql : await openPostgres({ url: database!.url, schema: SCHEMA })
    const asked = Array.from({ length: 10 }, () => own.query(ONE, {}))
    await own.close()
    expect(await Promise.all(asked)).toHaveLength(10)
  })

  test('after close every use is refused, and a second close does nothing', async () => {
    const own = kind === 'embedded' ? sql : await openPostgres({ url: database!.url, schema: SCHEMA })
    await own.close()
    await own.close()
    await expect(own.query(ONE, {})).rejects.toThrow(DatabaseError)
    await expect(own.query(ONE, {})).rejects.toMatchObject({ reason: 'closed' })
    await expect(own.transaction(async () => {})).rejects.toMatchObject({ reason: 'closed' })
  })
})

function newGate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open: () => open() }
}
