// An ended child wakes the parent that waits for it.
import { expect, test } from 'vitest'
import type { Engine } from '../../../src/engine/contract.ts'
import { notifyParents } from '../../../src/engine/dispatch/parent.ts'
import type { Claim } from '../../../src/engine/execution/claim.ts'
import { suspensionTimeout } from '../../../src/engine/duties/suspension-timeout.ts'
import type { Condition } from '../../../src/model/condition.ts'
import type { ExecutionId } from '../../../src/model/id.ts'
import { factory } from '../../support/factory.ts'
import { setup } from '../../support/setup.ts'
import { fenceOf, held, take } from '../execution/holder.ts'
import { suspend } from '../waiting/suspension/waiting.ts'
import * as stored from '../../support/stored.ts'

test.each(['completed', 'failed', 'cancelled'] as const)('a child that is %s wakes its parent', async (how) => {
  const { engine, sql } = await setup({ dispatch: false })
  const parent = await held(engine)
  const childId = await childOf(engine, parent)
  await suspend(engine, parent, { condition: endOf(childId) })
  await end(engine, childId, how)
  expect(await notifyParents(sql, 100)).toMatchObject({
    seen: 1,
    done: 1,
    effects: { readyQueueIds: [expect.any(Number)] },
  })
  expect(await stored.dispatches.all(sql)).toEqual([])
  const resumed = await take(engine)
  expect(resumed).toMatchObject({
    executionId: parent.executionId,
    reason: 'resume',
    attemptIndex: 0,
    resumption: { closeReason: 'resumed', signals: [] },
  })
  const events = await stored.events.pick(sql, ['actor'], { event_type: 'resumed' })
  expect(events).toEqual([{ actor: 'dispatch' }])
})

test('a parent is resumable by the endings of its children, and reports that', async () => {
  const { engine, sql } = await setup({ dispatch: false })
  const parent = await held(engine)
  const childId = await childOf(engine, parent)
  await suspend(engine, parent, { condition: endOf(childId) })
  await end(engine, childId, 'completed')
  await notifyParents(sql, 100)
  expect(await engine.executions.describe(parent.executionId)).toMatchObject({
    publicState: 'resumable',
    state: { interruption: 'children' },
  })
})

test('a parent that waits for all of three wakes with the last, once', async () => {
  const { engine, sql } = await setup({ dispatch: false })
  const parent = await held(engine)
  const children = [await childOf(engine, parent), await childOf(engine, parent), await childOf(engine, parent)]
  await suspend(engine, parent, { condition: { kind: 'allOf', members: children.map(endOf) } })
  for (const childId of children.slice(1)) {
    await end(engine, childId, 'completed')
    expect(await notifyParents(sql, 100)).toMatchObject({ seen: 1, done: 1, effects: { readyQueueIds: [] } })
    expect((await engine.executions.describe(parent.executionId))?.publicState).toBe('suspended')
  }
  await end(engine, children[0]!, 'failed')
  expect(await notifyParents(sql, 100)).toMatchObject({ done: 1, effects: { readyQueueIds: [expect.any(Number)] } })
  expect(await notifyParents(sql, 100)).toMatchObject({ seen: 0, done: 0 })
  expect(await stored.events.all(sql, { event_type: 'resumed' })).toHaveLength(1)
})

test('children that end together are evaluated together', async () => {
  const { engine, sql } = await setup({ dispatch: false })
  const parent = await held(engine)
  const children = [await childOf(engine, parent), await childOf(engine, parent)]
  await suspend(engine, parent, { condition: { kind: 'anyOf', members: children.map(endOf) } })
  for (const childId of children) await end(engine, childId, 'cancelled')
  expect(await notifyParents(sql, 100)).toMatchObject({ seen: 2, done: 2 })
  expect(await take(engine)).toMatchObject({ executionId: parent.executionId })
})

test('a parent that does not wait is left alone, and receives the ending when it suspends', async () => {
  const { engine, sql } = await setup({ dispatch: false })
  const parent = await held(engine)
  const childId = await childOf(engine, parent)
  await end(engine, childId, 'completed')
  expect(await notifyParents(sql, 100)).toMatchObject({ seen: 1, done: 1, effects: { readyQueueIds: [] } })
  expect(await stored.dispatches.all(sql)).toEqual([])
  await suspend(engine, parent, { condition: endOf(childId) })
  expect(await take(engine)).toMatchObject({ executionId: parent.executionId, reason: 'resume' })
})

test('a parent that waits for another event stays suspended, with its timer', async () => {
  const { engine, sql, clock } = await setup({ dispatch: false })
  await clock.freeze()
  const parent = await held(engine)
  const childId = await childOf(engine, parent)
  const at = (await clock.now()) + 60_000
  await suspend(engine, parent, {
    condition: { kind: 'allOf', members: [endOf(childId), { kind: 'time', at }] },
  })
  await end(engine, childId, 'completed')
  await notifyParents(sql, 100)
  expect(await stored.suspensions.pick(sql, ['wake_at_ms', 'closed_at_ms'])).toEqual([
    { wake_at_ms: at, closed_at_ms: null },
  ])
})

test('a child that ended before the timeout counts, also when its parent was not notified yet', async () => {
  const { engine, sql, clock } = await setup({ dispatch: false })
  const [satisfied, unsatisfied] = [await held(engine), await held(engine)]
  for (const [parent, more] of [[satisfied, []] as const, [unsatisfied, [{ kind: 'operator' }]] as const]) {
    const childId = await childOf(engine, parent)
    const condition: Condition = { kind: 'allOf', members: [endOf(childId), ...more] }
    await suspend(engine, parent, { condition, timeout: '1m' })
    await end(engine, childId, 'completed')
  }
  await clock.advance('2m')
  expect(await suspensionTimeout.runOnce(sql)).toMatchObject({ processed: 2, errors: 0 })
  for (const done of [2, 0]) {
    expect((await engine.executions.describe(satisfied.executionId))?.publicState).toBe('resumable')
    expect((await engine.executions.describe(unsatisfied.executionId))?.publicState).toBe('failed')
    expect(await notifyParents(sql, 100)).toMatchObject({ done })
  }
})

test('the resume delay of the parent holds', async () => {
  const { engine, sql } = await setup({ dispatch: false })
  const parent = await held(engine)
  const childId = await childOf(engine, parent)
  await suspend(engine, parent, { condition: endOf(childId), resumeDelay: '5s' })
  await end(engine, childId, 'completed')
  expect(await notifyParents(sql, 100)).toMatchObject({
    done: 1,
    effects: { readyQueueIds: [], dueInMs: { delay: 5000 } },
  })
  expect((await engine.executions.describe(parent.executionId))?.publicState).toBe('delayed')
})

test('the work that a child owes its flow or its own children stays when its parent is notified', async () => {
  const { engine, sql } = await setup({ dispatch: false })
  const parent = await held(engine)
  const childId = await childOf(engine, parent)
  const grandchild = await engine.executions.create({ kind: 'grandchild', parentId: childId })
  await end(engine, childId, 'cancelled')
  expect(await notifyParents(sql, 100)).toMatchObject({ seen: 1, done: 1 })
  expect(await stored.dispatches.pick(sql, ['parent_id', 'has_children'])).toEqual([
    { parent_id: null, has_children: true },
  ])
  expect(await notifyParents(sql, 100)).toMatchObject({ seen: 0 })
  expect(grandchild.kind).toBe('created')
})

test('the ending of a child whose parent is deleted is dropped', async () => {
  const { engine, sql } = await setup({ dispatch: false })
  const parentId = await factory(sql).completed()
  const childId = await factory(sql).waiting({ parentId })
  await engine.executions.cancel({ executionId: childId })
  for (const table of [stored.executions, stored.inputs, stored.attempts]) {
    await table.remove(sql, { execution_id: parentId })
  }
  expect(await notifyParents(sql, 100)).toMatchObject({ seen: 1, done: 1 })
  expect(await stored.dispatches.all(sql)).toEqual([])
})

test('a set takes the requested number, the oldest first', async () => {
  const { engine, sql } = await setup({ dispatch: false })
  const parent = await held(engine)
  for (let index = 0; index < 5; index++) await end(engine, await childOf(engine, parent), 'cancelled')
  expect(await notifyParents(sql, 3)).toMatchObject({ seen: 3, done: 3 })
  expect(await notifyParents(sql, 3)).toMatchObject({ seen: 2, done: 2 })
})

const endOf = (executionId: ExecutionId): Condition => ({ kind: 'child', executionId })

async function childOf(engine: Engine, { executionId: parentId }: Claim): Promise<ExecutionId> {
  return (await engine.executions.create({ kind: 'child', parentId })).executionId
}

async function end(engine: Engine, executionId: ExecutionId, how: 'completed' | 'failed' | 'cancelled'): Promise<void> {
  if (how === 'cancelled') return void (await engine.executions.cancel({ executionId }))
  const grant = { executionId, workerId: 'w', workerInstanceId: 'w-1' }
  const { grantId } = await engine.executions.grant(grant)
  const fence = fenceOf(await engine.executions.claimById({ ...grant, grantId }))
  if (how === 'completed') await engine.executions.complete(fence)
  else await engine.executions.fail({ ...fence, reason: 'broke' })
}
