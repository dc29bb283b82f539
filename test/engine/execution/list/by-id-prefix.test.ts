import { expect, test } from 'vitest'
import type { ListRequest } from '../../../../src/engine/execution/list.ts'
import { factory } from '../../../support/factory.ts'
import { refusal } from '../../../support/refusal.ts'
import { setup } from '../../../support/setup.ts'
import { idsOf } from '../page-through.ts'

const ids = [
  '{fp:9}:0190a3c4-1000-7000-8000-000000000001',
  '{fp:3}:0190a3c4-1000-7000-8000-000000000002',
  '{fp:7}:0190a3c4-1fff-7fff-bfff-ffffffffffff',
  '{fp:1}:0190a3c4-2000-7000-8000-000000000000',
  '{fp:5}:0190a3c5-0000-7000-8000-000000000000',
] as const

test('a prefix of the uuid lists the executions of all partitions that begin so, in the order of ids', async () => {
  const { engine } = await setup()
  await engine.executions.createMany(ids.map((executionId) => ({ kind: 'k', executionId })))
  for (const limit of [1, 2, 50]) {
    expect(await idsOf(engine, { idPrefix: '0190a3c4' }, limit)).toEqual(ids.slice(0, 4))
    expect(await idsOf(engine, { idPrefix: '0190a3c4-1' }, limit)).toEqual(ids.slice(0, 3))
  }
  expect(await idsOf(engine, { idPrefix: '0190A3C4-1000-7000-8000-00000000000' }, 1)).toEqual(ids.slice(0, 2))
  expect(await idsOf(engine, { idPrefix: '0190a3c4-1fff-7fff-bfff-ffffffffffff' }, 5)).toEqual([ids[2]])
  expect(await idsOf(engine, { idPrefix: '0190a3c4-3' }, 5)).toEqual([])
})

test('other filters narrow a list by prefix, and another namespace stays unseen', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const wanted = { namespace: 'n', lane: 'l', kind: 'k' }
  const id = await given.active({ ...wanted, executionId: ids[0] })
  await given.active({ ...wanted, namespace: 'other', executionId: ids[1] })
  await given.waiting({ ...wanted, executionId: ids[2] })
  const idPrefix = '0190a3c4'
  expect(await idsOf(engine, { idPrefix, ...wanted, state: 'active' }, 5)).toEqual([id])
  expect(await idsOf(engine.as({ namespace: 'n' }), { idPrefix }, 5)).toEqual([ids[0], ids[2]])
  expect(await idsOf(engine.as({ namespace: 'none' }), { idPrefix }, 5)).toEqual([])
})

test.each(['', '0190a3c', '0190a3c4-', '0190a3c41000', '0190a3c4-1-', 'x190a3c4', '{fp:9}:0190a3c4', '0'.repeat(40)])(
  'a prefix of %j is accepted only when a uuid can begin so',
  async (idPrefix) => {
    const { engine } = await setup()
    if (idPrefix === '0190a3c4-') return expect(await idsOf(engine, { idPrefix }, 5)).toEqual([])
    const error = await refusal('invalid_id', engine.executions.list({ idPrefix }))
    expect(error.message).toContain('the first 8 or more characters of a uuid')
    await refusal('invalid_id', engine.flows.list({ idPrefix }))
  },
)

test('a prefix that is no text, or is given with another leading filter, is refused', async () => {
  const { engine } = await setup()
  await refusal('invalid_id', engine.executions.list({ idPrefix: 7 } as unknown as ListRequest))
  await refusal('invalid_input', engine.executions.list({ idPrefix: '0190a3c4', partition: 3 }))
  await refusal('invalid_input', engine.flows.list({ idPrefix: '0190a3c4', partition: 3 }))
  const { nextCursor } = await (async () => {
    await engine.executions.createMany(ids.map((executionId) => ({ kind: 'k', executionId })))
    return engine.executions.list({ idPrefix: '0190a3c4', limit: 1 })
  })()
  await refusal('invalid_cursor', engine.executions.list({ idPrefix: '0190a3c4-1', cursor: nextCursor! }))
})
