// What every list shares: limits, cursors, filters. Each source has a file of its own in `list/`.
import { expect, test } from 'vitest'
import type { ListRequest } from '../../../src/engine/execution/list.ts'
import { encodeCursor } from '../../../src/model/cursor.ts'
import { formatFlowId, mintExecutionId } from '../../../src/model/id.ts'
import { factory } from '../../support/factory.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { pageThrough } from './page-through.ts'
import { bySets } from '../../../src/model/sets.ts'

test('EXEC-17 a limit of nought is an empty page, and one above 1,000 is 1,000', async () => {
  const { engine } = await setup()
  const partition = 7
  const requests = Array.from({ length: 1001 }, () => ({ kind: 'k', executionId: idIn(partition) }))
  await bySets(requests.slice(1), (set) => engine.executions.createMany(set))
  expect(await engine.executions.list({ partition, limit: 0 })).toEqual({ executions: [], nextCursor: null })

  const exactly = await engine.executions.list({ partition, limit: 5000 })
  expect(exactly.executions).toHaveLength(1000)
  expect(exactly.nextCursor).toBeNull()

  await engine.executions.create(requests[0]!)
  const capped = await engine.executions.list({ partition, limit: 5000 })
  expect(capped.executions).toHaveLength(1000)
  expect(capped.nextCursor).toBe(capped.executions.at(-1)!.executionId)
  expect((await engine.executions.list({ partition, cursor: capped.nextCursor! })).executions).toHaveLength(1)
})

test('a page has 50 by default', async () => {
  const { engine } = await setup()
  await engine.executions.createMany(Array.from({ length: 51 }, () => ({ kind: 'k' })))
  const page = await engine.executions.list()
  expect(page.executions).toHaveLength(50)
  expect(page.nextCursor).not.toBeNull()
})

test.each([-1, 1.5, Number.NaN, Infinity, '5', null])('a limit of %s is refused', async (limit) => {
  const { engine } = await setup()
  const error = await refusal('invalid_input', engine.executions.list({ limit } as ListRequest))
  expect(error.message).toContain('limit')
  await refusal('invalid_input', engine.lanes.list({ limit } as ListRequest))
})

test('EXEC-18 an invalid partition is refused, and an empty one is an empty page', async () => {
  const { engine } = await setup()
  for (const partition of ['{fp:x}', 'fp:7', '7', '', '{fp:256}', 256, -1, 1.5, null]) {
    const error = await refusal('invalid_partition', engine.executions.list({ partition } as ListRequest))
    expect(error.message).toContain('partition')
  }
  expect(await engine.executions.list({ partition: '{fp:255}' })).toEqual({ executions: [], nextCursor: null })
})

test('a cursor is valid for its own list and filter only', async () => {
  const { engine } = await setup()
  const requests = Array.from({ length: 3 }, () => ({ kind: 'k', lane: 'a', tags: { t: '1' } }))
  await engine.executions.createMany(requests)
  await engine.executions.create({ kind: 'k', lane: 'b' })
  const { nextCursor } = await engine.executions.list({ lane: 'a', limit: 1 })
  const cursor = nextCursor!
  expect((await engine.executions.list({ lane: 'a', cursor })).executions).toHaveLength(2)
  const others: ListRequest[] = [
    {},
    { lane: 'b' },
    { lane: 'a', kind: 'k' },
    { lane: 'a', namespace: 'default' },
    { lane: 'a', state: 'waiting' },
    { state: 'completed' },
    { tag: { key: 't', value: '1' } },
    { partition: 7 },
    { parentId: mintExecutionId() },
  ]
  for (const other of others) await refusal('invalid_cursor', engine.executions.list({ ...other, cursor }))
  await refusal('invalid_cursor', engine.lanes.list({ cursor }))
  await refusal('invalid_cursor', engine.as({ namespace: 'default' }).executions.list({ lane: 'a', cursor }))
})

test('a cursor of the lanes is no cursor of the executions', async () => {
  const { engine } = await setup()
  await engine.executions.create({ kind: 'k', lane: 'a' })
  await engine.executions.create({ kind: 'k', lane: 'b' })
  const { nextCursor } = await engine.lanes.list({ limit: 1 })
  await refusal('invalid_cursor', engine.executions.list({ cursor: nextCursor! }))
})

test('the cursor of one partition is refused by another', async () => {
  const { engine } = await setup()
  const error = await refusal('invalid_cursor', engine.executions.list({ partition: 8, cursor: idIn(7) }))
  expect(error.message).toMatch(/7.*8/)
})

test.each(['', 'nonsense', 'ä', 'x'.repeat(20_000), 7, null, encodeCursor('executions by creation', [1])])(
  'a damaged cursor is refused: %j',
  async (cursor) => {
    const { engine } = await setup()
    await refusal('invalid_cursor', engine.executions.list({ cursor } as ListRequest))
    await refusal('invalid_cursor', engine.executions.list({ partition: 1, cursor } as ListRequest))
  },
)

test('a cursor with one letter changed is refused', async () => {
  const { engine } = await setup()
  await engine.executions.createMany([{ kind: 'k' }, { kind: 'k' }])
  const { nextCursor } = await engine.executions.list({ limit: 1 })
  const at = 10
  const other = nextCursor![at] === 'A' ? 'B' : 'A'
  const changed = nextCursor!.slice(0, at) + other + nextCursor!.slice(at + 1)
  await refusal('invalid_cursor', engine.executions.list({ cursor: changed }))
})

test('a list is by one of partition, tag and parent', async () => {
  const { engine } = await setup()
  const tag = { key: 'a', value: 'b' }
  await refusal('invalid_input', engine.executions.list({ partition: 1, tag }))
  await refusal('invalid_input', engine.executions.list({ parentId: mintExecutionId(), tag }))
})

test('an unknown state is refused, with the one that was probably meant', async () => {
  const { engine } = await setup()
  const error = await refusal('invalid_input', engine.executions.list({ state: 'canceled' } as unknown as ListRequest))
  expect(error.message).toContain('did you mean cancelled?')
})

test.each([
  ['lane', 'invalid_input', { lane: 'x'.repeat(65) }],
  ['lane with a NUL', 'invalid_input', { lane: 'a\0b' }],
  ['kind', 'invalid_input', { kind: '' }],
  ['namespace', 'invalid_input', { namespace: '*' }],
  ['namespace with a lone surrogate', 'invalid_input', { namespace: '\uD800' }],
  ['tag key', 'invalid_tag', { tag: { key: 'A', value: 'x' } }],
  ['tag value', 'invalid_tag', { tag: { key: 'a', value: 'a\0b' } }],
  ['parent', 'invalid_id', { parentId: 'x' }],
] as const)('a bad %s in the filter is refused', async (_, code, filter) => {
  const { engine } = await setup()
  await refusal(code, engine.executions.list(filter))
})

test('while a caller turns pages, new executions come before them and none appears twice', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const old = []
  for (let index = 0; index < 6; index++) old.unshift(await given.waiting({ createdAt: 1000 + index }))
  const first = await engine.executions.list({ limit: 3 })
  await given.waiting({ createdAt: 9000 })
  const second = await engine.executions.list({ limit: 3, cursor: first.nextCursor! })
  expect([...first.executions, ...second.executions].map((found) => found.executionId)).toEqual(old)
  expect(second.nextCursor).toBeNull()
})

test('filters narrow a list by partition, tag, parent or state further', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const parentId = await given.suspended({ lane: 'parents' })
  const wanted = { namespace: 'n', lane: 'l', kind: 'k', parentId, tags: { t: '1' } }
  const id = await given.active(wanted)
  await given.active({ ...wanted, namespace: 'other' })
  await given.active({ ...wanted, lane: 'other' })
  await given.active({ ...wanted, kind: 'other' })
  await given.waiting(wanted)
  const filter = { namespace: 'n', lane: 'l', kind: 'k', state: 'active' } as const
  const partition = id.slice(0, id.indexOf(':', 4))
  for (const leading of [{ partition }, { tag: { key: 't', value: '1' } }, { parentId }, {}]) {
    const page = await engine.executions.list({ ...leading, ...filter })
    expect(
      page.executions.map((found) => found.executionId),
      JSON.stringify(leading),
    ).toEqual([id])
  }
})

test('list and describe return the same fields', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const ids = [
    await given.active({ tags: { b: '1', a: '2' } }),
    await given.failed({ reason: 'x' }),
    await given.delayed(),
  ]
  const listed = await pageThrough(engine, {}, 2)
  const described = await Promise.all(ids.map((id) => engine.executions.describe(id)))
  expect(listed.toSorted(byId)).toEqual(described.toSorted((a, b) => byId(a!, b!)))
})

function byId(a: { executionId: string }, b: { executionId: string }): number {
  return a.executionId < b.executionId ? -1 : 1
}

function idIn(partition: number) {
  return mintExecutionId({ flowId: formatFlowId(partition, '0190a3c4-0000-7000-8000-000000000001') })
}
