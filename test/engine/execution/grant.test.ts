import { expect, test } from 'vitest'
import { factory } from '../../support/factory.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'

const holder = { workerId: 'w', workerInstanceId: 'w-1' }
const anyone = { workerId: 'v', workerInstanceId: 'v-1', lanes: ['default'] }

test('a grant moves nothing, keeps others off, and lets its holder claim once', async () => {
  const { engine, sql } = await setup()
  const executionId = await factory(sql).waiting()
  const { grantId } = await engine.executions.grant({ executionId, ...holder })
  expect(await engine.executions.describe(executionId)).toMatchObject({ publicState: 'waiting' })
  expect((await engine.executions.claim(anyone)).claims).toEqual([])
  await refusal('grant_exists', engine.executions.grant({ executionId, workerId: 'v', workerInstanceId: 'v-1' }))
  for (const wrong of [{ workerId: 'v' }, { workerInstanceId: 'w-2' }, { grantId: 'another' }]) {
    const request = { executionId, grantId, ...holder, ...wrong }
    await withoutWriting(sql, () => refusal('grant_not_found', engine.executions.claimById(request)))
  }
  const claim = await engine.executions.claimById({ executionId, grantId, ...holder })
  expect(claim).toMatchObject({ executionId, reason: 'first', leaseEpoch: 1 })
  await refusal('execution_not_runnable', engine.executions.claimById({ executionId, grantId, ...holder }))
})

test('a grant that ran out is refused, and holds nobody off', async () => {
  const { engine, sql, clock } = await setup()
  const executionId = await factory(sql).waiting()
  const { grantId } = await engine.executions.grant({ executionId, ...holder, ttl: '2s' })
  await clock.advance('3s')
  await refusal('grant_expired', engine.executions.claimById({ executionId, grantId, ...holder }))
  await engine.executions.grant({ executionId, ...holder })
  await clock.advance('10s')
  expect((await engine.executions.claim(anyone)).claims).toMatchObject([{ executionId }])
})

test('only what can be claimed now is granted', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  for (const executionId of [await given.delayed(), await given.active(), await given.completed()]) {
    await withoutWriting(sql, () =>
      refusal('execution_not_runnable', engine.executions.grant({ executionId, ...holder })),
    )
  }
  await refusal('invalid_input', engine.executions.grant({ executionId: await given.waiting(), ...holder, ttl: '2m' }))
})

test('ATT-19 progress keeps what is left out, outlives the attempt, and ATT-20 is fenced', async () => {
  const { engine } = await setup()
  const { executionId } = await engine.executions.create({ kind: 'k' })
  const [claim] = (await engine.executions.claim(anyone)).claims
  const fence = { executionId, leaseId: claim!.leaseId, leaseEpoch: claim!.leaseEpoch }
  const seen = async () => (await engine.executions.describe(executionId))!.progress
  expect(await seen()).toBeNull()
  await engine.executions.progress({ ...fence, percent: 42, message: 'halfway' })
  expect(await seen()).toMatchObject({ percent: 42, message: 'halfway' })
  await engine.executions.progress({ ...fence, percent: 75 })
  expect(await seen()).toMatchObject({ percent: 75, message: 'halfway' })
  await engine.executions.progress({ ...fence, message: 'winding down' })
  await engine.executions.progress(fence)
  expect(await seen()).toMatchObject({ percent: 75, message: 'winding down' })
  await refusal('invalid_input', engine.executions.progress({ ...fence, percent: 101 }))
  await engine.executions.release(fence)
  await refusal('stale_lease', engine.executions.progress({ ...fence, percent: 80 }))
  expect(await seen()).toMatchObject({ percent: 75 })
})
