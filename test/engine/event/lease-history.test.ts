import { expect, test } from 'vitest'
import type { Engine } from '../../../src/engine/contract.ts'
import type { Claim } from '../../../src/engine/execution/claim.ts'
import { leaseExpiry } from '../../../src/engine/duties/lease-expiry.ts'
import { factory } from '../../support/factory.ts'
import { setup } from '../../support/setup.ts'
import { eventsOf, subscriber, take } from './subscriber.ts'

async function claim(engine: Engine, workerInstanceId: string): Promise<Claim> {
  const request = { workerId: 'worker', workerInstanceId, lanes: ['a'], leaseTtl: '10s' } as const
  const { claims } = await engine.executions.claim(request)
  return claims[0]!
}

test('SUB-12 each lease event names its lease, its worker and the actor who ended it', async () => {
  const { engine, sql, clock } = await setup()
  const subscription = await subscriber(sql)()
  const { executionId } = await engine.executions.create({ kind: 'k', lane: 'a' })
  const first = await claim(engine, 'worker-1')
  const { leaseId, leaseEpoch } = first
  await engine.executions.renew({ workerInstanceId: 'worker-1', leases: [{ executionId, leaseId, leaseEpoch }] })
  await clock.advance('1h')
  await leaseExpiry.runOnce(sql)
  const second = await claim(engine, 'worker-2')
  await engine.as({ actor: 'ada' }).leases.revoke({ executionId, reason: 'stuck' })
  const events = eventsOf(await take(subscription, 5))
  const of = ({ leaseId, leaseEpoch }: Claim, workerInstanceId: string) => ({ leaseId, leaseEpoch, workerInstanceId })
  const [firstLease, secondLease] = [of(first, 'worker-1'), of(second, 'worker-2')]
  expect(events).toMatchObject([
    { leaseEffect: 'acquired', ...firstLease },
    { leaseEffect: 'renewed', ...firstLease },
    { leaseEffect: 'expired', kind: 'lapsed', ...firstLease },
    { leaseEffect: 'reclaimed', kind: 'acquired', ...secondLease },
    { leaseEffect: 'revoked', kind: 'revoked', actor: 'ada', reason: 'stuck', ...secondLease },
  ])
  for (const event of events) expect(event).toMatchObject({ executionId, outcome: null, flowId: null, attemptIndex: 0 })
})

test("SUB-14 an operator's change reaches subscribers, with its cursor", async () => {
  const { engine, sql } = await setup()
  const subscription = await subscriber(sql)({ kinds: ['priority_changed', 'cancel_requested', 'replayed', 'revoked'] })
  const executionId = await factory(sql).waiting()
  await factory(sql).completed()
  await engine.as({ actor: 'ada' }).executions.changePriority({ executionId, priority: 7 })
  const [event] = eventsOf(await take(subscription, 1))
  expect(event).toMatchObject({ kind: 'priority_changed', executionId, actor: 'ada', leaseEffect: null })
  const resumed = await subscriber(sql)({ after: event!.cursor })
  await engine.executions.cancel({ executionId })
  expect((await take(resumed, 1))[0]).toMatchObject({ kind: 'ended', outcome: 'cancelled' })
})
