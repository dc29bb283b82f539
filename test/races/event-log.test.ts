// The log's readers against writers that commit out of the order of ids: they wait for each other's rows, have drawn their
// transaction id long before, pause between the event and the commit, or roll back.
import { EventEmitter, once } from 'node:events'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { encodeEventCursor } from '../../src/engine/event/cursor.ts'
import type { LogEvent } from '../../src/engine/event/log-event.ts'
import { Subscriptions } from '../../src/engine/event/subscribe.ts'
import type { Subscription } from '../../src/engine/event/subscription.ts'
import { parseExecutionId } from '../../src/model/id.ts'
import { silent } from '../../src/sql/logger.ts'
import { openPostgres } from '../../src/sql/postgres.ts'
import type { Sql } from '../../src/sql/sql.ts'
import { eventsOf, subscriber, subscriberOf, take, takeIds } from '../engine/event/subscriber.ts'
import { factory } from '../support/factory.ts'
import { setup } from '../support/setup.ts'
import * as stored from '../support/stored.ts'
import { nowMs } from '../support/changes.ts'
import { addEvents } from '../support/event-log.ts'

const beginning = encodeEventCursor(0)

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url, application_name: 'test writer' })
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

/** A pool and a cache of its own, like another process. */
async function anotherProcess(url: string): Promise<Sql> {
  const sql = await openPostgres({ url, schema: 'flowfabric' })
  onTestFinished(() => sql.close())
  return sql
}

// Like the engine: the row is locked and changed first, then the event draws its id. The row and each event contain
// the count of the execution's committed transitions, so a reader can detect what it missed.
const transition = `
with changed as (
  update ${stored.executions.qualified}
  set retry_count = retry_count + 1
  where execution_id = $1
  returning execution_id, partition_key, namespace, retry_count
)
insert into ${stored.events.qualified} (occurred_at_ms, execution_id, event_type, partition_key, namespace, actor, attempt_index)
select ${nowMs}, execution_id, 'renewed', partition_key, namespace, 'writer', retry_count
from changed`

const writerCount = 12
const transactionsEach = 60

async function write(client: pg.Client, uuids: readonly string[]): Promise<void> {
  for (let count = 0; count < transactionsEach; count += 1) {
    const first = Math.floor(Math.random() * uuids.length)
    // In the order of ids, as everywhere, so that two never deadlock.
    const touched = uuids.slice(first, first + 1 + Math.floor(Math.random() * 2))
    await client.query('begin')
    if (Math.random() < 0.3) await client.query('select pg_current_xact_id()')
    if (Math.random() < 0.3) await client.query(`select pg_sleep(${Math.random() * 0.01})`)
    for (const uuid of touched) await client.query(transition, [uuid])
    if (Math.random() < 0.3) await client.query(`select pg_sleep(${Math.random() * 0.01})`)
    await client.query(Math.random() < 0.05 ? 'rollback' : 'commit')
  }
}

async function startWriters(url: string, uuids: readonly string[]): Promise<{ done: Promise<unknown> }> {
  const clients = await Promise.all(Array.from({ length: writerCount }, () => connect(url)))
  return { done: Promise.all(clients.map((client) => write(client, uuids))) }
}

async function manyExecutions(sql: Sql): Promise<string[]> {
  const given = factory(sql)
  const ids = await Promise.all(Array.from({ length: 8 }, () => given.waiting()))
  return ids.map((id) => parseExecutionId(id).uuid).toSorted()
}

/** Reads until an ending says that the writers are done. */
async function takeAll(subscription: Subscription): Promise<LogEvent[]> {
  const events: LogEvent[] = []
  for await (const event of subscription) {
    if (event.kind === 'truncated') throw new Error('truncated')
    if (event.kind === 'ended') break
    events.push(event)
  }
  return events
}

/** Checks that ids rise, and that each execution's count goes up by one, to the value of its row. */
async function expectWhole(sql: Sql, events: readonly LogEvent[], from: 'beginning' | 'somewhere'): Promise<void> {
  const cursors = events.map((event) => event.cursor)
  expect(cursors).toEqual([...new Set(cursors)].toSorted())
  const rows = await stored.executions.pick(sql, ['execution_id', 'retry_count'], 'retry_count > 0')
  for (const { execution_id: uuid, retry_count: last } of rows) {
    const counts = events
      .filter((event) => parseExecutionId(event.executionId).uuid === uuid)
      .map((event) => event.attemptIndex!)
    const first = from === 'beginning' ? 1 : (counts[0] ?? last + 1)
    expect(counts).toEqual(Array.from({ length: last - first + 1 }, (_, index) => first + index))
  }
}

test('12 writers that commit out of order: no event is lost, doubled or out of order, for any kind of subscriber', async () => {
  const { sql, url } = await setup()
  const uuids = await manyExecutions(sql)
  const open = subscriber(sql)
  const live = takeAll(await open())
  const filtered = takeAll(await open({ namespace: 'default' }))
  const writers = await startWriters(url, uuids)
  const restless = takeInPieces(await anotherProcess(url))
  const catchingUp = takeAll(await subscriber(await anotherProcess(url))({ after: beginning }))
  const late = takeAll(await subscriber(await anotherProcess(url))())
  await writers.done
  await factory(sql).completed()
  await expectWhole(sql, await live, 'beginning')
  await expectWhole(sql, await filtered, 'beginning')
  await expectWhole(sql, await restless, 'beginning')
  await expectWhole(sql, await catchingUp, 'beginning')
  await expectWhole(sql, await late, 'somewhere')
})

/** Ends after every few events and starts again with the cursor: each time its reader starts anew. */
async function takeInPieces(sql: Sql): Promise<LogEvent[]> {
  const open = subscriber(sql)
  const events: LogEvent[] = []
  while (true) {
    const subscription = await open({ after: events.at(-1)?.cursor ?? beginning })
    const isLast = await takePiece(subscription, events)
    if (isLast) return events
  }
}

async function takePiece(subscription: Subscription, events: LogEvent[]): Promise<boolean> {
  let left = Math.ceil(Math.random() * 20)
  for await (const event of subscription) {
    if (event.kind === 'truncated') throw new Error('truncated')
    if (event.kind === 'ended') return true
    events.push(event)
    left -= 1
    if (left === 0) break
  }
  return false
}

test("killing the reader's connections again and again costs only time", async () => {
  const { sql, url } = await setup()
  const uuids = await manyExecutions(sql)
  const reading = await anotherProcess(url)
  const live = takeAll(await subscriber(reading)())
  const killer = await connect(url)
  const writers = await startWriters(url, uuids)
  const over = new AbortController()
  void writers.done.finally(() => over.abort())
  let killedCount = 0
  while (!over.signal.aborted) {
    const { rowCount } = await killer.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and backend_type = 'client backend' and application_name <> 'test writer'`,
    )
    killedCount += rowCount ?? 0
    await killer.query('select pg_sleep(0.05)')
  }
  await writers.done
  expect(killedCount).toBeGreaterThan(3)
  await factory(sql).completed()
  await expectWhole(sql, await live, 'beginning')
})

test('an event that is in flight when a subscriber begins is delivered, before those that were committed first', async () => {
  const { sql, url } = await setup()
  const [first, second] = await manyExecutions(sql)
  const slow = await connect(url)
  const quick = await connect(url)
  await slow.query('begin')
  await slow.query(transition, [first])
  await quick.query(transition, [second])
  const open = [await subscriber(sql)(), await subscriber(await anotherProcess(url))()]
  await quick.query(transition, [second])
  await slow.query('commit')
  for (const subscription of open) {
    const events = eventsOf(await take(subscription, 2))
    expect(events.map((event) => [parseExecutionId(event.executionId).uuid, event.attemptIndex])).toEqual([
      [first, 1],
      [second, 2],
    ])
  }
})

test('a subscriber that joins a reader which waits at an open id receives that event too', async () => {
  const { sql, url } = await setup()
  const [first, second] = await manyExecutions(sql)
  const subscriptions = new Subscriptions(sql)
  const open = subscriberOf(subscriptions)
  const slow = await connect(url)
  const quick = await connect(url)
  const early = await open()
  await slow.query('begin')
  await slow.query(transition, [first])
  await quick.query(transition, [second])
  await expect.poll(() => subscriptions.stalledMs).toBeGreaterThan(0)
  const late = await open()
  await quick.query(transition, [second])
  await slow.query('commit')
  expect(eventsOf(await take(early, 3)).map((event) => event.attemptIndex)).toEqual([1, 1, 2])
  expect(eventsOf(await take(late, 2)).map((event) => event.attemptIndex)).toEqual([1, 2])
})

test('a reader that starts far behind an open id waits for it; one that starts at the end does not', async () => {
  const { sql, url } = await setup()
  const [first, second] = await manyExecutions(sql)
  const slow = await connect(url)
  const quick = await connect(url)
  await slow.query('begin')
  await slow.query(transition, [first])
  await quick.query(addEvents(10_500))
  const open = subscriber(sql)
  const old = await open({ after: beginning })
  const fresh = await open()
  const oldest = take(old, 1)
  await quick.query(transition, [second])
  const [received] = eventsOf(await take(fresh, 1))
  expect(parseExecutionId(received!.executionId).uuid).toBe(second)
  await slow.query('commit')
  const [event] = await oldest
  expect(event).toMatchObject({ cursor: encodeEventCursor(1), attemptIndex: 1 })
  expect(eventsOf(await take(old, 10_501)).at(-1)?.cursor).toBe(received!.cursor)
})

test('a transaction that delays subscribers is measured, and named once', async () => {
  const { sql, url } = await setup()
  const [first, second] = await manyExecutions(sql)
  const warnings: string[] = []
  const received = new EventEmitter()
  const warn = (text: string): void => {
    warnings.push(text)
    received.emit('warning')
  }
  const warned = once(received, 'warning')
  const subscriptions = new Subscriptions(sql, { logger: { ...silent, warn }, warnAfterMs: 30 })
  const subscription = await subscriberOf(subscriptions)()
  expect(subscriptions.stalledMs).toBe(0)
  const slow = await connect(url)
  const { rows } = await slow.query<{ pid: number }>('select pg_backend_pid() as pid')
  await slow.query('begin')
  await slow.query(transition, [first])
  await slow.query(`select 'dawdles'`)
  const quick = await connect(url)
  await quick.query(transition, [second])
  const waiting = takeIds(subscription, 2)
  await warned
  expect(subscriptions.stalledMs).toBeGreaterThanOrEqual(30)
  await slow.query('commit')
  const ids = await waiting
  expect(ids.map((id) => parseExecutionId(id).uuid)).toEqual([first, second])
  expect(subscriptions.stalledMs).toBe(0)
  expect(warnings).toHaveLength(1)
  expect(warnings[0]).toContain(`process ${rows[0]!.pid}`)
  expect(warnings[0]).toContain(`select 'dawdles'`)
})
