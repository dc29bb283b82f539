// As a role with the rights of `migrate --grant-to`, which owns nothing.
import { expect, test } from 'vitest'
import { logBlocks } from '../../src/engine/duties/log-blocks.ts'
import { Supervisor } from '../../src/engine/duties/supervisor.ts'
import { allDuties } from '../../src/engine/duties/all.ts'
import type { Sql } from '../../src/sql/sql.ts'
import { fenceOf, take } from '../engine/execution/holder.ts'
import { factory } from '../support/factory.ts'
import { rows } from '../support/raw.ts'
import { setup } from '../support/setup.ts'
import * as stored from '../support/stored.ts'
import { moveLog, logBlocksOf } from '../support/event-log.ts'

const firstEnd = 10_000_001
const duty = logBlocks({ keptForMs: 3_600_000, blockSize: 10 })

/** The first id of each. */
async function blocks(sql: Sql): Promise<string[]> {
  return (await logBlocksOf(sql)).map((block) => block.slice(0, block.indexOf(':')))
}

test('the role owns nothing and may not change the schema', async () => {
  const { sql, owner } = await setup()
  const owned = `select from pg_class where relowner = (select oid from pg_roles where rolname = current_user)`
  expect(await rows(sql, owned)).toEqual([])
  await expect(sql.script('create table flowfabric.mine ()')).rejects.toMatchObject({ code: '42501' })
  await expect(sql.script(`drop table ${stored.events.qualified}`)).rejects.toMatchObject({ code: '42501' })
  await expect(stored.migrations.change(sql, { name: 'x' })).rejects.toMatchObject({ code: '42501' })
  expect(owner).not.toBe(sql)
})

test('claims and outcomes continue past the end of a block', async () => {
  const { engine, sql, owner } = await setup()
  await moveLog(owner, firstEnd - 1)
  for (let count = 0; count < 3; count++) {
    await engine.executions.create({ kind: 'k' })
    await engine.executions.complete(fenceOf(await take(engine)))
  }
  const executions = await stored.executions.pick(sql, ['public_state'])
  expect(executions).toEqual(Array.from({ length: 3 }, () => ({ public_state: 'completed' })))
  expect(await blocks(sql)).toEqual(['1', String(firstEnd)])
})

test('the duty makes the next block and drops the oldest', async () => {
  const { sql, owner, clock } = await setup()
  const given = factory(sql)
  await moveLog(owner, firstEnd - 1)
  await given.completed()
  expect(await duty.runOnce(sql)).toMatchObject({ processed: 1 })
  await clock.advance('2h')
  await given.completed()
  expect(await duty.runOnce(sql)).toMatchObject({ processed: 1, isFull: true })
  expect(await blocks(sql)).toEqual([String(firstEnd)])
})

test('a block that the log has not passed is not dropped', async () => {
  const { sql } = await setup()
  const drop = (first: number) => rows(sql, `select flowfabric.ff_drop_event_block(${first}) as dropped`)
  expect(await drop(firstEnd)).toEqual([{ dropped: false }])
  expect(await drop(7)).toEqual([{ dropped: false }])
  expect(await blocks(sql)).toEqual(['1'])
})

test('every background duty runs', async () => {
  const { sql } = await setup()
  const supervisor = new Supervisor(sql, {})
  supervisor.start()
  const names = allDuties(sql.kind).map((each) => each.name)
  await expect.poll(() => supervisor.reports.size).toBe(names.length)
  await supervisor.stop()
  expect([...supervisor.reports.values()].filter((report) => report.errors > 0)).toEqual([])
})
