// What an operator did and did not hear of, while others went on from there: it is not done a second time. The replies of
// real connections are lost in `races/lost-connection.test.ts`.
import { expect, test } from 'vitest'
import type { Engine } from '../../../src/engine/contract.ts'
import { createEngine } from '../../../src/engine/engine.ts'
import { around } from '../../../src/sql/around.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { fenceOf, held, take } from './holder.ts'

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

test('a revoke whose reply was lost does not take the lease of the next holder', async () => {
  const { engine, sql } = await setup()
  const { executionId } = await held(engine)
  const operator = losingFirstReply(sql, () => take(engine, { workerInstanceId: 'w-2' }))
  await refusal('database_unreachable', operator.leases.revoke({ executionId }))
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'active',
    lease: { leaseEpoch: 2, workerInstanceId: 'w-2' },
  })
})

test('a replay whose reply was lost is one replay, though it has ended since', async () => {
  const { engine, sql } = await setup()
  const claim = await held(engine)
  await engine.executions.complete(fenceOf(claim))
  const operator = losingFirstReply(sql, async () => engine.executions.complete(fenceOf(await take(engine))))
  await refusal('database_unreachable', operator.executions.replay({ executionId: claim.executionId }))
  expect(await engine.executions.describe(claim.executionId)).toMatchObject({
    publicState: 'completed',
    generation: 1,
    replayCount: 1,
  })
})

test('a grant whose reply was lost is given, once', async () => {
  const { engine, sql } = await setup()
  const { executionId } = await engine.executions.create({ kind: 'k' })
  const worker = { executionId, workerId: 'w', workerInstanceId: 'w-1' }
  const granted = await losingFirstReply(sql).executions.grant(worker)
  expect(granted).toMatchObject({ kind: 'granted', executionId })
  await refusal('grant_exists', engine.executions.grant(worker))
  expect(await engine.executions.claimById({ ...worker, grantId: granted.grantId })).toMatchObject({ executionId })
})
