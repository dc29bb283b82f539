import { expect, test } from 'vitest'
import { cancelDeadline } from '../../../src/engine/duties/cancel-deadline.ts'
import { executionDeadline } from '../../../src/engine/duties/execution-deadline.ts'
import { leaseExpiry } from '../../../src/engine/duties/lease-expiry.ts'
import { suspensionTimeout } from '../../../src/engine/duties/suspension-timeout.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { fenceOf, held, take } from './holder.ts'

type Engine = Awaited<ReturnType<typeof setup>>['engine']

async function compensating(engine: Engine, options = {}) {
  const claim = await held(engine, options)
  const fence = fenceOf(claim)
  await engine.steps.record({ ...fence, name: 'undo', kind: 'compensation', state: 'pending', tryCount: 0 })
  return { claim, fence, executionId: claim.executionId }
}

async function suspended(engine: Engine, more = {}, options = {}) {
  const { fence, executionId } = await compensating(engine, options)
  await engine.executions.suspend({ ...fence, condition: { kind: 'signal', name: 'approval' }, ...more })
  return executionId
}

test('a cancel of a suspended execution closes its waits, and the next claim is for the clean-up', async () => {
  const { engine, clock } = await setup()
  await clock.freeze()
  const now = await clock.now()
  const executionId = await suspended(engine)
  const asked = await engine.executions.cancel({ executionId, reason: 'changed plans' })
  expect(asked).toEqual({ kind: 'cancel_requested', executionId, deadlineAt: now + 600_000 })
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'waiting',
    state: { lifecyclePhase: 'runnable', interruption: 'cancelled' },
    suspension: null,
    compensation: 'running',
  })
  expect((await engine.executions.explain(executionId))?.sentence).toContain(
    'its compensations have not finished; it ends at',
  )
  expect(await engine.executions.cancel({ executionId })).toEqual(asked)
  const claim = await take(engine)
  expect(claim).toMatchObject({ executionId, reason: 'cancel' })
  await engine.steps.record({ ...fenceOf(claim), name: 'undo', kind: 'compensation', state: 'succeeded' })
  await engine.executions.cancel(fenceOf(claim))
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'cancelled',
    cancellationReason: 'changed plans',
    compensation: 'finished',
  })
  expect(await engine.executions.cancel({ executionId })).toMatchObject({ kind: 'already_cancelled' })
})

test('a delayed execution becomes claimable at once, and a lost worker does not end the clean-up', async () => {
  const { engine, sql, clock } = await setup()
  const { fence, executionId } = await compensating(engine)
  await engine.executions.delay({ ...fence, for: '1h' })
  await engine.executions.cancel({ executionId, deadline: '1h' })
  expect(await take(engine)).toMatchObject({ executionId, reason: 'cancel' })
  await clock.advance('2m')
  await leaseExpiry.runOnce(sql)
  const claim = await take(engine)
  expect(claim).toMatchObject({ executionId, reason: 'cancel' })
  await engine.executions.delay({ ...fenceOf(claim), for: '1m' })
  expect(await engine.executions.describe(executionId)).toMatchObject({ publicState: 'delayed' })
})

test('a running execution receives the request where it runs; suspending returns it for the clean-up', async () => {
  const { engine } = await setup()
  const { fence, executionId } = await compensating(engine)
  expect(await engine.executions.cancel({ executionId })).toMatchObject({ kind: 'cancel_requested' })
  expect((await engine.executions.renew({ workerInstanceId: 'worker-1', leases: [fence] })).leases).toMatchObject([
    { cancelRequested: true },
  ])
  const answer = await engine.executions.suspend({ ...fence, condition: { kind: 'signal', name: 'approval' } })
  expect(answer).toMatchObject({ kind: 'cancelled' })
  expect(await take(engine)).toMatchObject({ executionId, reason: 'cancel' })
})

test('force ends it at once', async () => {
  const { engine } = await setup()
  const executionId = await suspended(engine)
  await engine.executions.cancel({ executionId })
  expect(await engine.executions.cancel({ executionId, force: true })).toMatchObject({ kind: 'cancelled' })
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'cancelled',
    compensation: 'unfinished',
  })
})

test('at its deadline it ends with its compensations unfinished', async () => {
  const { engine, sql, clock } = await setup()
  const executionId = await suspended(engine)
  await engine.executions.cancel({ executionId, deadline: '5m' })
  await clock.advance('6m')
  expect(await cancelDeadline.runOnce(sql)).toMatchObject({ processed: 1, errors: 0 })
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'cancelled',
    compensation: 'unfinished',
  })
})

test('the deadline of the execution requests a stop first, and the execution ends expired', async () => {
  const { engine, sql, clock } = await setup()
  const executionId = await suspended(engine, {}, { deadline: '1h' })
  await clock.advance('2h')
  expect(await executionDeadline.runOnce(sql)).toMatchObject({ processed: 1, errors: 0 })
  const claim = await take(engine)
  expect(claim).toMatchObject({ executionId, reason: 'cancel' })
  await engine.executions.cancel(fenceOf(claim))
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'expired',
    failureReason: 'execution_deadline',
  })
})

test.each([
  ['fail', 'failed'],
  ['cancel', 'cancelled'],
  ['expire', 'expired'],
] as const)(
  'a suspension timeout of %s requests a stop first, and the execution ends %s',
  async (timeoutBehaviour, publicState) => {
    const { engine, sql, clock } = await setup()
    const executionId = await suspended(engine, { timeout: '1m', timeoutBehaviour })
    await clock.advance('2m')
    expect(await suspensionTimeout.runOnce(sql)).toMatchObject({ processed: 1, errors: 0 })
    const claim = await take(engine)
    expect(claim).toMatchObject({ executionId, reason: 'cancel' })
    await engine.executions.cancel(fenceOf(claim))
    expect((await engine.executions.describe(executionId))?.publicState).toBe(publicState)
  },
)

test('the reclaim limit requests a stop first, and the execution ends failed', async () => {
  const { engine, sql, clock } = await setup()
  const { executionId } = await compensating(engine, { policy: { maxReclaimCount: 0 } })
  await clock.advance('2m')
  expect(await leaseExpiry.runOnce(sql)).toMatchObject({ processed: 1, errors: 0 })
  const claim = await take(engine)
  expect(claim).toMatchObject({ executionId, reason: 'cancel' })
  await engine.executions.cancel(fenceOf(claim))
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'failed',
    failureReason: 'reclaim_limit',
  })
})

test('the cancel of a holder makes no request first, so it takes no grace', async () => {
  const { engine } = await setup()
  const { fence } = await compensating(engine)
  await refusal('invalid_input', engine.executions.cancel({ ...fence, force: true }))
  await refusal('invalid_input', engine.executions.cancel({ ...fence, deadline: '1m' }))
})
