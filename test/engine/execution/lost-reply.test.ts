// Operations whose reply was lost while others changed the execution again: they do not take effect a second time, and
// their answer is not lost. The replies of real connections are lost in `races/lost-connection.test.ts`.
import { expect, onTestFinished, test, vi } from 'vitest'
import type { Engine } from '../../../src/engine/contract.ts'
import { createEngine } from '../../../src/engine/engine.ts'
import { around } from '../../../src/sql/around.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { suspend, waiting } from '../waiting/suspension/waiting.ts'
import { fenceOf, held, take, worker } from './holder.ts'

/** An engine whose first set takes effect, after which others act; the reply is lost. */
function losingFirstReply(sql: Sql, meanwhile: () => Promise<unknown> = async () => {}): Engine {
  let isLost = false
  const lose = async <T>(answer: T): Promise<T> => {
    if (isLost) return answer
    isLost = true
    await meanwhile()
    throw Object.assign(new Error('terminating connection'), { code: '57P01', severity: 'FATAL' })
  }
  return createEngine({
    ...around(sql, (ask) => ask()),
    pipeline: async (calls, options) => lose(await sql.pipeline(calls, options)),
    decide: async (reads, decide, options) => lose(await sql.decide(reads, decide, options)),
  })
}

test('a revoke whose reply was lost returns its first answer, and does not end the lease of the next holder', async () => {
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

test('a resume whose reply was lost returns its first answer, and does not wake the next suspension', async () => {
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

test('a grant whose reply was lost is granted once', async () => {
  const { engine, sql } = await setup()
  const { executionId } = await engine.executions.create({ kind: 'k' })
  const asked = { executionId, workerId: 'w', workerInstanceId: 'w-1' }
  const granted = await losingFirstReply(sql).executions.grant(asked)
  expect(granted).toMatchObject({ kind: 'granted', executionId })
  await refusal('grant_exists', engine.executions.grant(asked))
  expect(await engine.executions.claimById({ ...asked, grantId: granted.grantId })).toMatchObject({ executionId })
})

test('the executions of a claim are returned to its caller, though its second read fails', async () => {
  const { engine, sql } = await setup()
  const second = failingAt(sql, 3)
  await engine.executions.createMany([{ kind: 'k' }, { kind: 'k' }, { kind: 'k' }])
  stopProcessClock()
  // The next claim of this engine continues from here, and then reads from the head.
  await take(second)
  const { claims } = await second.executions.claim({ ...worker, max: 5 })
  expect(claims).toHaveLength(2)
})

/** An engine whose claim of this number fails. */
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

/** The start of a queue is remembered for a second. */
function stopProcessClock(): void {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => void vi.useRealTimers())
}
