// The contract of `Sql`, on both adapters.
import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { DatabaseError } from '../../src/sql/errors.ts'
import { call, type Sql } from '../../src/sql/sql.ts'
import { statement } from '../../src/sql/statement.ts'
import { newGate, until } from './fixture.ts'
import { ECHO, SAMPLE } from './sample.ts'
import { COUNT, DIVIDE, INSERT, NOTIFY, ONE, openThings, type Things } from './things.ts'

describe.each(['embedded', 'postgres'] as const)('%s', (kind) => {
  let things: Things
  let sql: Sql

  beforeAll(async () => {
    things = await openThings(kind)
    sql = things.sql
  })
  afterAll(() => things.end())

  const count = async (): Promise<number> => (await sql.query(COUNT, {}))[0]!.count

  test('values return unchanged, in plain JavaScript types', async () => {
    const [row] = await sql.query(ECHO, SAMPLE)
    expect(row).toStrictEqual(SAMPLE)
    expect(Object.getPrototypeOf(row!.bytea)).toBe(Uint8Array.prototype)
  })

  test('empty arrays return empty', async () => {
    const empty = { texts: [], uuids: [], int8s: [], bools: [], floats: [], byteas: [], jsonbs: [], instants: [] }
    const [row] = await sql.query(ECHO, { ...SAMPLE, ...empty })
    expect(row).toMatchObject(empty)
  })

  test('an enum returns as its word', async () => {
    const [row] = await sql.query(INSERT, { ids: [100], colour: 'red' })
    expect(row).toStrictEqual({ id: 100, colour: 'red' })
  })

  test('a megabyte of bytes returns whole', async () => {
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
    ['a value without a parameter', { extra: 1 }, 'test.echo: unknown parameter extra'],
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

  test('a pipeline returns the results of its calls in order', async () => {
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

  test('an error in the middle of a pipeline rolls all of it back and is the one that is thrown', async () => {
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

  test('a lock timeout of a pipeline applies to that pipeline only', async () => {
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

  test('a script runs any number of statements, and leaves no transaction open when it fails', async () => {
    await expect(sql.script('begin; select 1; select 1 / 0; commit')).rejects.toMatchObject({ code: '22012' })
    expect(await sql.query(ONE, {})).toEqual([{ one: 1 }])
  })

  test('a hint arrives on its channel after the commit, and not after a rollback', async () => {
    const channel = `Channel "${randomUUID()}"`
    const received: (string | null)[] = []
    const stop = await sql.listen(channel, (payload) => received.push(payload))
    expect(received).toEqual([null])
    await sql
      .transaction(async (tx) => {
        await tx.query(NOTIFY, { channel, payload: 'undone' })
        throw new Error('undo')
      })
      .catch(() => {})
    await sql.pipeline([call(NOTIFY, { channel: 'another', payload: 'x' }), call(NOTIFY, { channel, payload: 'done' })])
    await until(() => received.length > 1)
    expect(received).toEqual([null, 'done'])
    await stop()
    await sql.query(NOTIFY, { channel, payload: 'late' })
    expect(received).toEqual([null, 'done'])
  })

  test('two listeners of one channel both receive hints, and one continues when the other stops', async () => {
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

  test('a handler that throws does not silence the others, and is logged', async () => {
    const channel = randomUUID()
    const received: (string | null)[] = []
    const stopFirst = await sql.listen(channel, (payload) => {
      throw new Error(`clumsy ${payload}`)
    })
    const stopSecond = await sql.listen(channel, (payload) => received.push(payload))
    await sql.query(NOTIFY, { channel, payload: 'still here' })
    await until(() => received.includes('still here'))
    expect(things.notes.warnings).toEqual([
      expect.stringContaining('clumsy null'),
      expect.stringContaining('clumsy still here'),
    ])
    await stopFirst()
    await stopSecond()
  })

  test('one function passed twice is two listeners, and a stop ends one of them', async () => {
    const channel = randomUUID()
    const received: string[] = []
    const hear = (payload: string | null): void => void (payload !== null && received.push(payload))
    const [stopFirst, stopSecond] = [await sql.listen(channel, hear), await sql.listen(channel, hear)]
    await stopFirst()
    await stopFirst()
    await sql.query(NOTIFY, { channel, payload: 'one' })
    await until(() => received.length > 0)
    expect(received).toEqual(['one'])
    await stopSecond()
  })

  test.runIf(kind === 'embedded')(
    'the last stop of a channel ends the listening, also inside a transaction',
    async () => {
      const listening = statement({
        name: 'test.listening',
        params: {},
        row: { channel: 'text' },
        text: 'select pg_listening_channels() as channel',
      })
      const channel = randomUUID()
      const stops = [await sql.listen(channel, () => {}), await sql.listen(channel, () => {})]
      await stops[0]!()
      expect(await sql.query(listening, {})).toContainEqual({ channel })
      await sql.transaction(() => stops[1]!())
      expect(await sql.query(listening, {})).not.toContainEqual({ channel })
    },
  )

  test('statements that were prepared before survive a migration that changes a result type', async () => {
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

  test('a close waits for calls in progress, and so does a second one', async () => {
    const own = await things.another()
    const gate = newGate()
    const endings: string[] = []
    const close = async (): Promise<void> => {
      await own.close()
      endings.push('closed')
    }
    const asked = Array.from({ length: 10 }, () => own.query(ONE, {}))
    const work = own.transaction(async (tx) => {
      await gate.opened
      await expect(own.close()).rejects.toMatchObject({ reason: 'nested_query' })
      await tx.query(ONE, {})
      endings.push('worked')
    })
    const closes = [close(), close()]
    expect(await Promise.all(asked)).toHaveLength(10)
    gate.open()
    await Promise.all([work, ...closes])
    expect(endings).toEqual(['worked', 'closed', 'closed'])
  })

  test('after close every use is refused, and a second close does nothing', async () => {
    const own = await things.another()
    await own.close()
    await own.close()
    await expect(own.query(ONE, {})).rejects.toThrow(DatabaseError)
    await expect(own.query(ONE, {})).rejects.toMatchObject({ reason: 'closed' })
    await expect(own.transaction(async () => {})).rejects.toMatchObject({ reason: 'closed' })
  })
})
