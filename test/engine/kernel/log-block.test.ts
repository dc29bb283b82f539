import { expect, test } from 'vitest'
import { factory } from '../../support/factory.ts'
import { setup } from '../../support/setup.ts'
import * as stored from '../../support/stored.ts'
import { moveLog } from '../../support/event-log.ts'

test('a cancel that finds no block of the log creates it and succeeds', async () => {
  const { engine, sql } = await setup()
  const executionId = await factory(sql).active()
  await moveLog(sql, 10_000_001)
  expect(await engine.executions.cancel({ executionId })).toMatchObject({ kind: 'cancelled' })
  expect(await stored.events.pick(sql, ['event_type'], 'event_id > 10000000')).toEqual([{ event_type: 'ended' }])
})

test('a set that crosses the end of a block is written whole, once', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const ids = await Promise.all(Array.from({ length: 5 }, () => given.waiting()))
  await moveLog(sql, 9_999_998)
  const answers = await engine.executions.cancelMany(ids.map((executionId) => ({ executionId })))
  expect(answers.every((answer) => answer.kind === 'cancelled')).toBe(true)
  expect(await stored.events.all(sql)).toHaveLength(5)
})
