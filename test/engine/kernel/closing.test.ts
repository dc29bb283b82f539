import { expect, test } from 'vitest'
import { openEngine } from '../../../src/engine/engine.ts'
import { around } from '../../../src/sql/around.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'

test('calls that were accepted before a close are done, however long their queue', async () => {
  const { engine, sql } = await setup()
  const { executionId } = await engine.executions.create({ kind: 'k', lane: 'work' })
  const { engine: closing, close } = openEngine(sql)
  const created = Array.from({ length: 1200 }, () => closing.executions.create({ kind: 'k' }))
  const keyed = closing.executions.create({ kind: 'k', idempotencyKey: 'key' })
  const cancelled = closing.executions.cancel({ executionId })
  await close()
  expect((await engine.executions.countByState()).waiting).toMatchObject({ count: 1201 })
  expect(new Set((await Promise.all([...created, keyed])).map((answer) => answer.kind))).toEqual(new Set(['created']))
  expect(await cancelled).toMatchObject({ kind: 'cancelled' })
})

test('a call after a close is refused, also while the close waits', async () => {
  const { engine, sql } = await setup()
  const { executionId } = await engine.executions.create({ kind: 'k', lane: 'work' })
  const { engine: closing, close } = openEngine(sql)
  const created = closing.executions.create({ kind: 'k' })
  const closed = close()
  const worker = { workerId: 'w', workerInstanceId: 'w-1' }
  await refusal('engine_closed', closing.executions.create({ kind: 'k' }))
  await refusal('engine_closed', closing.as({ actor: 'ada' }).executions.cancel({ executionId }))
  await refusal('engine_closed', closing.executions.claim({ ...worker, lanes: ['work'] }))
  await refusal('engine_closed', closing.executions.describe(executionId))
  expect(await closing.executions.createMany([{ kind: 'k' }])).toMatchObject([
    { kind: 'refused', error: { code: 'engine_closed' } },
  ])
  expect(await created).toMatchObject({ kind: 'created' })
  await Promise.all([closed, close()])
})

test('a close has a time limit', async () => {
  const { sql } = await setup()
  const { stuck, letGo } = untilLetGo(sql)
  const { engine: closing, close } = openEngine(stuck)
  const created = closing.executions.create({ kind: 'k' })
  await close(1)
  letGo()
  expect(await created).toMatchObject({ kind: 'created' })
})

/** A database that does not answer for now. */
function untilLetGo(sql: Sql): { stuck: Sql; letGo: () => void } {
  let letGo = (): void => {}
  const free = new Promise<void>((resolve) => (letGo = resolve))
  return { stuck: around(sql, (ask) => free.then(ask)), letGo }
}
