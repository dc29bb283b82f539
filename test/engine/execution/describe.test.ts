import { expect, test } from 'vitest'
import { formatExecutionId, mintExecutionId, parseExecutionId } from '../../../src/model/id.ts'
import type { FlowId } from '../../../src/model/id.ts'
import { factory } from '../../support/factory.ts'
import { setup } from '../../support/setup.ts'

test('EXEC-11 describe returns a snapshot of an existing execution and null for an unknown one', async () => {
  const { engine, clock } = await setup()
  await clock.freeze()
  const now = await clock.now()
  const { executionId } = await engine.executions.create({ kind: 'k', lane: 'l', namespace: 'n', tags: { a: '1' } })
  const found = await engine.executions.describe(executionId)
  expect(found).toMatchObject({
    executionId,
    lane: 'l',
    namespace: 'n',
    publicState: 'waiting',
    totalAttemptCount: 0,
    createdAt: now,
    lastMutationAt: now,
    tags: { a: '1' },
    currentAttempt: null,
    lease: null,
    flowId: null,
  })
  expect(await engine.executions.describe(mintExecutionId())).toBeNull()
})

test('an id whose partition is not that of the row is not found', async () => {
  const { engine } = await setup()
  const { partition, uuid } = parseExecutionId((await engine.executions.create({ kind: 'k' })).executionId)
  const other = formatExecutionId((partition + 1) % 256, uuid)
  expect(await engine.executions.describe(other)).toBeNull()
})

test('EXEC-12 describe names the flow on the partition of the execution', async () => {
  const { engine, sql } = await setup()
  const flowId: FlowId = '{fp:42}:0190a3c4-0000-7000-8000-000000000001'
  const executionId = await factory(sql).blocked({ flowId })
  expect(parseExecutionId(executionId).partition).toBe(42)
  expect((await engine.executions.describe(executionId))?.flowId).toBe(flowId)
})

test('a child names its parent', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const parentId = await given.suspended()
  const childId = await given.waiting({ parentId })
  expect((await engine.executions.describe(childId))?.parentId).toBe(parentId)
})

test('the holder of an execution is shown with its lease and attempt', async () => {
  const { engine, sql } = await setup()
  const held = { leaseId: '0190a3c4-0000-4000-8000-000000000009', leaseEpoch: 4, attemptIndex: 2, workerInstance: 'w1' }
  const executionId = await factory(sql).active({ ...held, expiresAt: 5_000_000_000_000, renewedAt: 4_000_000_000_000 })
  const found = await engine.executions.describe(executionId)
  expect(found).toMatchObject({
    publicState: 'active',
    blockingReason: 'none',
    blockingDetail: null,
    currentAttempt: { attemptIndex: 2 },
    totalAttemptCount: 3,
    lease: {
      leaseId: held.leaseId,
      leaseEpoch: 4,
      attemptIndex: 2,
      workerId: 'worker',
      workerInstanceId: 'w1',
      expiresAt: 5_000_000_000_000,
      renewedAt: 4_000_000_000_000,
    },
  })
  expect(found?.startedAt).toBe(found?.lease?.acquiredAt)
})

test('an expired lease is reported as such', async () => {
  const { engine, sql } = await setup()
  expect((await engine.executions.describe(await factory(sql).active()))?.lease).toMatchObject({ renewedAt: null })
})

test('an interrupted execution has an attempt and no lease', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  for (const id of [await given.interrupted(), await given.suspended(), await given.resumable()]) {
    expect(await engine.executions.describe(id)).toMatchObject({ currentAttempt: { attemptIndex: 0 }, lease: null })
  }
})

test.each([
  ['delayed', 'waiting_for_delay', 'delayed until 2100-01-01T00:00:00.000Z'],
  ['retrying', 'waiting_for_retry_backoff', 'retry 1 starts at 2100-01-01T00:00:00.000Z'],
] as const)('an execution that is %s reports %s, and until when', async (state, blockingReason, blockingDetail) => {
  const { engine, sql } = await setup()
  const id = await factory(sql)[state]({ until: Date.parse('2100-01-01T00:00:00Z') })
  expect(await engine.executions.describe(id)).toMatchObject({ blockingReason, blockingDetail })
})

test.each([
  ['suspended', 'waiting_for_signal', 'suspended, waiting_for_signal,'],
  ['blocked', 'waiting_for_children', 'waiting for children'],
  ['rateLimited', 'waiting_for_quota', 'waiting for quota'],
  ['heldByOperator', 'paused_by_operator', 'paused by operator'],
] as const)('an execution that is %s reports %s, and since when', async (state, reason, detail) => {
  const { engine, sql } = await setup()
  const id = await factory(sql)[state]({ since: Date.parse('2020-01-01T00:00:00Z') })
  expect(await engine.executions.describe(id)).toMatchObject({
    blockingReason: reason,
    blockingDetail: `${detail} since 2020-01-01T00:00:00.000Z`,
  })
})

test('EXEC-23 an ending has its outcome and its reason, and an open execution has no outcome', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const endings = [
    [await given.completed(), 'completed', 'success', null],
    [await given.failed({ reason: 'broke' }), 'failed', 'failed', 'broke'],
    [await given.expired({ reason: 'late' }), 'expired', 'expired', 'late'],
    [await given.skipped({ reason: 'upstream failed' }), 'skipped', 'skipped', 'upstream failed'],
  ] as const
  for (const [id, publicState, terminalOutcome, failureReason] of endings) {
    const found = await engine.executions.describe(id)
    expect(found).toMatchObject({
      publicState,
      failureReason,
      blockingReason: 'none',
      lease: null,
      currentAttempt: null,
    })
    expect(found?.state).toMatchObject({ lifecyclePhase: 'terminal', terminalOutcome })
    expect(found?.endedAt).toBeTypeOf('number')
  }
  expect(await engine.executions.describe(await given.cancelled({ reason: 'no need', by: 'ann' }))).toMatchObject({
    publicState: 'cancelled',
    state: { terminalOutcome: 'cancelled' },
    cancellationReason: 'no need',
    cancelledBy: 'ann',
    failureReason: null,
  })
  for (const id of [await given.waiting(), await given.active(), await given.suspended(), await given.delayed()]) {
    expect(await engine.executions.describe(id)).toMatchObject({ state: { terminalOutcome: 'none' }, endedAt: null })
  }
})

test('EXEC-19 every read of an unknown id finds nothing', async () => {
  const { engine } = await setup()
  const id = mintExecutionId()
  const { executions } = engine
  expect(await executions.describe(id)).toBeNull()
  expect(await executions.result(id)).toBeNull()
  expect(await executions.resolveFlowId(id)).toBeNull()
  expect(await executions.getNamespace(id)).toBeNull()
  expect(await executions.getTag(id, 'a')).toBeNull()
})
