// An owed cancel follows its member through restarts, and not beyond an ending.
import { expect, test } from 'vitest'
import { leaveChildren } from '../../../src/engine/dispatch/children.ts'
import { cancelBacklog } from '../../../src/engine/duties/cancel-backlog.ts'
import { dispatch } from '../../../src/engine/duties/dispatch.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { setup } from '../../support/setup.ts'
import { fenceOf, held, take } from '../execution/holder.ts'
import { walk } from '../flow/walk.ts'
import * as stored from '../../support/stored.ts'
import { makeReady } from '../../support/changes.ts'

const backlogOf = (sql: Sql) => stored.cancelBacklog.pick(sql, ['generation'], {}, 'generation')

test('a member that restarts beside the cancel of its flow is cancelled, and the flow ends', async () => {
  const fixture = await setup({ dispatch: false })
  const { engine, sql } = fixture
  const flow = await walk(fixture, { members: ['a'] })
  const a = await flow.take('a')
  await engine.flows.cancel({ flowId: flow.flowId })
  expect(await engine.executions.restart(fenceOf(a))).toMatchObject({ kind: 'restarted' })
  const again = await engine.flows.cancel({ flowId: flow.flowId })
  expect(again).toMatchObject({ kind: 'already_cancelled', memberCount: 1, memberIds: [flow.id('a')] })
  expect(await cancelBacklog.runOnce(sql)).toMatchObject({ processed: 1, errors: 0 })
  expect(await flow.states()).toEqual({ a: 'cancelled' })
  expect(await flow.why('a')).toBe('flow_cancelled')
  await dispatch.runOnce(sql)
  expect(await flow.row()).toMatchObject({ outcome: 'cancelled', cancelled_count: 1 })
  expect(await backlogOf(sql)).toEqual([])
})

test('a member that was spared because it had started is spared after a restart too', async () => {
  const fixture = await setup({ dispatch: false })
  const { engine, sql } = fixture
  const flow = await walk(fixture, { members: ['a'] })
  await engine.flows.cancel({ flowId: flow.flowId, policy: 'cancel_pending' })
  // A claim that began before the cancel.
  await stored.flows.change(sql, { cancel_policy: null, cancelled_at_ms: null })
  await makeReady(sql)
  const a = await flow.take('a')
  await stored.flows.change(sql, { cancel_policy: 'cancel_pending', cancelled_at_ms: 1 })
  await engine.executions.restart(fenceOf(a))
  await cancelBacklog.runOnce(sql)
  expect(await flow.states()).toEqual({ a: 'waiting' })
  expect(await backlogOf(sql)).toEqual([])
  await flow.endTaken(await flow.take('a'))
})

test('a child that restarts beside the ending of its parent ends with it, however often it does', async () => {
  const { engine, sql } = await setup({ dispatch: false })
  const parent = await held(engine)
  const { executionId } = await engine.executions.create({ kind: 'c', parentId: parent.executionId })
  const child = await take(engine)
  await engine.executions.complete(fenceOf(parent))
  await leaveChildren(sql, 100)
  await engine.executions.restart(fenceOf(child))
  await engine.executions.restart(fenceOf(await take(engine)))
  expect(await cancelBacklog.runOnce(sql)).toMatchObject({ processed: 1, errors: 0 })
  expect(await engine.executions.describe(executionId)).toMatchObject({ publicState: 'cancelled', generation: 2 })
})

test('a member whose cancel is owed for two of its generations ends once', async () => {
  const fixture = await setup({ dispatch: false })
  const { engine, sql } = fixture
  const quorum = { kind: 'quorum', k: 1, onSatisfied: 'cancel_remaining' } as const
  const flow = await walk(fixture, { edges: ['a > c', 'b > c'], groups: { c: quorum } })
  const b = await flow.take('b')
  await flow.endTaken(await flow.take('a'))
  await dispatch.runOnce(sql)
  await engine.executions.restart(fenceOf(b))
  await engine.flows.cancel({ flowId: flow.flowId })
  expect(await backlogOf(sql)).toEqual([{ generation: 0 }, { generation: 0 }, { generation: 1 }])
  expect(await cancelBacklog.runOnce(sql)).toMatchObject({ processed: 3, errors: 0 })
  expect(await flow.states()).toEqual({ a: 'completed', b: 'cancelled', c: 'cancelled' })
  const endings = await stored.endings.all(sql, { outcome: 'cancelled' })
  expect(endings).toHaveLength(2)
})

test('a member that has ended and was replayed since, and has restarted, ignores the cancel of its earlier life', async () => {
  const { engine, sql } = await setup({ dispatch: false })
  const parent = await held(engine)
  const { executionId } = await engine.executions.create({ kind: 'c', parentId: parent.executionId })
  const child = await take(engine)
  await engine.executions.complete(fenceOf(parent))
  await leaveChildren(sql, 100)
  await engine.executions.restart(fenceOf(child))
  await engine.executions.complete(fenceOf(await take(engine)))
  await engine.executions.replay({ executionId })
  await engine.executions.restart(fenceOf(await take(engine)))
  expect(await cancelBacklog.runOnce(sql)).toMatchObject({ processed: 1, errors: 0 })
  expect(await engine.executions.describe(executionId)).toMatchObject({ publicState: 'waiting', generation: 3 })
  expect(await backlogOf(sql)).toEqual([])
})
