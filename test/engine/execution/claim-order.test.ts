import { expect, test } from 'vitest'
import type { ClaimRequest } from '../../../src/engine/execution/claimer.ts'
import type { CreateRequest } from '../../../src/engine/execution/create-request.ts'
import type { Engine } from '../../../src/engine/contract.ts'
import { factory } from '../../support/factory.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { fenceOf, take, worker } from './holder.ts'

/** Names the executions by their kind. */
async function kindsInOrder(engine: Engine, request: Partial<ClaimRequest> = {}): Promise<string[]> {
  const { claims } = await engine.executions.claim({ ...worker, max: 100, ...request })
  return claims.map((claim) => claim.kind)
}

async function create(engine: Engine, ...requests: CreateRequest[]): Promise<void> {
  for (const request of requests) await engine.executions.create(request)
}

test('CLAIM-03 high priority comes first, and among equals the oldest', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  await given.waiting({ kind: 'one', priority: 1, createdAt: 1000 })
  await given.waiting({ kind: 'ten', priority: 10, createdAt: 2000 })
  await given.waiting({ kind: 'five, younger', priority: 5, createdAt: 1001 })
  await given.waiting({ kind: 'five', priority: 5, createdAt: 999 })
  const order = []
  for (let index = 0; index < 4; index += 1) order.push((await take(engine)).kind)
  expect(order).toEqual(['ten', 'five', 'five, younger', 'one'])
})

test('a claim of many gives the same order over several lanes, kinds and versions', async () => {
  const { engine, clock } = await setup()
  await clock.freeze()
  const places = [
    { lane: 'a', kind: '1' },
    { lane: 'b', kind: '2', version: 'v1' },
    { lane: 'a', kind: '3', requiredCapabilities: ['gpu'] },
    { lane: 'b', kind: '4' },
    { lane: 'a', kind: '5', version: 'v2' },
    { lane: 'a', kind: '0', priority: 1 },
  ]
  for (const place of places) {
    await create(engine, place)
    await clock.advance(1)
  }
  const all = { lanes: ['b', 'a'], versions: ['v1', 'v2'], capabilities: ['gpu'] }
  expect(await kindsInOrder(engine, { ...all, max: 3 })).toEqual(['0', '1', '2'])
  expect(await kindsInOrder(engine, all)).toEqual(['3', '4', '5'])
})

test('CLAIM-04 a claim sees only its lanes', async () => {
  const { engine, sql } = await setup()
  await create(engine, { kind: 'k', lane: 'a' })
  await withoutWriting(sql, () => engine.executions.claim({ ...worker, lanes: ['b'] }))
  expect(await kindsInOrder(engine, { lanes: ['b', 'a'] })).toEqual(['k'])
})

test('CLAIM-05 a worker needs every required capability, and may have more', async () => {
  const { engine, sql } = await setup()
  await create(engine, { kind: '1', requiredCapabilities: ['gpu'] }, { kind: '2', requiredCapabilities: ['gpu'] })
  await withoutWriting(sql, async () => {
    expect(await kindsInOrder(engine, { capabilities: ['cpu'] })).toEqual([])
    expect(await kindsInOrder(engine)).toEqual([])
  })
  expect(await kindsInOrder(engine, { capabilities: ['gpu', 'cuda'], max: 1 })).toEqual(['1'])
  expect(await kindsInOrder(engine, { capabilities: ['gpu'] })).toEqual(['2'])
})

test('CLAIM-06 an execution without requirements goes to a worker without capabilities', async () => {
  const { engine } = await setup()
  await create(engine, { kind: 'k' })
  expect(await kindsInOrder(engine, { capabilities: [] })).toEqual(['k'])
})

test('CLAIM-07 a part of the capabilities is not enough; the execution still waits, and reports for which ones', async () => {
  const { engine, sql } = await setup()
  const { executionId } = await engine.executions.create({ kind: 'k', requiredCapabilities: ['gpu', 'torch>=2.3'] })
  await withoutWriting(sql, async () => {
    expect(await kindsInOrder(engine, { capabilities: ['gpu'] })).toEqual([])
  })
  const found = await engine.executions.describe(executionId)
  expect(found?.state.eligibilityState).toBe('eligible_now')
  expect(found?.blockingDetail).toBe("waiting for a worker on lane 'default' with gpu, torch>=2.3")
})

test('CLAIM-08 a head that suits no worker does not block those behind it', async () => {
  const { engine } = await setup()
  const heads = Array.from({ length: 50 }, () => ({ kind: 'head', priority: 9000, requiredCapabilities: ['rare'] }))
  await engine.executions.createMany([...heads, { kind: 'plain' }])
  expect(await kindsInOrder(engine, { max: 1 })).toEqual(['plain'])
  expect((await engine.executions.countByState()).waiting.count).toBe(50)
})

test('a kind, a version and a namespace are only claimed by workers that name them, or that name none', async () => {
  const { engine } = await setup()
  await create(
    engine,
    { kind: 'mail' },
    { kind: 'pdf' },
    { kind: 'old', version: 'v1' },
    { kind: 'new', version: 'v2' },
    { kind: 'theirs', namespace: 'b' },
  )
  expect(await kindsInOrder(engine, { kinds: ['pdf', 'old', 'absent'] })).toEqual(['pdf'])
  expect(await kindsInOrder(engine, { kinds: ['new', 'old'], versions: ['v2'] })).toEqual(['new'])
  expect(await kindsInOrder(engine, { namespaces: ['b'] })).toEqual(['theirs'])
  expect(await kindsInOrder(engine, { versions: ['v1'] })).toEqual(['mail', 'old'])
})

test('a caller that is bound to a namespace claims there, and cannot name another', async () => {
  const { engine, sql } = await setup()
  await create(engine, { kind: 'ours', namespace: 'a' }, { kind: 'theirs', namespace: 'b' })
  const bound = engine.as({ namespace: 'a' })
  await withoutWriting(sql, () =>
    refusal('namespace_mismatch', bound.executions.claim({ ...worker, namespaces: ['a', 'b'] })),
  )
  expect(await kindsInOrder(bound, { namespaces: ['a'] })).toEqual(['ours'])
  expect(await kindsInOrder(bound)).toEqual([])
  expect(await kindsInOrder(engine)).toEqual(['theirs'])
})

test('the same engine next claims an execution that was given back before the place where its last claim began', async () => {
  const { engine, sql } = await setup()
  for (let index = 0; index < 6; index += 1) await factory(sql).waiting({ priority: 9 - index })
  const [first, second] = [await take(engine), await take(engine)]
  expect([first.priority, second.priority]).toEqual([9, 8])
  await engine.executions.release(fenceOf(first))
  expect((await take(engine)).executionId).toBe(first.executionId)
  await engine.executions.delay({ ...fenceOf(second), until: 0 })
  expect((await take(engine)).executionId).toBe(second.executionId)
})

test('the same engine next claims a new execution with a higher priority', async () => {
  const { engine } = await setup()
  await engine.executions.createMany(Array.from({ length: 6 }, () => ({ kind: 'low' })))
  await take(engine)
  await take(engine)
  await create(engine, { kind: 'low', priority: 1 })
  expect((await take(engine)).priority).toBe(1)
})
