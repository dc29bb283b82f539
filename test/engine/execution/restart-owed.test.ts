// A restart that ends instead, because a cancel was requested, owes others the same work as every ending.
import { expect, test } from 'vitest'
import { setup } from '../../support/setup.ts'
import { walk } from '../flow/walk.ts'
import { fenceOf, held, take } from './holder.ts'
import * as stored from '../../support/stored.ts'

test('its flow is notified after the commit, without a run of the duty', async () => {
  const fixture = await setup()
  const { engine, dispatched } = fixture
  const flow = await walk(fixture, { edges: ['a > b'] })
  const a = await flow.take('a')
  await engine.executions.cancel({ executionId: a.executionId, grace: '1m' })
  expect(await engine.executions.restart(fenceOf(a))).toMatchObject({ kind: 'cancelled' })
  await dispatched()
  expect(await flow.states()).toEqual({ a: 'cancelled', b: 'skipped' })
})

test('its children end with it', async () => {
  const { engine, sql, dispatched } = await setup()
  const parent = await held(engine)
  await engine.executions.create({ kind: 'c', parentId: parent.executionId })
  const child = await take(engine)
  await engine.executions.cancel({ executionId: parent.executionId, grace: '1m' })
  expect(await engine.executions.restart(fenceOf(parent))).toMatchObject({ kind: 'cancelled' })
  await dispatched()
  expect(await engine.executions.describe(child.executionId)).toMatchObject({ publicState: 'cancelled' })
  expect(await stored.dispatches.all(sql)).toEqual([])
})
