// The children of an ended parent.
import { expect, test } from 'vitest'
import type { Engine } from '../../../src/engine/contract.ts'
import { dispatch } from '../../../src/engine/duties/dispatch.ts'
import { leaveChildren } from '../../../src/engine/dispatch/children.ts'
import { pendingDispatch } from '../../../src/engine/kernel/pending-dispatch.ts'
import { notifyParents } from '../../../src/engine/dispatch/parent.ts'
import type { OnParentEnd } from '../../../src/engine/transition/new-execution.ts'
import { attached } from '../../../src/model/attached.ts'
import { parseExecutionId, type ExecutionId } from '../../../src/model/id.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { fenceOf, held, take } from '../execution/holder.ts'
import * as stored from '../../support/stored.ts'

test('live children are marked for a cancel with their parent, in its name', async () => {
  const { engine, sql } = await setup({ dispatch: false })
  const parent = await held(engine)
  const children = await childrenOf(engine, parent.executionId, ['cancel', 'cancel'])
  await engine.executions.complete(fenceOf(parent))
  expect(await leaveChildren(sql, 100)).toMatchObject({
    seen: 1,
    done: 1,
    effects: { pendingDispatch: pendingDispatch.cancels },
  })
  const backlog = await stored.cancelBacklog.pick(sql, ['execution_id', 'generation', 'reason', 'actor'])
  expect(backlog).toHaveLength(2)
  expect(backlog.map((row) => row['execution_id']).toSorted()).toEqual(uuidsOf(children))
  expect(backlog[0]).toMatchObject({ generation: 0, reason: 'parent_ended', actor: 'dispatch' })
  expect(await stored.dispatches.all(sql)).toEqual([])
})

test('a detached child continues, still names its parent, and owes it nothing', async () => {
  const { engine, sql } = await setup({ dispatch: false })
  const parent = await held(engine)
  const [childId] = await childrenOf(engine, parent.executionId, ['detach'])
  await engine.executions.complete(fenceOf(parent))
  expect(await leaveChildren(sql, 100)).toMatchObject({ seen: 1, done: 1, effects: { pendingDispatch: 0 } })
  const claim = await take(engine)
  expect(claim).toMatchObject({ executionId: childId, parentId: parent.executionId })
  await engine.executions.complete(fenceOf(claim))
  expect(await stored.dispatches.all(sql)).toEqual([])
})

test('ended children stay unchanged', async () => {
  const { engine, sql } = await setup({ dispatch: false })
  const parent = await held(engine)
  const [one, two] = await childrenOf(engine, parent.executionId, ['cancel', 'detach'])
  for (const executionId of [one!, two!]) await engine.executions.cancel({ executionId, reason: 'own' })
  await engine.executions.complete(fenceOf(parent))
  expect(await leaveChildren(sql, 100)).toMatchObject({ seen: 1, done: 1, effects: { pendingDispatch: 0 } })
  expect(await notifyParents(sql, 100)).toMatchObject({ seen: 2, done: 2 })
  expect(await bitsOf(sql, two!)).toBe(attached.parent)
  expect(await stored.dispatches.all(sql)).toEqual([])
})

test('more children than a set takes are marked set by set, each once', async () => {
  const { engine, sql } = await setup({ dispatch: false })
  const parent = await held(engine)
  const ends = Array.from({ length: 25 }, (_, index): OnParentEnd => (index % 5 === 0 ? 'detach' : 'cancel'))
  await childrenOf(engine, parent.executionId, ends)
  await engine.executions.complete(fenceOf(parent))
  const sets = [await leaveChildren(sql, 10), await leaveChildren(sql, 10), await leaveChildren(sql, 10)]
  expect(sets.map(({ seen, done }) => [seen, done])).toEqual([
    [10, 10],
    [10, 10],
    [1, 1],
  ])
  expect(await leaveChildren(sql, 10)).toMatchObject({ seen: 0, done: 0, effects: { pendingDispatch: 0 } })
  expect(await stored.cancelBacklog.all(sql)).toHaveLength(20)
  expect(await stored.executions.all(sql, { parent_id: stored.present, attached: 0 })).toHaveLength(5)
})

test("the work that a parent's ending owes its own parent stays", async () => {
  const { engine, sql } = await setup({ dispatch: false })
  const root = await held(engine)
  const [parentId] = await childrenOf(engine, root.executionId, ['cancel'])
  await childrenOf(engine, parentId!, ['cancel'])
  await engine.executions.cancel({ executionId: parentId! })
  expect(await leaveChildren(sql, 100)).toMatchObject({
    seen: 1,
    done: 1,
    effects: { pendingDispatch: pendingDispatch.cancels | pendingDispatch.parent },
  })
  expect(await stored.cancelBacklog.all(sql)).toHaveLength(1)
  expect(await stored.dispatches.pick(sql, ['parent_id', 'has_children'])).toEqual([
    { parent_id: parseExecutionId(root.executionId).uuid, has_children: false },
  ])
})

test('a parent that was replayed meanwhile keeps its children, until it ends again', async () => {
  const { engine, sql } = await setup({ dispatch: false })
  const parent = await held(engine)
  await childrenOf(engine, parent.executionId, ['cancel'])
  await engine.executions.complete(fenceOf(parent))
  await engine.executions.replay({ executionId: parent.executionId })
  expect(await leaveChildren(sql, 100)).toMatchObject({ seen: 1, done: 1, effects: { pendingDispatch: 0 } })
  await engine.executions.cancel({ executionId: parent.executionId })
  expect(await leaveChildren(sql, 100)).toMatchObject({
    seen: 1,
    done: 1,
    effects: { pendingDispatch: pendingDispatch.cancels },
  })
  expect(await stored.cancelBacklog.all(sql)).toHaveLength(1)
})

test('a later generation of the parent cannot wait for a detached child until that has ended', async () => {
  const { engine, sql } = await setup({ dispatch: false })
  const parent = await held(engine)
  const [childId] = await childrenOf(engine, parent.executionId, ['detach'])
  await engine.executions.complete(fenceOf(parent))
  await leaveChildren(sql, 100)
  await engine.executions.replay({ executionId: parent.executionId })
  const again = await take(engine, { kinds: ['k'] })
  const condition = { kind: 'child', executionId: childId! } as const
  await refusal('invalid_condition', engine.executions.suspend({ ...fenceOf(again), condition }))
  await engine.executions.cancel({ executionId: childId! })
  expect(await engine.executions.trySuspend({ ...fenceOf(again), condition })).toMatchObject({
    kind: 'already_satisfied',
  })
})

test('the duty marks children and notifies parents, within its filter', async () => {
  const { engine, sql } = await setup({ dispatch: false })
  for (const namespace of ['a', 'b']) {
    const bound = engine.as({ namespace })
    const parent = await held(bound)
    const [one] = await childrenOf(bound, parent.executionId, ['cancel', 'cancel'])
    await bound.executions.cancel({ executionId: one! })
    await bound.executions.complete(fenceOf(parent))
  }
  expect(await dispatch.runOnce(sql, { filter: { namespace: 'a' } })).toMatchObject({ processed: 2, errors: 0 })
  expect(await stored.dispatches.all(sql)).toHaveLength(2)
  expect(await stored.cancelBacklog.all(sql)).toHaveLength(1)
  expect(await dispatch.runOnce(sql)).toMatchObject({ processed: 2, errors: 0 })
  expect(await stored.dispatches.all(sql)).toEqual([])
})

test('an ending that cannot be processed is quarantined, and the others are processed', async () => {
  const { engine, sql } = await setup({ dispatch: false })
  const parents = [await held(engine), await held(engine)]
  for (const { executionId } of parents) await childrenOf(engine, executionId, ['cancel'])
  await engine.executions.completeMany(parents.map(fenceOf))
  const [bad] = await stored.executions.all(sql, { parent_id: stored.present })
  const message = 'refused by the test'
  const accept = await stored.cancelBacklog.refuse(sql, 'insert', {
    match: { execution_id: bad!.execution_id },
    message,
    code: '23514',
  })
  expect(await dispatch.runOnce(sql)).toMatchObject({ processed: 1, errors: 1 })
  expect(await stored.quarantine.pick(sql, ['duty'])).toEqual([{ duty: 'dispatch-children' }])
  await accept()
})

async function childrenOf(
  engine: Engine,
  parentId: ExecutionId,
  ends: readonly OnParentEnd[],
): Promise<readonly ExecutionId[]> {
  const requests = ends.map((onParentEnd) => ({ kind: 'child', parentId, onParentEnd }))
  const answers = await engine.executions.createMany(requests)
  return answers.map((answer) => (answer.kind === 'refused' ? expect.unreachable() : answer.executionId))
}

function uuidsOf(ids: readonly ExecutionId[]): readonly string[] {
  return ids.map((id) => parseExecutionId(id).uuid).toSorted()
}

async function bitsOf(sql: Sql, executionId: ExecutionId): Promise<unknown> {
  const { uuid } = parseExecutionId(executionId)
  const [row] = await stored.executions.pick(sql, ['attached'], { execution_id: uuid })
  return row!['attached']
}
