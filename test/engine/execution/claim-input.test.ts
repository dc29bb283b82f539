import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { mintExecutionId } from '../../../src/model/id.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { take, worker } from './holder.ts'

test('CLAIM-17 a grant or a claim of an unknown id finds nothing', async () => {
  const { engine, sql } = await setup()
  const unknown = { executionId: mintExecutionId(), workerId: 'w', workerInstanceId: 'w-1' }
  await withoutWriting(sql, async () => {
    await refusal('execution_not_found', engine.executions.grant(unknown))
    await refusal('execution_not_found', engine.executions.claimById({ ...unknown, grantId: randomUUID() }))
  })
})

const bad: Readonly<Record<string, [Record<string, unknown>, string]>> = {
  'no lanes': [{ lanes: [] }, 'lanes'],
  'lanes left out': [{ lanes: undefined }, 'lanes'],
  'a lane that is none': [{ lanes: ['a', ''] }, 'lane'],
  'a claim for none': [{ max: 0 }, 'max'],
  'a claim for 10,001': [{ max: 10_001 }, 'max'],
  'a claim for one and a half': [{ max: 1.5 }, 'max'],
  'a ttl under 100 ms': [{ leaseTtl: 99 }, 'leaseTtl'],
  'a ttl over a day': [{ leaseTtl: 86_400_001 }, 'leaseTtl'],
  'a ttl that is no duration': [{ leaseTtl: '1h30m' }, 'leaseTtl'],
  'a wait below nought': [{ wait: -1 }, 'wait'],
  'no worker': [{ workerId: undefined }, 'workerId'],
  'an empty instance': [{ workerInstanceId: '' }, 'workerInstanceId'],
  'kinds that are no list': [{ kinds: 'mail' }, 'kinds'],
  'versions that are no list': [{ versions: 'v1' }, 'versions'],
  'namespaces that are no list': [{ namespaces: 'a' }, 'namespaces'],
  'a signal that is none': [{ wait: '1s', signal: {} }, 'signal'],
  'no kinds': [{ kinds: [] }, 'kinds'],
  'no namespaces': [{ namespaces: [] }, 'namespaces'],
  'an unknown field': [{ lane: 'a' }, 'claim'],
}

test.each(Object.entries(bad))('%s is refused, and nothing is claimed', async (_, [wrong, field]) => {
  const { engine, sql } = await setup()
  await engine.executions.create({ kind: 'k' })
  const error = await withoutWriting(sql, () =>
    refusal('invalid_input', engine.executions.claim({ ...worker, ...wrong })),
  )
  expect(error.details['field']).toBe(field)
})

test('the shortest and the longest lease are accepted', async () => {
  const { engine, clock } = await setup()
  await clock.freeze()
  await engine.executions.createMany([{ kind: 'k' }, { kind: 'k' }])
  const now = await clock.now()
  expect((await take(engine, { leaseTtl: 100 })).leaseExpiresAt).toBe(now + 100)
  expect((await take(engine, { leaseTtl: '1d' })).leaseExpiresAt).toBe(now + 86_400_000)
})

test.each([
  [['a,b'], 'comma_in_token'],
  [['a b'], 'control_or_whitespace'],
  [['a\u0007'], 'control_or_whitespace'],
  [[''], 'empty_token'],
  [Array.from({ length: 257 }, (_, index) => `c${index}`), 'too_many_tokens'],
  [['x'.repeat(4097)], 'too_many_bytes'],
])("CLAIM-31 a worker's capabilities are checked before anything is read (%#)", async (capabilities, why) => {
  const { engine, sql } = await setup()
  await engine.executions.create({ kind: 'k' })
  const error = await withoutWriting(sql, () =>
    refusal('invalid_capabilities', engine.executions.claim({ ...worker, capabilities })),
  )
  expect(error.details['why']).toBe(why)
})
