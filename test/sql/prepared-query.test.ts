// The messages for a prepared statement and how its answer is read, on a connection of pg's.
import { expect, onTestFinished, test, vi } from 'vitest'
import type { EncodedValue } from '../../src/sql/encode.ts'
import { queryPrepared as askSet } from '../../src/sql/postgres-pool.ts'
import { PreparationRefused, type Prepared } from '../../src/sql/prepare.ts'
import { leadsToPooler } from '../../src/sql/prepared-query.ts'
import { statement } from '../../src/sql/statement.ts'
import { TimelyClient } from '../../src/sql/timely-client.ts'
import { blankDatabase } from './fixture.ts'

const declared = statement({ name: 'test.of_prepared_query', params: {}, row: {}, text: 'select' })

function prepared(text: string, name: string | undefined = text): Prepared {
  return { statement: declared, text, name }
}

/** Runs one statement. */
async function queryPrepared(client: TimelyClient, one: Prepared, values: readonly EncodedValue[]): Promise<unknown> {
  const [rows] = await askSet(client, [{ prepared: one, values }]).catch((error: unknown) => {
    throw error instanceof PreparationRefused ? error.cause : error
  })
  return rows
}

async function connected({ pipeline = true } = {}) {
  const { url } = await blankDatabase()
  const client = new TimelyClient({ connectionString: url, pipeline })
  await client.connect()
  onTestFinished(() => client.end())
  const describe = vi.spyOn(client.connection, 'describe')
  return { client, askedCount: () => describe.mock.calls.length }
}

test.each([true, false])('columns are described once on a connection (pipeline: %s)', async (pipeline) => {
  const { client, askedCount } = await connected({ pipeline })
  const sum = prepared('select $1::int4 + 1 as sum, $2::bytea as bytes, null as nothing')
  const bytes = new Uint8Array([0, 255])
  for (const given of ['1', '2', '3']) {
    expect(await queryPrepared(client, sum, [given, bytes])).toEqual([{ sum: Number(given) + 1, bytes, nothing: null }])
  }
  expect(askedCount()).toBe(1)
})

test('the columns of a statement without a name are described each time', async () => {
  const { client, askedCount } = await connected()
  const unnamed = { ...prepared('select 1 as one'), name: undefined }
  expect(await queryPrepared(client, unnamed, [])).toEqual([{ one: 1 }])
  expect(await queryPrepared(client, unnamed, [])).toEqual([{ one: 1 }])
  expect(askedCount()).toBe(2)
})

test('a statement that returns no rows, and one whose rows have no columns, are described once as well', async () => {
  const { client, askedCount } = await connected()
  await client.query('create table thing (id int)')
  for (const given of ['1', '2']) {
    expect(await queryPrepared(client, prepared('insert into thing values ($1)'), [given])).toEqual([])
    expect(await queryPrepared(client, prepared('select from thing where id = $1'), [given])).toEqual([{}])
  }
  expect(askedCount()).toBe(2)
})

test('the same statement sent twice before its first answer is read correctly both times', async () => {
  const { client } = await connected()
  const one = prepared('select $1::text as given')
  const sent = [queryPrepared(client, one, ['a']), queryPrepared(client, one, ['b'])]
  expect(await Promise.all(sent)).toEqual([[{ given: 'a' }], [{ given: 'b' }]])
})

test('a value that cannot be read fails its own statement and none that was sent with it', async () => {
  const { client } = await connected()
  const large = prepared('select $1::int8 as number')
  const [tooLarge, small] = await Promise.allSettled([
    queryPrepared(client, large, ['9007199254740993']),
    queryPrepared(client, large, ['7']),
  ])
  expect(tooLarge).toMatchObject({ status: 'rejected', reason: expect.any(RangeError) })
  expect(small).toEqual({ status: 'fulfilled', value: [{ number: 7 }] })
})

test('a statement that the server refused succeeds when it is used again', async () => {
  const { client, askedCount } = await connected()
  const quotient = prepared('select 6 / $1::int4 as quotient')
  await expect(queryPrepared(client, quotient, ['0'])).rejects.toMatchObject({ code: '22012' })
  expect(await queryPrepared(client, quotient, ['2'])).toEqual([{ quotient: 3 }])
  expect(await queryPrepared(client, quotient, ['3'])).toEqual([{ quotient: 2 }])
  expect(askedCount()).toBeLessThanOrEqual(2)
})

test('a statement whose columns another connection has changed is refused, not misread', async () => {
  const { client } = await connected()
  await client.query('create table thing as select 1 as id')
  const all = prepared('select * from thing')
  expect(await queryPrepared(client, all, [])).toEqual([{ id: 1 }])
  await client.query(`alter table thing alter id type text using 'it is ' || id`)
  await expect(queryPrepared(client, all, [])).rejects.toMatchObject({ code: '0A000' })
  expect(await queryPrepared(client, prepared('select * from thing', 'again'), [])).toEqual([{ id: 'it is 1' }])
})

// As if a pooler prepared it on another connection of its server, which has seen the change.
const preparedAnew = `alter table thing add column name text default 'x';
  deallocate "select * from thing";
  prepare "select * from thing" as select * from thing`

test('behind a pooler columns are described each time, because the same name may belong to another statement', async () => {
  const { client, askedCount } = await connected()
  leadsToPooler(client)
  await client.query('create table thing as select 1 as id')
  const all = prepared('select * from thing')
  expect(await queryPrepared(client, all, [])).toEqual([{ id: 1 }])
  await client.query(preparedAnew)
  expect(await queryPrepared(client, all, [])).toEqual([{ id: 1, name: 'x' }])
  expect(askedCount()).toBe(2)
})

test('an answer with unexpected columns counts as a lost connection, and is not misread', async () => {
  const { client } = await connected()
  await client.query('create table thing as select 1 as id')
  const all = prepared('select * from thing')
  expect(await queryPrepared(client, all, [])).toEqual([{ id: 1 }])
  await client.query(preparedAnew)
  await expect(queryPrepared(client, all, [])).rejects.toMatchObject({ reason: 'connection_lost' })
})

test('a statement whose preparation fails breaks no other that was sent before the answer', async () => {
  const { client } = await connected()
  const one = prepared('select $1::text as given')
  const first = [
    client.query('begin'),
    queryPrepared(client, prepared('select 1 / 0'), []),
    queryPrepared(client, one, ['a']),
    client.query('rollback'),
  ]
  const second = queryPrepared(client, one, ['b'])
  const outcomes = await Promise.allSettled(first)
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled'])
  expect(outcomes[2]).toMatchObject({ reason: { code: '25P02' } })
  expect(await second).toEqual([{ given: 'b' }])
  expect(await queryPrepared(client, one, ['c'])).toEqual([{ given: 'c' }])
})

test('statements that are sent together take effect all or none, each with its own rows', async () => {
  const { client, askedCount } = await connected()
  await client.query('create table thing (id int4 check (id < 10))')
  const insert = prepared('insert into thing values ($1)')
  const all = prepared('select id from thing order by id')
  const set = (...ids: string[]) => [
    ...ids.map((id) => ({ prepared: insert, values: [id] })),
    { prepared: all, values: [] },
  ]
  expect(await askSet(client, set('1', '2'))).toEqual([[], [], [{ id: 1 }, { id: 2 }]])
  const refused = askSet(client, set('3', '10', '4'))
  await expect(refused).rejects.toMatchObject({ prepared: insert, cause: { code: '23514' } })
  expect(await askSet(client, set('5'))).toEqual([[], [{ id: 1 }, { id: 2 }, { id: 5 }]])
  // The name was new in the first set, so its second use was described without it.
  expect(askedCount()).toBe(3)
})

test('statements behind a refused one are prepared when they are sent again', async () => {
  const { client } = await connected()
  const [bad, one] = [prepared('select 1 / $1::int4 as bad'), prepared('select $1::text as given')]
  const set = (by: string) => [
    { prepared: bad, values: [by] },
    { prepared: one, values: ['a'] },
  ]
  await expect(askSet(client, set('0'))).rejects.toMatchObject({ prepared: bad })
  expect(await askSet(client, set('1'))).toEqual([[{ bad: 1 }], [{ given: 'a' }]])
  const { rows } = await client.query<{ name: string }>('select name from pg_prepared_statements')
  expect(rows.map(({ name }) => name).toSorted()).toEqual([bad.name, one.name].toSorted())
})

test('a set that only the commit refuses is refused', async () => {
  const { client } = await connected()
  await client.query('create table thing (id int unique deferrable initially deferred)')
  const insert = prepared('insert into thing values ($1)')
  const twice = ['1', '1'].map((id) => ({ prepared: insert, values: [id] }))
  await expect(askSet(client, twice)).rejects.toMatchObject({ prepared: undefined, cause: { code: '23505' } })
  expect(await queryPrepared(client, prepared('select * from thing'), [])).toEqual([])
})
