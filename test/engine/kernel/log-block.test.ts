import { expect, test } from 'vitest'
import { factory } from '../../support/factory.ts'
import { rows } from '../../support/raw.ts'
import { setup } from '../../support/setup.ts'

test('a cancel that finds no block of the log creates it and succeeds', async () => {
  const { engine, sql } = await setup()
  const executionId = await factory(sql).active()
  await sql.script(`select setval('flowfabric.ff_event_id', 10000000)`)
  expect(await engine.executions.cancel({ executionId })).toMatchObject({ kind: 'cancelled' })
  expect(await rows(sql, 'select event_type from flowfabric.ff_event where event_id > 10000000')).toEqual([
    { event_type: 'ended' },
  ])
})

test('a set that crosses the end of a block is written whole, once', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const ids = await Promise.all(Array.from({ length: 5 }, () => given.waiting()))
  await sql.script(`select setval('flowfabric.ff_event_id', 9999997)`)
  const answers = await engine.executions.cancelMany(ids.map((executionId) => ({ executionId })))
  expect(answers.every((answer) => answer.kind === 'cancelled')).toBe(true)
  expect(await rows(sql, 'select from flowfabric.ff_event')).toHaveLength(5)
})
