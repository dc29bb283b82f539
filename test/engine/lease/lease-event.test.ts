import { expect, test } from 'vitest'
import type { Engine } from '../../../src/engine/contract.ts'
import { attemptTimeout } from '../../../src/engine/duties/attempt-timeout.ts'
import { executionDeadline } from '../../../src/engine/duties/execution-deadline.ts'
import { leaseExpiry } from '../../../src/engine/duties/lease-expiry.ts'
import type { Claim } from '../../../src/engine/execution/claim.ts'
import { parseExecutionId } from '../../../src/model/id.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import type { Clock } from '../../support/clock.ts'
import { setup } from '../../support/setup.ts'
import { fenceOf, held, leaseEvents, take } from '../execution/holder.ts'
import { eventsWithTag } from '../../support/reads.ts'
import * as stored from '../../support/stored.ts'

interface Given {
  readonly engine: Engine
  readonly sql: Sql
  readonly clock: Clock
  readonly claim: Claim
}

const retry = { attempts: 3, backoff: { type: 'fixed', delayMs: 0 } } as const
const create = { policy: { retry, attemptTimeoutMs: '2h' }, deadline: '3h' } as const

const byOperation: Readonly<Record<string, [event: string, act: (given: Given) => Promise<unknown>]>> = {
  renew: [
    'renewed',
    ({ engine, claim }) => engine.executions.renew({ workerInstanceId: 'w-1', leases: [fenceOf(claim)] }),
  ],
  complete: ['revoked', ({ engine, claim }) => engine.executions.complete(fenceOf(claim))],
  fail: ['revoked', ({ engine, claim }) => engine.executions.fail({ ...fenceOf(claim), reason: 'broke' })],
  'fail for good': [
    'revoked',
    ({ engine, claim }) => engine.executions.fail({ ...fenceOf(claim), reason: 'broke', permanent: true }),
  ],
  delay: ['revoked', ({ engine, claim }) => engine.executions.delay({ ...fenceOf(claim), for: '1m' })],
  release: ['revoked', ({ engine, claim }) => engine.executions.release(fenceOf(claim))],
  cancel: ['revoked', ({ engine, claim }) => engine.executions.cancel({ executionId: claim.executionId })],
  revoke: ['revoked', ({ engine, claim }) => engine.leases.revoke({ executionId: claim.executionId })],
  'an expiry': [
    'expired',
    async ({ sql, clock }) => {
      await clock.advance('65m')
      await leaseExpiry.runOnce(sql)
    },
  ],
  'an attempt timeout': [
    'expired',
    async ({ sql, clock }) => {
      await clock.advance('125m')
      await attemptTimeout.runOnce(sql)
    },
  ],
  'a deadline': [
    'expired',
    async ({ sql, clock }) => {
      await clock.advance('185m')
      await executionDeadline.runOnce(sql)
    },
  ],
}

test.each(Object.entries(byOperation))('LEASE-29 %s writes one lease event of its own', async (_, [event, act]) => {
  const { engine, sql, clock } = await setup()
  await engine.executions.create({ kind: 'k', ...create })
  const claim = await take(engine, { leaseTtl: '1h' })
  expect(await leaseEvents(sql)).toEqual(['acquired'])
  await act({ engine, sql, clock, claim })
  expect(await leaseEvents(sql)).toEqual(['acquired', event])
})

test('LEASE-29 a claim after an expiry or a revoke is recorded as reclaimed, any other as acquired', async () => {
  const { engine, sql } = await setup()
  const claim = await held(engine)
  await engine.leases.revoke({ executionId: claim.executionId })
  await engine.executions.release(fenceOf(await take(engine)))
  await take(engine)
  expect(await leaseEvents(sql)).toEqual(['acquired', 'revoked', 'reclaimed', 'revoked', 'acquired'])
})

const columns = ['execution_id', 'partition_key', 'lease_id', 'event_type', 'occurred_at_ms', 'namespace']

test.each([
  ['with', { namespace: 'n', tags: { 'app.instance': 'seven' } }, 'seven'],
  ['without', { namespace: 'n' }, null],
])('LEASE-27, LEASE-28 a lease event of an execution %s a tag carries namespace and tag', async (_, traits, tag) => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const claim = await held(engine, traits)
  const { partition, uuid } = parseExecutionId(claim.executionId)
  expect(await eventsWithTag(sql, stored.leaseEvents, columns, 'app.instance')).toEqual([
    {
      execution_id: uuid,
      partition_key: partition,
      lease_id: claim.leaseId,
      event_type: 'acquired',
      occurred_at_ms: await clock.now(),
      namespace: 'n',
      tag_value: tag,
    },
  ])
})
