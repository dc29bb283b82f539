import pg from 'pg'
import { afterAll, expect, inject, test } from 'vitest'
import { Bell } from '../../src/engine/kernel/bell.ts'
import { rows } from './raw.ts'
import { setup } from './setup.ts'
import { patience } from './patience.ts'

test('each test starts with an empty database: the first fills it', async () => {
  const { engine, clock } = await setup()
  await engine.executions.create({ kind: 'anything' })
  await clock.advance('1h')
  expect((await engine.executions.list()).executions).toHaveLength(1)
})

test('each test starts with an empty database: the second finds no rows of the first', async () => {
  const { engine, clock } = await setup()
  expect((await engine.executions.list()).executions).toEqual([])
  expect(Math.abs((await clock.now()) - Date.now())).toBeLessThan(patience(10_000))
})

test('two databases of one test are separate', async () => {
  const [a, b] = [await setup(), await setup()]
  await a.engine.executions.create({ kind: 'anything' })
  expect((await b.engine.executions.list()).executions).toEqual([])
})

test('the database is of the kind that the project names', async () => {
  const { sql } = await setup()
  expect(sql.kind).toBe(inject('backend'))
})

test.fails('a test that strands an execution fails', async () => {
  const { engine, sql } = await setup()
  await engine.executions.create({ kind: 'anything' })
  await sql.script('delete from flowfabric.ff_ready')
})

test('a test may change the schema without harm to the next: the first changes it', async () => {
  const { sql } = await setup()
  await sql.script('alter table flowfabric.ff_queue add column note text')
})

test('a test may change the schema without harm to the next: the second does not see it', async () => {
  const { sql } = await setup()
  await expect(sql.script('select note from flowfabric.ff_queue')).rejects.toThrow('does not exist')
})

test('a test may change the ledger without harm to the next: the first empties it', async () => {
  const { sql } = await setup()
  await sql.script('delete from flowfabric.ff_migration')
})

test('a test may change the ledger without harm to the next: the second finds it whole', async () => {
  const { sql } = await setup()
  expect(await rows(sql, 'select from flowfabric.ff_migration')).not.toEqual([])
})

test.runIf(inject('backend') === 'postgres').fails('a test that leaves a connection open fails', async () => {
  const { url } = await setup()
  const client = new pg.Client(url)
  client.on('error', () => {})
  await client.connect()
})

test('the clock moves for every connection, by the same amount', async () => {
  const { engine, clock } = await setup()
  const before = await clock.now()
  await clock.advance('5m')
  const after = await engine.serverTime()
  expect(after - before).toBeGreaterThanOrEqual(300_000)
  expect(after - before).toBeLessThan(300_000 + patience(10_000))
})

test('a frozen clock stops until it is advanced', async () => {
  const { clock } = await setup()
  await clock.freeze()
  const before = await clock.now()
  await clock.advance(1)
  expect(await clock.now()).toBe(before + 1)
})

// This is the last test of the file, because its timer runs until it rings.
const clumsy = new Bell()
afterAll(() => clumsy.ring())

test.fails('a test that leaves a timer of ours running fails', async () => {
  await setup()
  void clumsy.wait(undefined, 600_000)
})
