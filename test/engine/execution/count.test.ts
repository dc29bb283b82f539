import { expect, test } from 'vitest'
import type { CountRequest } from '../../../src/engine/execution/count.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { factory } from '../../support/factory.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { addCrowd } from '../../support/changes.ts'

test('every state is counted, also those without executions', async () => {
  const { engine, sql } = await setup()
  const none = await engine.executions.countByState()
  expect(new Set(Object.values(none).map((state) => state.count))).toEqual(new Set([0]))
  expect(Object.keys(none)).toHaveLength(12)

  const given = factory(sql)
  for (const state of [
    'waiting',
    'interrupted',
    'heldByOperator',
    'delayed',
    'retrying',
    'resumable',
    'active',
  ] as const)
    await given[state]()
  for (const state of ['suspended', 'blocked', 'rateLimited'] as const) await given[state]()
  for (const state of ['completed', 'completed', 'failed', 'cancelled', 'expired', 'skipped'] as const)
    await given[state]()
  const counts = await engine.executions.countByState()
  expect(Object.fromEntries(Object.entries(counts).map(([state, { count }]) => [state, count]))).toEqual({
    waiting: 3,
    delayed: 2,
    rate_limited: 1,
    waiting_children: 1,
    active: 1,
    suspended: 1,
    resumable: 1,
    completed: 2,
    failed: 1,
    cancelled: 1,
    expired: 1,
    skipped: 1,
  })
  expect(await engine.executions.countByState({ exact: true })).toEqual(counts)
})

test('a count may be of one namespace, lane or kind', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const place = { namespace: 'n', lane: 'l', kind: 'k' }
  for (const state of ['waiting', 'delayed', 'active', 'suspended', 'failed'] as const) {
    await given[state](place)
    await given[state]({ ...place, namespace: 'other' })
    await given[state]({ ...place, lane: 'other' })
    await given[state]({ ...place, kind: 'other' })
  }
  const total = async (request: CountRequest, by = engine) => {
    const counts = await by.executions.countByState(request)
    return Object.values(counts).reduce((sum, state) => sum + state.count, 0)
  }
  expect(await total({})).toBe(20)
  expect(await total({ namespace: 'n' })).toBe(15)
  expect(await total({ lane: 'l', kind: 'k' })).toBe(10)
  expect(await total(place)).toBe(5)
  const bound = engine.as({ namespace: 'n' })
  expect(await total({}, bound)).toBe(15)
  expect(await total({ namespace: 'other' }, bound)).toBe(0)
})

test('a count stops at 10,000 a state and reports that, unless the exact number is requested', async () => {
  const { engine, sql } = await setup()
  await crowd(sql, { eligible: 10_001 })
  expect((await engine.executions.countByState()).waiting).toEqual({ count: 10_000, orMore: true })
  expect((await engine.executions.countByState({ exact: true })).waiting).toEqual({ count: 10_001, orMore: false })
})

test('a state whose count stops does not make another state look complete', async () => {
  const { engine, sql } = await setup()
  await crowd(sql, { eligible: 6000, resumed: 6000 })
  const { waiting, resumable } = await engine.executions.countByState()
  for (const state of [waiting, resumable])
    expect(state.count === 6000 || state.orMore, JSON.stringify(state)).toBe(true)
})

test.each([{ namespace: '*' }, { lane: '' }, { kind: 'a\0b' }])('a bad filter is refused: %j', async (request) => {
  const { engine } = await setup()
  await refusal('invalid_input', engine.executions.countByState(request))
})

/** Many at once, in one queue: fresh ones, and ones that a signal resumed. */
async function crowd(sql: Sql, { eligible = 0, resumed = 0 }: { eligible?: number; resumed?: number }): Promise<void> {
  await factory(sql).waiting()
  await addCrowd(sql, eligible - 1, resumed)
}
