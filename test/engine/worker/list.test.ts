import { expect, test } from 'vitest'
import type { Engine } from '../../../src/engine/contract.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { one } from './registry.ts'

async function idsOf(engine: Engine, request: Parameters<Engine['workers']['list']>[0] = {}): Promise<string[]> {
  const { workers } = await engine.workers.list(request)
  return workers.map((worker) => worker.workerInstanceId)
}

test('WREG-08 the workers of a namespace are listed in pages, in the order of their ids; without a namespace, all', async () => {
  const { engine } = await setup()
  for (const id of ['c', 'a', 'b']) await engine.workers.register({ ...one, workerInstanceId: id, namespace: 'n' })
  await engine.workers.register({ ...one, workerInstanceId: 'x', namespace: 'other' })
  const first = await engine.workers.list({ namespace: 'n', limit: 2 })
  expect(first.workers.map((worker) => worker.workerInstanceId)).toEqual(['a', 'b'])
  const second = await engine.workers.list({ namespace: 'n', limit: 2, cursor: first.nextCursor! })
  expect(second.workers.map((worker) => worker.workerInstanceId)).toEqual(['c'])
  expect(second.nextCursor).toBeNull()
  expect(await idsOf(engine)).toEqual(['a', 'b', 'c', 'x'])
  expect(await idsOf(engine, { limit: 0 })).toEqual([])
  await refusal('invalid_cursor', engine.workers.list({ cursor: 'x' }))
})

test('a caller of one namespace sees its own workers and those that serve all', async () => {
  const { engine } = await setup()
  await engine.workers.register({ ...one, workerInstanceId: 'all' })
  await engine.workers.register({ ...one, workerInstanceId: 'ours', namespace: 'n' })
  await engine.workers.register({ ...one, workerInstanceId: 'theirs', namespace: 'm' })
  const tenant = engine.as({ namespace: 'n' })
  expect(await idsOf(tenant)).toEqual(['all', 'ours'])
  expect(await idsOf(tenant, { namespace: 'm' })).toEqual([])
  expect(await idsOf(engine, { namespace: 'm' })).toEqual(['all', 'theirs'])
  expect((await tenant.workers.list()).workers[0]).toMatchObject({ namespace: null, kinds: null })
})
