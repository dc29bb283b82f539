import { expect, test } from 'vitest'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { fenceOf, held } from '../execution/holder.ts'

test('a check reports for each lease whether it is valid and whether its holder should stop, and writes nothing', async () => {
  const { engine, sql, clock } = await setup()
  const lost = await held(engine)
  await clock.advance('2m')
  const [kept, asked, cancelled] = [await held(engine, { lane: 'default' }), await held(engine), await held(engine)]
  await engine.executions.cancel({ executionId: asked.executionId, grace: '1m' })
  await engine.executions.cancel({ executionId: cancelled.executionId })
  const leases = [fenceOf(lost), fenceOf(kept), fenceOf(asked), fenceOf(cancelled), 'none' as never]
  await withoutWriting(sql, async () => {
    expect(await engine.leases.check({ leases })).toMatchObject([
      { kind: 'lost', executionId: lost.executionId, error: { code: 'lease_expired' } },
      { kind: 'renewed', executionId: kept.executionId, expiresAt: kept.leaseExpiresAt, cancelRequested: false },
      { kind: 'renewed', executionId: asked.executionId, cancelRequested: true },
      { kind: 'lost', executionId: cancelled.executionId, error: { code: 'execution_not_active' } },
      { kind: 'lost', error: { code: 'invalid_input' } },
    ])
    expect(await engine.leases.check({ leases: [] })).toEqual([])
  })
})

test('a lease with an unknown field is refused at its position, by check and by renew', async () => {
  const { engine } = await setup()
  const fence = fenceOf(await held(engine))
  const odd = { ...fence, leaseTtl: '1m' } as never
  const refused = { kind: 'lost', error: { code: 'invalid_input', details: { unknown: 'leaseTtl' } } }
  expect(await engine.leases.check({ leases: [odd, fence] })).toMatchObject([refused, { kind: 'renewed' }])
  const request = { workerInstanceId: 'w-1', leases: [odd, fence] }
  expect((await engine.executions.renew(request)).leases).toMatchObject([refused, { kind: 'renewed' }])
})
