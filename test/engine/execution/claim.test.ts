import { expect, test } from 'vitest'
import type { ClaimRequest } from '../../../src/engine/execution/claimer.ts'
import type { CreateRequest } from '../../../src/engine/execution/create-request.ts'
import type { Engine } from '../../../src/engine/contract.ts'
import { createEngine } from '../../../src/engine/engine.ts'
import { factory } from '../../support/factory.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { fenceOf, held, leaseEvents, take, worker } from './holder.ts'
import * as stored from '../../support/stored.ts'

/** Names the executions by their kind. */
async function kindsInOrder(engine: Engine, request: Partial<ClaimRequest> = {}): Promise<string[]> {
  const { claims } = await engine.executions.claim({ ...worker, max: 100, ...request })
  return claims.map((claim) => claim.kind)
}

async function create(engine: Engine, ...requests: CreateRequest[]): Promise<void> {
  for (const request of requests) await engine.executions.create(request)
}

test('CLAIM-01 the first claim takes a lease of thirty seconds at epoch 1, and starts attempt 0', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const now = await clock.now()
  const { executionId } = await engine.executions.create({ kind: 'k' })
  const claim = await take(engine, { leaseTtl: '30s' })
  expect(claim).toMatchObject({
    executionId,
    leaseEpoch: 1,
    leaseExpiresAt: now + 30_000,
    reason: 'first',
    attemptIndex: 0,
    generation: 0,
    retryCount: 0,
  })
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'active',
    startedAt: now,
    state: {
      lifecyclePhase: 'active',
      ownershipState: 'leased',
      eligibilityState: 'not_applicable',
      attemptState: 'running_attempt',
      terminalOutcome: 'none',
    },
  })
  const columns = ['worker_id', 'worker_instance_id', 'lease_epoch', 'acquired_at_ms', 'expires_at_ms'] as const
  const ofAttempt = ['attempt_started_at_ms', 'attempt_index', 'attempt_type'] as const
  expect(await stored.leases.pick(sql, [...columns, ...ofAttempt])).toEqual([
    {
      worker_id: 'w',
      worker_instance_id: 'w-1',
      lease_epoch: 1,
      acquired_at_ms: now,
      expires_at_ms: now + 30_000,
      attempt_started_at_ms: now,
      attempt_index: 0,
      attempt_type: 'initial',
    },
  ])
  expect(await leaseEvents(sql)).toEqual(['acquired'])
})

test('a lease lasts half a minute by default, and a minute in an embedded database', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const claim = await held(engine)
  expect(claim.leaseExpiresAt - (await clock.now())).toBe(sql.kind === 'embedded' ? 60_000 : 30_000)
})

test('CLAIM-02 an empty lane returns nothing and writes nothing', async () => {
  const { engine, sql } = await setup()
  await create(engine, { kind: 'k', lane: 'other' })
  await withoutWriting(sql, async () => {
    expect(await engine.executions.claim(worker)).toEqual({ claims: [], more: false })
    expect(await engine.executions.claim({ ...worker, lanes: ['never used'] })).toEqual({ claims: [], more: false })
  })
})

test('`more` reports whether a claim was filled', async () => {
  const { engine } = await setup()
  await engine.executions.createMany([{ kind: 'k' }, { kind: 'k' }, { kind: 'k' }])
  expect(await engine.executions.claim({ ...worker, max: 2 })).toMatchObject({ claims: [{}, {}], more: true })
  const last = await engine.executions.claim({ ...worker, max: 2 })
  expect([last.claims.length, last.more]).toEqual([1, false])
})

test('one claim takes more than one read of the queue returns', async () => {
  const { engine, sql } = await setup()
  await engine.executions.createMany(Array.from({ length: 300 }, (_, index) => ({ kind: `k${index % 7}` })))
  const { claims } = await engine.executions.claim({ ...worker, max: 10_000 })
  expect(new Set(claims.map((claim) => claim.leaseId)).size).toBe(300)
  expect(await stored.ready.all(sql)).toEqual([])
})

test('executions that are granted to others, however many, hide no free one behind them', async () => {
  const { engine } = await setup()
  const created = await engine.executions.createMany(Array.from({ length: 101 }, () => ({ kind: 'granted' })))
  const ids = created.flatMap((answer) => (answer.kind === 'created' ? [answer.executionId] : []))
  const other = { workerId: 'other', workerInstanceId: 'other-1' }
  await Promise.all(ids.map((executionId) => engine.executions.grant({ executionId, ...other })))
  await engine.executions.create({ kind: 'free' })
  const { claims, more } = await engine.executions.claim({ ...worker, max: 1 })
  expect(claims.map((claim) => claim.kind)).toEqual(['free'])
  expect(more).toBe(false)
  expect(await engine.executions.claim({ ...worker, max: 1 })).toEqual({ claims: [], more: false })
})

test('a queue that another process has just created is claimed from at once', async () => {
  const { engine, sql } = await setup()
  expect(await kindsInOrder(engine)).toEqual([])
  await createEngine(sql).executions.create({ kind: 'new' })
  expect(await kindsInOrder(engine)).toEqual(['new'])
})

test('the log names the caller who claimed, beside the worker', async () => {
  const { engine, sql } = await setup()
  await create(engine, { kind: 'k' })
  await engine.as({ namespace: 'default', actor: 'key:7' }).executions.claim(worker)
  expect(await stored.events.pick(sql, ['actor', 'worker_instance_id'])).toEqual([
    { actor: 'key:7', worker_instance_id: 'w-1' },
  ])
})

test('EXEC-06 a created execution can be claimed without another step', async () => {
  const { engine } = await setup()
  const { executionId } = await engine.executions.create({ kind: 'k' })
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'waiting',
    blockingReason: 'waiting_for_worker',
  })
  expect((await take(engine)).executionId).toBe(executionId)
})

test('EXEC-15 describe shows the attempt and the lease of the holder', async () => {
  const { engine, clock } = await setup()
  await clock.freeze()
  const claim = await held(engine)
  const lease = {
    leaseId: claim.leaseId,
    leaseEpoch: 1,
    attemptIndex: 0,
    workerId: 'w',
    workerInstanceId: 'w-1',
    acquiredAt: await clock.now(),
    expiresAt: claim.leaseExpiresAt,
    renewedAt: null,
  }
  const describe = () => engine.executions.describe(claim.executionId)
  expect(await describe()).toMatchObject({ currentAttempt: { attemptIndex: 0 }, totalAttemptCount: 1, lease })
  await clock.advance('5s')
  await engine.executions.renew({ workerInstanceId: 'w-1', leases: [fenceOf(claim)], leaseTtl: '10s' })
  const now = await clock.now()
  expect(await describe()).toMatchObject({ lease: { ...lease, expiresAt: now + 10_000, renewedAt: now } })
})

test('EXEC-34 a claim returns payload, kind and tags, and everything else that a handler may need', async () => {
  const { engine, clock } = await setup()
  await clock.freeze()
  const now = await clock.now()
  const claim = await held(engine, {
    kind: 'mail',
    payload: new Uint8Array([0, 255]),
    payloadEncoding: 'raw',
    tags: { customer: 'c1', zone: '9' },
    policy: { attemptTimeoutMs: '5m' },
    priority: 7,
    deadlineAt: now + 60_000,
  })
  expect([...claim.payload!]).toEqual([0, 255])
  expect(claim).toMatchObject({
    payloadEncoding: 'raw',
    kind: 'mail',
    tags: { customer: 'c1', zone: '9' },
    policy: { attemptTimeoutMs: 300_000 },
    priority: 7,
    namespace: 'default',
    lane: 'default',
    version: null,
    createdAt: now,
    deadlineAt: now + 60_000,
    attemptDeadlineAt: now + 300_000,
    flowId: null,
    parentId: null,
  })
  const { executionId } = await engine.executions.create({ kind: 'tagged later' })
  await engine.executions.setTag(executionId, 'zone', '1')
  expect(await take(engine)).toMatchObject({ executionId, tags: { zone: '1' } })
  expect(await held(engine, { kind: 'bare' })).toMatchObject({
    payload: null,
    payloadEncoding: null,
    tags: {},
    policy: null,
  })
})

test('an execution that is delayed, parked, held, running or ended is not claimed', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  for (const state of ['delayed', 'retrying', 'suspended', 'blocked', 'rateLimited', 'heldByOperator'] as const) {
    await given[state]()
  }
  for (const state of ['active', 'completed', 'failed', 'cancelled', 'expired', 'skipped'] as const)
    await given[state]()
  await withoutWriting(sql, async () => {
    expect(await kindsInOrder(engine)).toEqual([])
  })
})
