import { randomBytes } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { checkHealth } from '../../src/engine/health/check.ts'
import { logBlocks } from '../../src/engine/duties/log-blocks.ts'
import { codeVersion } from '../../src/model/version.ts'
import { openPostgres } from '../../src/sql/postgres.ts'
import type { Sql } from '../../src/sql/sql.ts'
import { hold } from '../support/barrier.ts'
import { factory } from '../support/factory.ts'
import { refusal } from '../support/refusal.ts'
import { setup } from '../support/setup.ts'
import { secondEngine } from './second-engine.ts'
import * as stored from '../support/stored.ts'
import { moveLog, logBlocksOf } from '../support/event-log.ts'

const firstEnd = 10_000_001
const duty = logBlocks({ keptForMs: 3_600_000, blockSize: 10 })

async function another(url: string): Promise<Sql> {
  const sql = await openPostgres({ url, schema: 'flowfabric' })
  onTestFinished(() => sql.close())
  return sql
}

/** A log with an old block, full, and a new one with an event. */
async function withOldBlock() {
  const fixture = await setup()
  const { sql, clock } = fixture
  const given = factory(sql)
  await moveLog(sql, firstEnd - 1)
  await given.completed()
  await duty.runOnce(sql)
  await clock.advance('2h')
  await given.completed()
  expect(await logBlocksOf(sql)).toHaveLength(2)
  return fixture
}

test('while a reader reads the log for long, its oldest block stays, and writers continue', async () => {
  const { engine, sql, url } = await withOldBlock()
  const held = await hold(url, stored.events.selecting('*'))
  const error = await refusal('contended', duty.runOnce(sql))
  expect(error.message).toContain('the oldest block of the event log could not be dropped')
  await engine.executions.cancel({ executionId: await factory(sql).waiting() })
  expect(await logBlocksOf(sql)).toHaveLength(2)
  await held.release()
  await expect.poll(() => duty.runOnce(sql).catch(() => null)).toMatchObject({ processed: 1, errors: 0 })
  expect(await logBlocksOf(sql)).toHaveLength(1)
})

test('an event in progress keeps its block', async () => {
  const { sql, url } = await withOldBlock()
  const event = `insert into ${stored.events.qualified} (event_id, occurred_at_ms, event_type, partition_key, namespace, actor)
    values (7, 1, 'renewed', 0, 'default', 'late')`
  const held = await hold(url, event)
  await refusal('contended', duty.runOnce(sql))
  expect(await logBlocksOf(sql)).toHaveLength(2)
  await held.release()
})

test('two engines that create or drop the same block at once create one and drop one', async () => {
  const { sql, url } = await withOldBlock()
  const other = await another(url)
  const dropping = await Promise.allSettled([duty.runOnce(sql), duty.runOnce(other)])
  const dropped = dropping.flatMap((run) => (run.status === 'fulfilled' ? [run.value.processed] : []))
  expect(dropped.reduce((sum, count) => sum + count, 0)).toBe(1)
  expect(await logBlocksOf(sql)).toHaveLength(1)
  await moveLog(sql, firstEnd + 6)
  const making = await Promise.all([duty.runOnce(sql), duty.runOnce(other)])
  expect(making.map((run) => run.errors)).toEqual([0, 0])
  expect(await logBlocksOf(sql)).toHaveLength(2)
})

test('writers that cross blocks while these are created and dropped all succeed', async () => {
  const { engine, sql, url } = await setup()
  const other = await secondEngine(url)
  await moveLog(sql, firstEnd - 5)
  const brisk = logBlocks({ keptForMs: 0, blockSize: 20 })
  const written = new AbortController()
  const upkeep = (async () => {
    while (!written.signal.aborted) {
      await brisk.runOnce(sql).catch((error: unknown) => expect(error).toMatchObject({ code: 'contended' }))
    }
  })()
  const write = async (engineOf: typeof engine) => {
    for (let count = 0; count < 60; count++) {
      const { executionId } = await engineOf.executions.create({ kind: 'k' })
      await engineOf.executions.cancel({ executionId })
    }
  }
  await Promise.all([write(engine), write(other)]).finally(() => written.abort())
  await upkeep
  expect(await stored.executions.count(sql, { public_state: 'cancelled' })).toBe(120)
})

test('a role that may not create or drop blocks gets an error that says what to do, and doctor reports it before', async () => {
  const { sql, url } = await withOldBlock()
  const role = `visitor_${randomBytes(6).toString('hex')}`
  await sql.script(`
    create role ${role} login password 'visitor';
    grant usage on schema flowfabric to ${role};
    grant select, insert, update, delete on all tables in schema flowfabric to ${role};
    grant usage, select on all sequences in schema flowfabric to ${role}`)
  const visitorUrl = new URL(url)
  visitorUrl.username = role
  visitorUrl.password = 'visitor'
  const visitor = await openPostgres({ url: visitorUrl.href, schema: 'flowfabric' })
  try {
    const { findings } = await checkHealth(visitor, codeVersion)
    expect(findings.find(({ check }) => check === 'event log')).toMatchObject({
      verdict: 'trouble',
      sentence: `Role ${role} lacks the permission to create the next block of the event log, and there is room for 9 more events.`,
      next: `As the owner of the tables, run: flowfabric migrate --grant-to "${role}".`,
    })
    const dropping = await refusal('database_right_missing', duty.runOnce(visitor))
    expect(dropping.message).toContain('run flowfabric migrate --grant-to')
    await duty.runOnce(sql)
    expect(await duty.runOnce(visitor)).toMatchObject({ processed: 0, errors: 0 })
    await moveLog(sql, firstEnd + 6)
    const making = await refusal('database_right_missing', duty.runOnce(visitor))
    expect(making.message).toContain('the next block of the event log could not be created')
  } finally {
    await visitor.close()
    await sql.script(`drop owned by ${role}; drop role ${role}`)
  }
})
