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

const firstEnd = 10_000_001
const duty = logBlocks({ keptForMs: 3_600_000, blockSize: 10 })

async function blocks(sql: Sql): Promise<unknown[]> {
  const found = await rows(
    sql,
    `select inhrelid::regclass::text as name from pg_inherits where inhparent = 'flowfabric.ff_event'::regclass order by 1`,
  )
  return found.map((row) => row['name'])
}

async function moveTo(owner: Sql, nextId: number): Promise<void> {
  await owner.script(`select setval('flowfabric.ff_event_id', ${nextId}, false)`)
}

test('the role owns nothing and may not change the schema', async () => {
  const { sql, owner } = await setup()
  const owned = `select from pg_class where relowner = (select oid from pg_roles where rolname = current_user)`
  expect(await rows(sql, owned)).toEqual([])
  await expect(sql.script('create table flowfabric.mine ()')).rejects.toMatchObject({ code: '42501' })
  await expect(sql.script('drop table flowfabric.ff_event')).rejects.toMatchObject({ code: '42501' })
  await expect(sql.script(`update flowfabric.ff_migration set name = 'x'`)).rejects.toMatchObject({ code: '42501' })
  expect(owner).not.toBe(sql)
})

test('claims and outcomes continue past the end of a block', async () => {
  const { engine, sql, owner } = await setup()
  await moveTo(owner, firstEnd - 1)
  for (let count = 0; count < 3; count++) {
    await engine.executions.create({ kind: 'k' })
    await engine.executions.complete(fenceOf(await take(engine)))
  }
  const states = 'select public_state::text as state, count(*)::int from flowfabric.ff_exec_core group by 1'
  expect(await rows(sql, states)).toEqual([{ state: 'completed', count: 3 }])
  expect(await blocks(sql)).toEqual(['flowfabric.ff_event_1', `flowfabric.ff_event_${firstEnd}`])
})

test('the duty makes the next block and drops the oldest', async () => {
  const { sql, owner, clock } = await setup()
  const given = factory(sql)
  await moveTo(owner, firstEnd - 1)
  await given.completed()
  expect(await duty.runOnce(sql)).toMatchObject({ processed: 1 })
  await clock.advance('2h')
  await given.completed()
  expect(await duty.runOnce(sql)).toMatchObject({ processed: 1, isFull: true })
  expect(await blocks(sql)).toEqual([`flowfabric.ff_event_${firstEnd}`])
})

test('a block that the log has not passed is not dropped', async () => {
  const { sql } = await setup()
  expect(await rows(sql, `select flowfabric.ff_drop_event_block(${firstEnd}) as dropped`)).toEqual([{ dropped: false }])
  expect(await rows(sql, 'select flowfabric.ff_drop_event_block(7) as dropped')).toEqual([{ dropped: false }])
  expect(await blocks(sql)).toEqual(['flowfabric.ff_event_1'])
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
