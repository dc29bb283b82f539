// Executions that are created by another.
import { expect, test } from 'vitest'
import type { Engine } from '../../../src/engine/contract.ts'
import type { CreateRequest } from '../../../src/engine/execution/create-request.ts'
import { attached } from '../../../src/model/attached.ts'
import { formatExecutionId, mintExecutionId, parseExecutionId, type ExecutionId } from '../../../src/model/id.ts'
import { limits } from '../../../src/model/limits.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { factory } from '../../support/factory.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { fenceOf, held, take } from './holder.ts'
import { bySets } from '../../../src/model/sets.ts'
import * as stored from '../../support/stored.ts'

test('a child carries the partition of its parent, names it, and is claimed like any other', async () => {
  const { engine } = await setup()
  const parent = await held(engine)
  const { executionId } = await child(engine, parent.executionId)
  expect(parseExecutionId(executionId).partition).toBe(parseExecutionId(parent.executionId).partition)
  expect(await take(engine)).toMatchObject({ executionId, parentId: parent.executionId })
  const { executions } = await engine.executions.list({ parentId: parent.executionId })
  expect(executions).toMatchObject([{ executionId, parentId: parent.executionId }])
})

test('an ending of a parent owes its children from the first on, and that of a child its parent', async () => {
  const { engine, sql } = await setup({ dispatch: false })
  const parent = await held(engine)
  expect(await bitsOf(sql, parent.executionId)).toBe(0)
  const first = await child(engine, parent.executionId)
  await child(engine, parent.executionId, { onParentEnd: 'detach' })
  expect(await bitsOf(sql, parent.executionId)).toBe(attached.children)
  expect(await bitsOf(sql, first.executionId)).toBe(attached.parent)
  await engine.executions.cancel({ executionId: first.executionId })
  await engine.executions.complete(fenceOf(parent))
  const { uuid } = parseExecutionId(parent.executionId)
  expect(await stored.dispatches.pick(sql, ['execution_id', 'parent_id', 'has_children'], {}, 'has_children')).toEqual([
    { execution_id: parseExecutionId(first.executionId).uuid, parent_id: uuid, has_children: false },
    { execution_id: uuid, parent_id: null, has_children: true },
  ])
})

test('a child is cancelled with its parent unless it was created as detached', async () => {
  const { engine, sql } = await setup()
  const { executionId: parentId } = await held(engine)
  await child(engine, parentId)
  await child(engine, parentId, { onParentEnd: 'cancel' })
  await child(engine, parentId, { onParentEnd: 'detach' })
  const ends = await stored.executions.pick(sql, ['on_parent_end'], { parent_id: stored.present })
  expect(ends.map((row) => row['on_parent_end']).toSorted()).toEqual(['cancel', 'cancel', 'detach'])
})

test('delay, deadline, tags and priority work as in any other create', async () => {
  const { engine } = await setup()
  const { executionId: parentId } = await held(engine)
  const made = await child(engine, parentId, { delay: '1m', deadline: '1h', tags: { a: 'b' }, priority: 9001 })
  expect(made).toMatchObject({ kind: 'created', publicState: 'delayed', adjusted: { priority: { used: 9000 } } })
  expect(await engine.executions.describe(made.executionId)).toMatchObject({ tags: { a: 'b' }, priority: 9000 })
})

test('a key holds within the parent: the same request is a duplicate, another a conflict, another parent is free', async () => {
  const { engine, sql } = await setup()
  const [one, two] = [await held(engine), await held(engine)]
  const first = await child(engine, one.executionId, { idempotencyKey: 'step 1' })
  expect(await child(engine, one.executionId, { idempotencyKey: 'step 1' })).toEqual({
    kind: 'duplicate',
    executionId: first.executionId,
    publicState: 'waiting',
  })
  for (const other of [{ priority: 7 }, { onParentEnd: 'detach' }] as const) {
    const request = { idempotencyKey: 'step 1', ...other }
    await refusal('idempotency_conflict', child(engine, one.executionId, request))
  }
  expect((await child(engine, two.executionId, { idempotencyKey: 'step 1' })).kind).toBe('created')
  expect((await engine.executions.create({ kind: 'child', idempotencyKey: 'step 1' })).kind).toBe('created')
  expect(await stored.idempotencyKeys.all(sql)).toHaveLength(3)
})

test('a repeat is a duplicate though the parent has ended since', async () => {
  const { engine } = await setup()
  const parent = await held(engine)
  const first = await child(engine, parent.executionId, { idempotencyKey: 'step 1' })
  await engine.executions.complete(fenceOf(parent))
  const again = await child(engine, parent.executionId, { idempotencyKey: 'step 1' })
  expect(again).toMatchObject({ kind: 'duplicate', executionId: first.executionId })
})

test('an expired key is free again within its parent', async () => {
  const { engine, clock } = await setup()
  const { executionId: parentId } = await held(engine)
  const request = { idempotencyKey: 'step 1', idempotencyTtl: '1m' } as const
  await child(engine, parentId, request)
  await clock.advance('1m')
  expect((await child(engine, parentId, request)).kind).toBe('created')
})

test.each(['waiting', 'delayed', 'suspended', 'active'] as const)(
  'a parent that is %s may have children',
  async (state) => {
    const { engine, sql } = await setup()
    const parentId = await factory(sql)[state]()
    expect(await child(engine, parentId)).toMatchObject({ kind: 'created' })
  },
)

test.each(['completed', 'failed', 'cancelled'] as const)(
  'a parent that is %s can have no more children',
  async (state) => {
    const { engine, sql } = await setup()
    const parentId = await factory(sql)[state]()
    const error = await withoutWriting(sql, () =>
      refusal('execution_terminal', child(engine, parentId, { kind: 'anything' })),
    )
    expect(error.message).toContain(`${parentId} is ${state}`)
  },
)

test('a parent of another namespace, of another partition, or without a row does not exist', async () => {
  const { engine, sql } = await setup()
  const parentId = await factory(sql).active({ namespace: 'a' })
  const { partition, uuid } = parseExecutionId(parentId)
  const elsewhere = formatExecutionId((partition + 1) % 256, uuid)
  await refusal('execution_not_found', child(engine, parentId))
  await refusal('execution_not_found', child(engine.as({ namespace: 'b' }), parentId))
  await refusal('execution_not_found', child(engine, elsewhere, { namespace: 'a' }))
  await refusal('execution_not_found', child(engine, mintExecutionId()))
  expect(await stored.inputs.all(sql)).toHaveLength(1)
  expect((await child(engine.as({ namespace: 'a' }), parentId)).kind).toBe('created')
})

test.each([
  ['an id of another partition', 'invalid_partition', { executionId: `{fp:1}:${crypto.randomUUID()}` }],
  ['the id of its parent', 'invalid_input', { executionId: '{fp:7}:0190a3c4-0000-7000-8000-000000000001' }],
  ['a malformed parent', 'invalid_id', { parentId: 'x' }],
  ['an unknown end', 'invalid_input', { onParentEnd: 'orphan' }],
  ['an end without a parent', 'invalid_input', { parentId: undefined, onParentEnd: 'detach' }],
] as const)('%s is refused', async (_, code, fields) => {
  const { engine, sql } = await setup()
  const parentId = await factory(sql).active({ executionId: '{fp:7}:0190a3c4-0000-7000-8000-000000000001' })
  const request = { kind: 'child', parentId, ...fields } as CreateRequest
  await withoutWriting(sql, () => refusal(code, engine.executions.create(request)))
})

test('children are nested as deep as allowed, and no deeper', async () => {
  const { engine, sql } = await setup()
  let { executionId } = await engine.executions.create({ kind: 'root' })
  for (let depth = 1; depth <= limits.childDepth; depth++) executionId = (await child(engine, executionId)).executionId
  const error = await withoutWriting(sql, () => refusal('child_depth_limit', child(engine, executionId)))
  expect(error.details).toMatchObject({ executionId, depth: 32 })
})

test('a thousand children of a hundred parents, one of them unknown and one ended, answer at their positions', async () => {
  const { engine, sql } = await setup()
  const made = await engine.executions.createMany(Array.from({ length: 100 }, () => ({ kind: 'parent' })))
  const parents = made.map((answer) => (answer.kind === 'refused' ? expect.unreachable() : answer.executionId))
  await engine.executions.cancel({ executionId: parents[7]! })
  parents[3] = mintExecutionId()
  const requests = Array.from({ length: 1000 }, (_, index) => ({ kind: 'child', parentId: parents[index % 100]! }))
  const answers = await bySets(requests, (set) => engine.executions.createMany(set))
  answers.forEach((answer, index) => {
    const code = { 3: 'execution_not_found', 7: 'execution_terminal' }[index % 100]
    if (code === undefined) expect(answer.kind).toBe('created')
    else expect(answer).toMatchObject({ kind: 'refused', error: { code } })
  })
  const found = await stored.executions.all(sql, { attached: attached.children })
  expect(found).toHaveLength(98)
})

function child(engine: Engine, parentId: ExecutionId, request: Partial<CreateRequest> = {}) {
  return engine.executions.create({ kind: 'child', parentId, ...request })
}

async function bitsOf(sql: Sql, executionId: ExecutionId): Promise<unknown> {
  const { uuid } = parseExecutionId(executionId)
  const [row] = await stored.executions.pick(sql, ['attached'], { execution_id: uuid })
  return row!['attached']
}
