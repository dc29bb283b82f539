// The other side of a connection has vanished without a word.
import { expect, test } from 'vitest'
import { TimelyClient } from '../../src/sql/postgres-pool.ts'
import type { Sql } from '../../src/sql/sql.ts'
import { statement } from '../../src/sql/statement.ts'
import { blankDatabase, until } from './fixture.ts'
import { startSilentProxy } from './silent-proxy.ts'

const who = statement({
  name: 'test.who_is_aside',
  params: {},
  row: { name: 'text' },
  text: `select current_setting('application_name') as name`,
})
const slow = statement({
  name: 'test.slow_aside',
  params: {},
  row: { done: 'bool' },
  text: 'select pg_sleep(1.5) is not null as done',
})

/** And its connection serves besides. */
async function listening(sql: Sql): Promise<void> {
  await sql.listen('x', () => {})
  await until(async () => (await sql.aside.query(who, {}))[0]!.name === 'flowfabric listen')
}

test('a handle whose listening connection has fallen silent closes', async () => {
  const database = await blankDatabase()
  const proxy = await startSilentProxy(database.url)
  const sql = await database.open({ listenUrl: proxy.url })
  await listening(sql)
  proxy.fallSilent()
  await sql.close()
})

test('so does one with a statement on that connection, which is refused', async () => {
  const database = await blankDatabase()
  const proxy = await startSilentProxy(database.url)
  const sql = await database.open({ listenUrl: proxy.url })
  await listening(sql)
  proxy.fallSilent()
  const asked = expect(sql.aside.query(who, {})).rejects.toThrow()
  await sql.close(100)
  await asked
})

test('what is under way on the listening connection is answered before it is closed', async () => {
  const sql = await (await blankDatabase()).open()
  await listening(sql)
  const asked = sql.aside.query(slow, {})
  await sql.close()
  expect(await asked).toEqual([{ done: true }])
})

test('a connection of the pool that has fallen silent is left, and does not keep the process', async () => {
  const database = await blankDatabase()
  const proxy = await startSilentProxy(database.url)
  const client = new TimelyClient({ connectionString: proxy.url, pipeline: true })
  await client.connect()
  proxy.fallSilent()
  await client.end()
  expect(client.connection.stream.destroyed).toBe(true)
})
