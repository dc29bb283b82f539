// The other side of a connection has vanished without closing it.
import { expect, test } from 'vitest'
import { TimelyClient } from '../../src/sql/timely-client.ts'
import type { Sql } from '../../src/sql/sql.ts'
import { statement } from '../../src/sql/statement.ts'
import { isConnectionLost, sqlState } from '../../src/sql/errors.ts'
import { call } from '../../src/sql/sql.ts'
import { blankDatabase, Notes, until } from './fixture.ts'
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

/** Listens, and waits until the listening connection also runs reserved queries. */
async function listening(sql: Sql): Promise<void> {
  await sql.listen('x', () => {})
  await until(async () => (await sql.reserved.query(who, {}))[0]!.name === 'flowfabric listen')
}

test('a handle whose listening connection has fallen silent closes', async () => {
  const database = await blankDatabase()
  const proxy = await startSilentProxy(database.url)
  const sql = await database.open({ listenUrl: proxy.url })
  await listening(sql)
  proxy.fallSilent()
  await sql.close()
})

test('a handle with a statement on a silent listening connection closes, and the statement is refused', async () => {
  const database = await blankDatabase()
  const proxy = await startSilentProxy(database.url)
  const sql = await database.open({ listenUrl: proxy.url })
  await listening(sql)
  proxy.fallSilent()
  const asked = expect(sql.reserved.query(who, {})).rejects.toThrow()
  await sql.close(100)
  await asked
})

test('a statement in progress on the listening connection is answered before the handle closes', async () => {
  const sql = await (await blankDatabase()).open()
  await listening(sql)
  const asked = sql.reserved.query(slow, {})
  await sql.close()
  expect(await asked).toEqual([{ done: true }])
})

test('a silent connection of the pool is abandoned, and does not keep the process alive', async () => {
  const database = await blankDatabase()
  const proxy = await startSilentProxy(database.url)
  const client = new TimelyClient({ connectionString: proxy.url, pipeline: true })
  await client.connect()
  proxy.fallSilent()
  await client.end()
  expect(client.connection.stream.destroyed).toBe(true)
})

// Long enough for a busy machine to answer within it, and eight times the period that a suspected connection gets.
const answerWithinMs = 1600

const sleep = statement({
  name: 'test.sleep_in_silence',
  params: { seconds: 'float8' },
  row: { done: 'bool' },
  text: 'select pg_sleep($1) is not null as done',
})
const setting = statement({
  name: 'test.setting_in_silence',
  params: { name: 'text' },
  row: { value: 'text' },
  text: 'select current_setting($1) as value',
})

async function openThroughProxy(options: { poolSize?: number } = {}) {
  const database = await blankDatabase()
  const proxy = await startSilentProxy(database.url)
  const logger = new Notes()
  const sql = await database.open({ url: proxy.url, listenUrl: database.url, answerWithinMs, logger, ...options })
  return { sql, proxy, logger }
}

/** Opens all connections of the pool and leaves them idle. */
async function fill(sql: Sql, size: number): Promise<void> {
  await Promise.all(Array.from({ length: size }, () => sql.query(sleep, { seconds: 0.2 })))
}

test('a statement that is never answered is lost with its connection, the next one has a new connection, and one line is logged', async () => {
  const { sql, proxy, logger } = await openThroughProxy()
  proxy.silenceOpen()
  await expect(sql.query(who, {})).rejects.toSatisfy(isConnectionLost)
  expect(await sql.query(who, {})).toEqual([{ name: 'flowfabric' }])
  const silent = logger.details.filter((line) => line.includes('did not respond within 1.6 s'))
  expect(silent).toHaveLength(1)
})

test('one silent connection closes the idle ones too, so no later call tries them', async () => {
  const { sql, proxy, logger } = await openThroughProxy({ poolSize: 4 })
  await fill(sql, 4)
  expect(proxy.connectionCount()).toBe(4)
  proxy.silenceOpen()
  await expect(sql.query(who, {})).rejects.toSatisfy(isConnectionLost)
  for (let calls = 0; calls < 4; calls++) expect(await sql.query(who, {})).toHaveLength(1)
  expect(logger.details.filter((line) => line.includes('did not respond'))).toHaveLength(1)
})

test('calls on several silent connections are all lost, and the server gets no more new connections than the pool has', async () => {
  const { sql, proxy, logger } = await openThroughProxy({ poolSize: 3 })
  await fill(sql, 3)
  proxy.silenceOpen()
  const lost = await Promise.allSettled(Array.from({ length: 3 }, () => sql.query(who, {})))
  expect(lost.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  await Promise.all(Array.from({ length: 20 }, () => sql.query(who, {})))
  expect(proxy.connectionCount()).toBeLessThanOrEqual(6)
  expect(logger.details.filter((line) => line.includes('did not respond'))).toHaveLength(1)
})

test.each([
  ['a pipeline', (sql: Sql) => sql.pipeline([call(who, {}), call(who, {})])],
  ['a decision', (sql: Sql) => sql.decide([call(who, {})], () => [call(who, {})])],
  ['a transaction', (sql: Sql) => sql.transaction((tx) => tx.query(who, {}))],
  ['a script', (sql: Sql) => sql.script('select 1')],
])('%s that is never answered is lost', async (_, ask) => {
  const { sql, proxy } = await openThroughProxy()
  proxy.silenceOpen()
  await expect(ask(sql)).rejects.toSatisfy(isConnectionLost)
  await ask(sql)
})

test('statements sent together on the listening connection are lost together, and later ones use the pool', async () => {
  const database = await blankDatabase()
  const proxy = await startSilentProxy(database.url)
  const sql = await database.open({ listenUrl: proxy.url, answerWithinMs })
  await listening(sql)
  proxy.fallSilent()
  const lost = await Promise.allSettled(Array.from({ length: 3 }, () => sql.reserved.query(who, {})))
  expect(lost.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected'])
  expect(await sql.reserved.query(who, {})).toEqual([{ name: 'flowfabric' }])
})

test('answers to statements of one transaction that are sent together are timed one by one', async () => {
  const { sql } = await openThroughProxy()
  const all = await sql.transaction((tx) =>
    Promise.all(Array.from({ length: 4 }, () => tx.query(sleep, { seconds: 0.5 }))),
  )
  expect(all).toHaveLength(4)
})

test('the server cancels a statement before its connection is abandoned, unless its work may take longer', async () => {
  const { sql, proxy } = await openThroughProxy()
  const asked = sql.query(sleep, { seconds: 1.5 })
  await expect(asked).rejects.toSatisfy((error) => sqlState(error) === '57014')
  const longer = { statementTimeoutMs: 60_000 }
  expect(await sql.pipeline([call(sleep, { seconds: 2 })], longer)).toEqual([[{ done: true }]])
  await sql.transaction((tx) => tx.query(sleep, { seconds: 2 }), longer)
  await sql.script('select pg_sleep(2)', { statementTimeoutMs: Infinity })
  expect(await sql.query(setting, { name: 'statement_timeout' })).toEqual([{ value: '1400ms' }])
  expect(proxy.connectionCount()).toBe(1)
})

test('a shorter limit of the database on its statements stays in effect', async () => {
  const database = await blankDatabase()
  const admin = await database.open()
  expect(await admin.query(setting, { name: 'statement_timeout' })).toEqual([{ value: '7s' }])
  await admin.script(`alter database "${database.name}" set statement_timeout = '3s'`)
  const shorter = await database.open()
  expect(await shorter.query(setting, { name: 'statement_timeout' })).toEqual([{ value: '3s' }])
  await admin.script(`alter database "${database.name}" set statement_timeout = '20s'`)
  const longer = await database.open()
  expect(await longer.query(setting, { name: 'statement_timeout' })).toEqual([{ value: '7s' }])
})
