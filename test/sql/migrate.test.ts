// FAULT-07 is void: no table has 256 partitions. What remains of it (a second run does nothing) is tested here.
import { setTimeout } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { dumpSchema } from '../../src/sql/dump.ts'
import { migrate } from '../../src/sql/migrate.ts'
import type { Migration } from '../../src/sql/migrations/migration.ts'
import { openEmbedded } from '../../src/sql/pglite.ts'
import type { Sql } from '../../src/sql/sql.ts'
import { statement } from '../../src/sql/statement.ts'
import { hold } from '../support/barrier.ts'
import { startChild } from '../support/child.ts'
import { blankDatabase, until } from './fixture.ts'
import { first, second, withIndex } from './migrations.ts'
import { patience } from '../support/patience.ts'

const LEDGER = statement({
  name: 'test.ledger',
  params: {},
  row: { version: 'int4', name: 'text' },
  text: 'select version, name from flowfabric.ff_migration order by version',
})
const INDEXES = statement({
  name: 'test.indexes',
  params: {},
  row: { name: 'text', valid: 'bool' },
  text: `
select c.relname::text as name, i.indisvalid as valid
  from pg_index i join pg_class c on c.oid = i.indexrelid
 where c.relname in ('ff_item_name', 'ff_item_even')
 order by 1`,
})
const BUILDER = statement({
  name: 'test.index_builder',
  params: {},
  row: { pid: 'int4' },
  text: `
select pid from pg_stat_activity
 where datname = current_database() and query like '%create index concurrently%' and wait_event_type = 'Lock'`,
})
const TERMINATE = statement({
  name: 'test.terminate_builder',
  params: { pid: 'int4' },
  row: { ended: 'bool' },
  text: 'select pg_terminate_backend($1) as ended',
})
const ITEMS = statement({
  name: 'test.items',
  params: {},
  row: { count: 'int8' },
  text: 'select count(*) as count from flowfabric.ff_item',
})

const CHILD = new URL('./migrate.child.ts', import.meta.url)
const BOTH = [
  { name: 'ff_item_even', valid: true },
  { name: 'ff_item_name', valid: true },
]

const up = (sql: Sql, migrations: readonly Migration[], codeVersion = '1.2.0'): Promise<void> =>
  migrate(sql, migrations, { mode: true, codeVersion })

const failureOf = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error)

test('an empty database gets schema, tables and ledger, also under another name; a second run does nothing', async () => {
  const database = await blankDatabase()
  for (const schema of ['flowfabric', `My "own" schema`]) {
    const sql = await database.open({ schema })
    await up(sql, [first])
    await up(sql, [first, second])
    await up(sql, [first, second])
    expect(await sql.query(LEDGER, {})).toEqual([
      { version: 1, name: 'first' },
      { version: 2, name: 'second' },
    ])
    expect(await sql.query(ITEMS, {})).toEqual([{ count: 100 }])
  }
})

test('a migration that fails leaves nothing of itself, and the earlier ones stay', async () => {
  const sql = await (await blankDatabase()).open()
  const broken = { ...second, text: 'create table flowfabric.half_done (); select 1 / 0;' }
  await expect(up(sql, [first, broken])).rejects.toMatchObject({ code: '22012' })
  expect(await sql.query(LEDGER, {})).toEqual([{ version: 1, name: 'first' }])
  await expect(sql.script('select from flowfabric.half_done')).rejects.toMatchObject({ code: '42P01' })
})

test(
  'ten processes migrate one empty database at once: all succeed, and create one schema',
  { timeout: patience(60_000) },
  async () => {
    const database = await blankDatabase()
    const children = Array.from({ length: 10 }, () => startChild(CHILD, { args: [database.url, 'real'] }))
    await Promise.all(children.map((child) => child.next()))
    for (const child of children) child.send({ go: true })
    expect(await Promise.all(children.map((child) => child.next()))).toEqual(children.map(() => ({ done: true })))
    expect(await Promise.all(children.map((child) => child.ended))).toEqual(children.map(() => 0))

    const alone = await (await blankDatabase()).open()
    const { migrations } = await import('../../src/sql/migrations/all.ts')
    await up(alone, migrations, '99.0.0')
    const together = await database.open()
    expect(await together.query(LEDGER, {})).toHaveLength(migrations.length)
    expect(await dumpSchema(together)).toBe(await dumpSchema(alone))
  },
)

test('all processes that reach a migration outside a transaction at once succeed, and none blocks the index', async () => {
  const database = await blankDatabase()
  const sql = await database.open()
  const others = [await database.open(), await database.open()]
  await Promise.all([sql, ...others].map((handle) => up(handle, withIndex)))
  expect(await sql.query(INDEXES, {})).toEqual(BOTH)
  expect(await sql.query(LEDGER, {})).toHaveLength(2)
})

test('a migration outside a transaction that was killed in the middle starts again from its beginning', async () => {
  const database = await blankDatabase()
  const sql = await database.open()
  const watcher = await database.open()
  await up(sql, [first])
  const child = startChild(CHILD, { args: [database.url, 'own'] })
  await child.next()
  // The index build waits for this writer, and is killed while it does: process first, then its server side.
  await sql.transaction(async (tx) => {
    await tx.script(`insert into flowfabric.ff_item values (0, 'in the way')`)
    child.send({ go: true })
    let builder = 0
    await until(async () => {
      const [found] = await watcher.query(BUILDER, {})
      builder = found?.pid ?? 0
      return builder !== 0
    })
    await child.kill('SIGKILL')
    await watcher.query(TERMINATE, { pid: builder })
    await until(async () => (await watcher.query(BUILDER, {})).length === 0)
  })
  expect(await sql.query(INDEXES, {})).toEqual([{ name: 'ff_item_name', valid: false }])
  expect(await sql.query(LEDGER, {})).toHaveLength(1)

  await up(sql, withIndex)
  expect(await sql.query(INDEXES, {})).toEqual(BOTH)
  expect(await sql.query(LEDGER, {})).toHaveLength(2)
})

test('the embedded database migrates too, inside and outside of transactions', async () => {
  const sql = await openEmbedded({ directory: null, schema: 'flowfabric' })
  onTestFinished(() => sql.close())
  await up(sql, withIndex)
  await up(sql, withIndex)
  expect(await sql.query(INDEXES, {})).toEqual(BOTH)
  expect(await sql.query(LEDGER, {})).toHaveLength(2)
})

test('a waiting process continues when the migrating process is done', async () => {
  const database = await blankDatabase()
  const [slow, waiting] = [await database.open(), await database.open()]
  const sleeping = { ...first, text: `${first.text} select pg_sleep(0.5);` }
  const migrating = up(slow, [sleeping])
  await setTimeout(100)
  await up(waiting, [sleeping])
  await migrating
  expect(await waiting.query(LEDGER, {})).toHaveLength(1)
})

test('check refuses an empty database and an outdated schema, and writes nothing', async () => {
  const sql = await (await blankDatabase()).open()
  const check = (): Promise<void> => migrate(sql, [first, second], { mode: 'check', codeVersion: '1.2.0' })
  await expect(check()).rejects.toMatchObject({ reason: 'schema_missing' })
  await expect(sql.query(LEDGER, {})).rejects.toMatchObject({ code: '42P01' })
  await up(sql, [first])
  const outdated = await failureOf(check())
  expect(outdated).toMatchObject({ reason: 'schema_outdated' })
  expect(String(outdated)).toContain('lacks migration 2 (second)')
  await up(sql, [first, second])
  await expect(check()).resolves.toBeUndefined()
})

test('with false, migrate does not query the database', async () => {
  const sql = await (await blankDatabase()).open()
  await migrate(sql, [first], { mode: false, codeVersion: '0.0.1' })
  await expect(sql.query(LEDGER, {})).rejects.toMatchObject({ code: '42P01' })
})

test('code older than a migration allows is refused, and the error names the version that it needs', async () => {
  const sql = await (await blankDatabase()).open()
  await up(sql, [first, second])
  for (const mode of [true, 'check'] as const) {
    const refusal = await failureOf(migrate(sql, [first], { mode, codeVersion: '1.1.9' }))
    expect(refusal).toMatchObject({ reason: 'code_too_old' })
    expect(String(refusal)).toContain('needs flowfabric 1.2.0 or newer; this is 1.1.9')
  }
  await expect(migrate(sql, [first], { mode: true, codeVersion: '1.2.0-beta.1' })).rejects.toThrow('1.2.0 or newer')
})

test('code that does not know the newest migration works when that one allows it', async () => {
  const sql = await (await blankDatabase()).open()
  await up(sql, [first, { ...second, oldestCode: '1.0.0' }])
  await migrate(sql, [first], { mode: 'check', codeVersion: '1.0.0' })
  await migrate(sql, [first], { mode: true, codeVersion: '1.0.0' })
})

test('a migration that was rewritten after it was applied is an error that advises to drop the schema', async () => {
  const sql = await (await blankDatabase()).open({ schema: 'mine' })
  await up(sql, [first])
  const rewritten = { ...first, text: `${first.text} -- rewritten` }
  const refusal = await failureOf(up(sql, [rewritten]))
  expect(refusal).toMatchObject({ reason: 'schema_differs' })
  expect(String(refusal)).toContain('drop schema "mine" cascade')
})

test('the error of a role without the right to create names the missing grant; with nothing pending it needs none', async () => {
  const database = await blankDatabase()
  const owner = await database.open()
  const role = `${database.name}_role`
  await owner.script(`create role ${role} login password 'x'`)
  onTestFinished(() => owner.script(`drop owned by ${role}; drop role ${role}`))
  const url = new URL(database.url)
  url.username = role
  url.password = 'x'
  const limited = await database.open({ url: url.href })

  const refusal = await failureOf(up(limited, [first]))
  expect(refusal).toMatchObject({ reason: 'missing_right', sqlState: '42501' })
  expect(String(refusal)).toContain(`grant create on database ${database.name} to ${role}`)

  await up(owner, [first])
  const unread = await failureOf(up(limited, [first]))
  expect(String(unread)).toContain(`grant usage, create on schema "flowfabric" to ${role}`)

  await owner.script(`
    grant usage on schema flowfabric to ${role};
    grant select, insert, update, delete on all tables in schema flowfabric to ${role}`)
  await up(limited, [first])
  await migrate(limited, [first], { mode: 'check', codeVersion: '1.0.0' })
})

test('a migration leaves the lock queue between tries, so a long reader delays no other query, and succeeds after the reader', async () => {
  const database = await blankDatabase()
  const sql = await database.open()
  const other = await database.open()
  await up(sql, [first])
  const reader = await hold(database.url, 'select from flowfabric.ff_item')
  const migrating = migrate(sql, [first, second], { mode: true, codeVersion: '1.2.0', lockTimeoutMs: 50 })
  await reader.waiters(1)
  // It waits behind the migration until the migration gives up its try.
  expect(await other.query(ITEMS, {})).toEqual([{ count: 100 }])
  await reader.waiters(1)
  await reader.release()
  await migrating
  expect(await sql.query(LEDGER, {})).toHaveLength(2)
})

test('a migration that never gets its lock is refused, and the error names the process that holds it', async () => {
  const database = await blankDatabase()
  const sql = await database.open()
  await up(sql, [first])
  await hold(database.url, 'select from flowfabric.ff_item')
  const options = { mode: true, codeVersion: '1.2.0', lockTimeoutMs: 50, lockPatienceMs: 200 } as const
  const refusal = await failureOf(migrate(sql, [first, second], options))
  expect(refusal).toMatchObject({ reason: 'migration_blocked', sqlState: '55P03' })
  expect(String(refusal)).toMatch(
    /Migration 2 \(second\) .* held by pid \d+ \(test hold\) on ff_item, idle in transaction for \d+ s/,
  )
  expect(await sql.query(LEDGER, {})).toHaveLength(1)
})

test("a migration may take longer than the connection's limit for a statement", async () => {
  const sql = await (await blankDatabase()).open({ answerWithinMs: 400 })
  const slow = { ...first, text: `${first.text} select pg_sleep(1);` }
  await up(sql, [slow])
  expect(await sql.query(LEDGER, {})).toHaveLength(1)
})
