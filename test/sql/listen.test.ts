// Listening on real connections: it reconnects after a loss, and reports when it cannot work.
import { expect, test } from 'vitest'
import type { Sql } from '../../src/sql/sql.ts'
import { statement } from '../../src/sql/statement.ts'
import { blankDatabase, Notes, until } from './fixture.ts'
import { startRefusingProxy } from './refusing-proxy.ts'

const LISTENERS = statement({
  name: 'test.listeners',
  params: {},
  row: { pid: 'int4' },
  text: `
select pid from pg_stat_activity
 where datname = current_database() and application_name = 'flowfabric listen'`,
})
const CUT = statement({
  name: 'test.cut_listeners',
  params: {},
  row: { ended: 'bool' },
  text: `
select pg_terminate_backend(pid) as ended from pg_stat_activity
 where datname = current_database() and application_name = 'flowfabric listen'`,
})
const NOTIFY = statement({
  name: 'test.send',
  params: { channel: 'text', payload: 'text' },
  row: { done: 'bool' },
  text: 'select pg_notify($1, $2) is not null as done',
})

const send = async (sql: Sql, channel: string, payload: string): Promise<void> =>
  void (await sql.query(NOTIFY, { channel, payload }))

test('one connection serves all channels, and the first of them opens it', async () => {
  const sql = await (await blankDatabase()).open()
  expect(await sql.query(LISTENERS, {})).toHaveLength(0)
  const received: string[] = []
  await sql.listen('a', (payload) => received.push(`a ${payload}`))
  await sql.listen('b', (payload) => received.push(`b ${payload}`))
  expect(await sql.query(LISTENERS, {})).toHaveLength(1)
  await send(sql, 'b', '1')
  await send(sql, 'a', '2')
  await until(() => received.length === 4)
  expect(received).toEqual(['a null', 'b null', 'b 1', 'a 2'])
})

test('after a lost connection it listens again to every channel, and first reports that hints may be missing', async () => {
  const sql = await (await blankDatabase()).open()
  const [a, b]: [(string | null)[], (string | null)[]] = [[], []]
  await sql.listen('a', (payload) => a.push(payload))
  await sql.listen('b', (payload) => b.push(payload))
  for (const round of [1, 2]) {
    expect(await sql.query(CUT, {})).toEqual([{ ended: true }])
    await until(() => a.length === 2 * round && b.length === 2 * round)
    expect([a.at(-1), b.at(-1)]).toEqual([null, null])
    await send(sql, 'a', `round ${round}`)
    await send(sql, 'b', `round ${round}`)
    await until(() => a.at(-1) === `round ${round}` && b.at(-1) === `round ${round}`)
  }
})

test('a channel that is requested while the connection is being opened receives hints as well', async () => {
  const database = await blankDatabase()
  const proxy = await startRefusingProxy(database.url)
  const sql = await database.open({ listenUrl: proxy.url })
  const received: (string | null)[] = []
  let late: Promise<unknown> | undefined
  proxy.onMessage((message) => {
    if (message.includes('listen "a"')) late ??= sql.listen('b', (payload) => received.push(payload))
  })
  await sql.listen('a', () => {})
  await late
  await send(sql, 'b', 'x')
  await until(() => received.includes('x'))
})

test('a listen URL that cannot be reached logs one warning, does not delay the caller, and stops retrying at close', async () => {
  const notes = new Notes()
  const sql = await (await blankDatabase()).open({ listenUrl: 'postgres://127.0.0.1:1/x', logger: notes })
  const received: unknown[] = []
  await sql.listen('x', (payload) => received.push(payload))
  await sql.listen('y', (payload) => received.push(payload))
  await new Promise((resolve) => setTimeout(resolve, 500))
  expect(received).toEqual([])
  expect(notes.warnings).toEqual([expect.stringContaining('cannot listen for notifications')])
  await sql.close()
})

test('a connection on which no notification arrives, as through a pooler, is detected and logged once', async () => {
  const elsewhere = await blankDatabase()
  const notes = new Notes()
  const sql = await (await blankDatabase()).open({ listenUrl: elsewhere.url, logger: notes })
  await sql.listen('x', () => {})
  await until(() => notes.warnings.length > 0)
  expect(notes.warnings).toEqual([expect.stringContaining('pass a direct URL as listenUrl')])
})

test('a close in the middle of a reconnect ends it', async () => {
  const database = await blankDatabase()
  const other = await database.open()
  for (const waitMs of [0, 30, 120]) {
    const sql = await database.open()
    await sql.listen('x', () => {})
    await other.query(CUT, {})
    await new Promise((resolve) => setTimeout(resolve, waitMs))
    await sql.close()
    await until(async () => (await other.query(LISTENERS, {})).length === 0)
  }
})
