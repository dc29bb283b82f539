// The attempt that a claim begins or continues, and the reason.
import { expect, test } from 'vitest'
import { factory } from '../../support/factory.ts'
import { setup } from '../../support/setup.ts'
import { fenceOf, held, leaseEvents, take, worker } from './holder.ts'
import * as stored from '../../support/stored.ts'
import { interruptAll, promoteAll } from '../../support/changes.ts'

test('EXEC-24 the start is the first claim, and the end is that of the last attempt', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const started = await clock.now()
  const retry = { attempts: 2, backoff: { type: 'fixed', delayMs: 0 } } as const
  const first = await held(engine, { policy: { retry } })
  await engine.executions.fail({ ...fenceOf(first), reason: 'broke' })
  await clock.advance('1m')
  const second = await take(engine)
  expect(await engine.executions.describe(first.executionId)).toMatchObject({
    startedAt: started,
    endedAt: null,
    failureReason: null,
    state: { terminalOutcome: 'none' },
    currentAttempt: { attemptIndex: 1 },
  })
  await clock.advance('10s')
  await engine.executions.complete(fenceOf(second))
  expect(await engine.executions.describe(first.executionId)).toMatchObject({
    startedAt: started,
    endedAt: started + 70_000,
    state: { terminalOutcome: 'success' },
  })
  expect(await stored.attempts.pick(sql, ['outcome'], {}, 'attempt_index')).toEqual([
    { outcome: 'retry' },
    { outcome: 'success' },
  ])
})

test('LEASE-13 another worker continues the same attempt after an expiry, at a higher epoch', async () => {
  const { engine, sql } = await setup()
  const first = await held(engine)
  await interruptAll(sql, 'lapsed')
  const second = await take(engine, { workerId: 'v', workerInstanceId: 'v-1' })
  expect(second).toMatchObject({ executionId: first.executionId, attemptIndex: 0, leaseEpoch: 2, reason: 'reclaim' })
  expect(second.leaseId).not.toBe(first.leaseId)
  expect(await leaseEvents(sql)).toEqual(['acquired', 'reclaimed'])
  expect(await engine.executions.complete(fenceOf(second))).toMatchObject({ kind: 'completed' })
  expect(await stored.attempts.pick(sql, ['attempt_index', 'outcome', 'worker_id', 'lease_epoch'])).toEqual([
    { attempt_index: 0, outcome: 'success', worker_id: 'v', lease_epoch: 2 },
  ])
})

test('CLAIM-19 a claim continues an interrupted attempt, which keeps its start', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const started = await clock.now()
  const first = await held(engine)
  await engine.executions.release(fenceOf(first))
  await clock.advance('1m')
  expect(await take(engine)).toMatchObject({ attemptIndex: 0, reason: 'resume', leaseEpoch: 2 })
  expect(await stored.leases.pick(sql, ['attempt_started_at_ms', 'attempt_type'])).toEqual([
    { attempt_started_at_ms: started, attempt_type: 'initial' },
  ])
  expect(await engine.executions.describe(first.executionId)).toMatchObject({
    totalAttemptCount: 1,
    startedAt: started,
  })
})

test('CLAIM-18 the attempt has the reason why it began', async () => {
  const { engine, sql } = await setup()
  await factory(sql).retrying({ kind: 'retried' })
  const replayed = await factory(sql).retrying({ kind: 'replayed' })
  await stored.executions.change(sql, { attempt_state: 'pending_replay_attempt' }, { execution_id: replayed })
  await factory(sql).waiting({ kind: 'new' })
  await promoteAll(sql)
  const { claims } = await engine.executions.claim({ ...worker, max: 3 })
  expect(new Map(claims.map((claim) => [claim.kind, [claim.reason, claim.attemptIndex]]))).toEqual(
    new Map([
      ['retried', ['retry', 1]],
      ['replayed', ['replay', 1]],
      ['new', ['first', 0]],
    ]),
  )
  expect(await stored.leases.pick(sql, ['attempt_type'], {}, 'attempt_type')).toEqual([
    { attempt_type: 'initial' },
    { attempt_type: 'retry' },
    { attempt_type: 'replay' },
  ])
})
