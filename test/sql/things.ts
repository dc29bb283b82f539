// A table of things on either adapter, and the statements that the tests of the contract share.
import { inject } from 'vitest'
import { openEmbedded } from '../../src/sql/pglite.ts'
import { openPostgres } from '../../src/sql/postgres.ts'
import type { Sql } from '../../src/sql/sql.ts'
import { oneOf, statement } from '../../src/sql/statement.ts'
import { createDatabase } from '../support/database.ts'
import { Notes } from './fixture.ts'

export const ONE = statement({ name: 'test.one', params: {}, row: { one: 'int4' }, text: 'select 1 as one' })
export const DIVIDE = statement({
  name: 'test.divide',
  params: { by: 'int4' },
  row: { result: 'int4' },
  text: 'select 1 / $1::int4 as result',
})
export const INSERT = statement({
  name: 'test.insert',
  params: { ids: 'int8[]', colour: 'text' },
  row: { id: 'int8', colour: oneOf<'red' | 'green'>() },
  text: `
insert into flowfabric.thing (id, colour)
select id, $2::flowfabric.colour from unnest($1::int8[]) as given (id)
returning id, colour`,
})
export const COUNT = statement({
  name: 'test.count',
  params: {},
  row: { count: 'int8' },
  text: 'select count(*) as count from flowfabric.thing',
})
export const NOTIFY = statement({
  name: 'test.notify',
  params: { channel: 'text', payload: 'text' },
  row: { done: 'bool' },
  text: 'select pg_notify($1, $2) is not null as done',
})

export interface Things {
  readonly sql: Sql
  readonly notes: Notes
  /** A second handle on the same database; the embedded one has only the first. */
  another(): Promise<Sql>
  end(): Promise<void>
}

// A schema whose name needs every kind of quoting, so each of these tests also tests the replacement of the schema.
const schema = `Odd "schema" isn't flowfabric.x`

export async function openThings(kind: Sql['kind']): Promise<Things> {
  const things = await (kind === 'embedded' ? inEmbedded() : inPostgres())
  await things.sql.script(`
    create schema "${schema.replaceAll('"', '""')}";
    create type flowfabric.colour as enum ('red', 'green');
    create table flowfabric.thing (id bigint primary key, colour flowfabric.colour not null)`)
  return things
}

async function inEmbedded(): Promise<Things> {
  const notes = new Notes()
  const sql = await openEmbedded({ directory: null, schema, logger: notes })
  return { sql, notes, another: async () => sql, end: () => sql.close() }
}

async function inPostgres(): Promise<Things> {
  const notes = new Notes()
  const database = await createDatabase(inject('postgres').url)
  const open = (): Promise<Sql> => openPostgres({ url: database.url, schema, logger: notes })
  const sql = await open()
  const end = async (): Promise<void> => {
    await sql.close()
    await database.drop()
  }
  return { sql, notes, another: open, end }
}
