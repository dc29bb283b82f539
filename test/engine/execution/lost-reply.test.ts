// What was done and not heard of, while others went on from there: it is not done a second time, and what is known is not
// lost with it. The replies of real connections are lost in `races/lost-connection.test.ts`.
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Engine } from '../../../src/engine/contract.ts'
import { createEngine } from '../../../src/engine/engine.ts'
import { around } from '../../../src/sql/around.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { suspend, waiting } from '../waiting/suspension/waiting.ts'
import { fenceOf, held, take, worker } from './holder.ts'

/** An engine whose first set is done, after which others have their turn; the reply is lost. */
function losingFirstReply(sql: Sql, meanwhile: () => Promise<unknown> = async () => {}): Engine {
  let isLost = false
  return createEngine({
    ...around(sql, (ask) => ask()),
    async pipeline(calls, options) {
      const answer = await sql.pipeline(calls, options)
      if (isLost) return answer
      isLost = true
      await meanwhile()
      throw Object.assign(new Error('terminating connection'), { code: '57P01', severity: 'FATAL' })
    },
  })
}

test('a revoke whose reply was lost answers as it did, and does not take the lease of the next holder', async () => {
  const { engine, sql } = await setup()
  const { executionId, leaseId } = await held(engine)
  const operator = losingFirstReply(sql, () => take(engine, { workerInstanceId: 'w-2' }))
  const answer = await operator.leases.revoke({ executionId })
  expect(answer).toEqual({ kind: 'revoked', executionId, leaseId, leaseEpoch: 1 })
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'active',
    lease: { leaseEpoch: 2, workerInstanceId: 'w-2' },
  })
})

test('a resume whose reply was lost answers as it did, and does not wake the next suspension', async () => {
  const { engine, sql } = await setup()
  const { executionId } = (await waiting(engine, { condition: { kind: 'operator' } })).claim
  const operator = losingFirstReply(sql, async () => {
    await suspend(engine, await take(engine), { condition: { kind: 'operator' } })
  })
  const answer = await operator.executions.resume({ executionId })
  expect(answer).toEqual({ kind: 'resumed', executionId, delayUntil: null })
  expect(await engine.executions.describe(executionId)).toMatchObject({ publicState: 'suspended' })
})

test('a replay whose reply was lost is one replay, though it has ended since', async () => {
  const { engine, sql } = await setup()
  const claim = await held(engine)
  await engine.executions.complete(fenceOf(claim))
  const operator = losingFirstReply(sql, async () => engine.executions.complete(fenceOf(await take(engine))))
  expect(await operator.executions.replay({ executionId: claim.executionId })).toEqual({
    kind: 'replayed',
    executionId: claim.executionId,
    generation: 1,
    replayCount: 1,
    from: 'completed',
    deadlineAt: null,
    deadlineDropped: false,
  })
  expect(await engine.executions.describe(claim.executionId)).toMatchObject({
    publicState: 'completed',
    generation: 1,
    replayCount: 1,
  })
})

test('a grant whose reply was lost is given, once', async () => {
  const { engine, sql } = await setup()
  const { executionId } = await engine.executions.create({ kind: 'k' })
  const asked = { executionId, workerId: 'w', workerInstanceId: 'w-1' }
  const granted = await losingFirstReply(sql).executions.grant(asked)
  expect(granted).toMatchObject({ kind: 'granted', executionId })
  await refusal('grant_exists', engine.executions.grant(asked))
  expect(await engine.executions.claimById({ ...asked, grantId: granted.grantId })).toMatchObject({ executionId })
})

test('what a claim took is given to its caller, though its second look fails', async () => {
  const { engine, sql } = await setup()
  const second = failingAt(sql, 3)
  await engine.executions.createMany([{ kind: 'k' }, { kind: 'k' }, { kind: 'k' }])
  stopProcessClock()
  // The next claim of this engine goes on from here, and then looks from the head.
  await take(second)
  const { claims } = await second.executions.claim({ ...worker, max: 5 })
  expect(claims).toHaveLength(2)
})

/** An engine whose claim of this number does not come through. */
function failingAt(sql: Sql, number: number): Engine {
  let claims = 0
  return createEngine({
    ...around(sql, (ask) => ask()),
    query: async (statement, values) => {
      if (statement.name === 'execution.claim') claims += 1
      if (statement.name === 'execution.claim' && claims === number) throw new Error('the connection was lost')
      return sql.query(statement, values)
    },
  })
}

/** Where queues begin is remembered for a second. */
function stopProcessClock(): void {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
}
