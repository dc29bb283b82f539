// Preparation by name, and the fallbacks from it, on a server that really refuses.
import { expect, test } from 'vitest'
import { call, type Sql } from '../../src/sql/sql.ts'
import { statement } from '../../src/sql/statement.ts'
import { blankDatabase, Notes } from './fixture.ts'

const PREPARED = statement({
  name: 'test.prepared',
  params: {},
  row: { name: 'text' },
  text: `select name from pg_prepared_statements where name like 'test.%' order by name`,
})
const ADD = statement({
  name: 'test.add',
  params: { a: 'int4', b: 'int4' },
  row: { sum: 'int4' },
  text: 'select $1::int4 + $2::int4 as sum',
})
const ROWS = statement({ name: 'test.rows', params: {}, row: { id: 'int4' }, text: 'select * from changing' })
const INSERT = statement({
  name: 'test.insert_changing',
  params: { id: 'int4' },
  row: {},
  text: 'insert into changing (id) values ($1)',
})

// Calls one after the other use the same connection of the pool.
const namesOf = async (sql: Sql): Promise<string[]> => (await sql.query(PREPARED, {})).map((row) => row.name)
const add = async (sql: Sql): Promise<number> => (await sql.query(ADD, { a: 1, b: 2 }))[0]!.sum

test('statements are prepared once under their name and a hash of their text', async () => {
  const sql = await (await blankDatabase()).open()
  await add(sql)
  await add(sql)
  expect(await namesOf(sql)).toEqual([
    expect.stringMatching(/^test\.add:[0-9a-f]{12}$/),
    expect.stringMatching(/^test\.prepared:[0-9a-f]{12}$/),
  ])
})

test('two schemas never share a prepared name, even where a pooler shares their sessions', async () => {
  const database = await blankDatabase()
  const named = statement({ name: 'test.named', params: {}, row: {}, text: 'select from flowfabric.somewhere' })
  const names: string[] = []
  for (const schema of ['one', 'two']) {
    const sql = await database.open({ schema })
    await sql.script(`create schema ${schema}; create table ${schema}.somewhere ()`)
    await sql.query(named, {})
    names.push(...(await namesOf(sql)).filter((name) => name.startsWith('test.named')))
  }
  expect(new Set(names).size).toBe(2)
})

test.each([{ prepare: false }, { inUrl: '?prepare=false' }])('nothing is prepared by name with %o', async (given) => {
  const database = await blankDatabase()
  const sql = await database.open({
    url: `${database.url}${given.inUrl ?? ''}`,
    ...(given.prepare === undefined ? {} : { prepare: given.prepare }),
  })
  expect(await add(sql)).toBe(3)
  expect(await namesOf(sql)).toEqual([])
})

test('when the server has lost a name, statements run without names from then on, with one warning', async () => {
  const notes = new Notes()
  const sql = await (await blankDatabase()).open({ logger: notes })
  await add(sql)
  await sql.script('deallocate all')
  expect(await add(sql)).toBe(3)
  expect(await add(sql)).toBe(3)
  expect(notes.warnings).toEqual([expect.stringContaining('prepared statements are now off')])
  expect(await namesOf(sql)).toEqual([])
})

test('when another client has prepared the name, statements run without names, with one warning', async () => {
  const database = await blankDatabase()
  const [name] = await namesAfter(await database.open())
  const notes = new Notes()
  const sql = await database.open({ logger: notes })
  await sql.script(`prepare "${name}" as select 'of someone else'`)
  expect(await add(sql)).toBe(3)
  expect(notes.warnings).toHaveLength(1)
})

test('a pipeline that uses a lost name is repeated as a whole, and takes effect once', async () => {
  const sql = await (await blankDatabase()).open()
  await sql.script('create table changing (id int)')
  await add(sql)
  await sql.script('deallocate all')
  const [, sums] = await sql.pipeline([call(INSERT, { id: 1 }), call(ADD, { a: 1, b: 1 })])
  expect(sums).toEqual([{ sum: 2 }])
  expect(await sql.query(ROWS, {})).toEqual([{ id: 1 }])
})

test('a plan that a migration made invalid is prepared again under a new name, without a warning', async () => {
  const notes = new Notes()
  const sql = await (await blankDatabase()).open({ logger: notes })
  await sql.script('create table changing (id int)')
  await sql.query(ROWS, {})
  await sql.script('alter table changing add more int')
  await sql.query(INSERT, { id: 1 })
  expect(await sql.query(ROWS, {})).toEqual([{ id: 1, more: null }])
  expect(await namesOf(sql)).toContainEqual(expect.stringMatching(/^test\.rows:[0-9a-f]{12}:2$/))
  expect(notes.warnings).toEqual([])
})

test('every connection of the pool recovers from the same invalid plan', async () => {
  const sql = await (await blankDatabase()).open({ poolSize: 4 })
  await sql.script('create table changing (id int)')
  const all = (): Promise<unknown[]> => Promise.all(Array.from({ length: 8 }, () => sql.query(ROWS, {})))
  await all()
  await sql.script('alter table changing add more int')
  await expect(all()).resolves.toHaveLength(8)
  await sql.script('alter table changing drop more')
  await expect(all()).resolves.toHaveLength(8)
})

test('an open transaction is not repeated: it fails, and the next one succeeds', async () => {
  const sql = await (await blankDatabase()).open()
  await sql.script('create table changing (id int)')
  const work = (): Promise<unknown> =>
    sql.transaction(async (tx) => {
      await tx.query(INSERT, { id: 1 })
      return tx.query(ROWS, {})
    })
  await work()
  await sql.script('alter table changing add more int')
  await expect(work()).rejects.toMatchObject({ code: '0A000' })
  await expect(work()).resolves.toHaveLength(2)
})

async function namesAfter(sql: Sql): Promise<string[]> {
  await add(sql)
  return namesOf(sql)
}
