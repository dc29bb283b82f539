// Behaviour that all duties share, shown with one of them.
import { expect, inject, test } from 'vitest'
import { allDuties } from '../../../src/engine/duties/all.ts'
import { attemptTimeout } from '../../../src/engine/duties/attempt-timeout.ts'
import { delayedPromoter } from '../../../src/engine/duties/delayed-promoter.ts'
import { leaseExpiry } from '../../../src/engine/duties/lease-expiry.ts'
import { suspensionTimeout } from '../../../src/engine/duties/suspension-timeout.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { factory } from '../../support/factory.ts'
import { refusal } from '../../support/refusal.ts'
import { parseExecutionId } from '../../../src/model/id.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { claimed } from './claimed.ts'
import * as stored from '../../support/stored.ts'
import { storePolicy } from '../../support/changes.ts'
import { moveLog } from '../../support/event-log.ts'

// The upkeep may find rows that other tests have left in the same database.
const sweeps = allDuties(inject('backend')).filter((duty) => duty.name !== 'embedded-upkeep')

test.each(sweeps.map((duty) => [duty.name, duty] as const))(
  '%s finds nothing on an empty database',
  async (_, duty) => {
    const { sql } = await setup()
    const run = await withoutWriting(sql, () => duty.runOnce(sql))
    expect(run).toEqual({ processed: 0, errors: 0, isFull: false, effects: {} })
  },
)

test('of a hundred, the bad ones are quarantined and all others are processed', async () => {
  const { engine, sql, clock } = await setup()
  await engine.executions.createMany(
    Array.from({ length: 100 }, (_, index) => ({
      kind: 'k',
      priority: index,
      policy: { attemptTimeoutMs: '1s' as const },
    })),
  )
  await engine.executions.claim({ workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'], max: 100 })
  // An invalid number of attempts; the policy's check would have refused it.
  await storePolicy(sql, { attemptTimeoutMs: 1000, retry: { attempts: 'many' } }, 'priority in (0, 17, 18, 99)')
  await clock.advance('2s')
  expect(await attemptTimeout.runOnce(sql, { batch: 100 })).toMatchObject({ processed: 96, errors: 4, isFull: true })
  const left = (await stored.quarantine.all(sql)).map((row) => row.subject_id)
  const bad = (await stored.executions.all(sql)).filter((row) => left.includes(row.execution_id))
  expect(bad.map((row) => row.priority).toSorted((a, b) => a - b)).toEqual([0, 17, 18, 99])
  expect(left).toHaveLength(4)
  expect(await attemptTimeout.runOnce(sql)).toMatchObject({ processed: 0, errors: 0 })
})

test('an execution with an invalid number of reclaims is quarantined, and the others are reclaimed', async () => {
  const { engine, sql, clock } = await setup()
  const [bad, good] = [await claimed(engine), await claimed(engine)]
  await storePolicy(sql, { maxReclaimCount: 'many' }, `execution_id = '${parseExecutionId(bad.executionId).uuid}'`)
  await clock.advance('1h')
  expect(await leaseExpiry.runOnce(sql)).toMatchObject({ processed: 1, errors: 1 })
  expect((await engine.executions.describe(bad.executionId))?.publicState).toBe('active')
  expect((await engine.executions.describe(good.executionId))?.publicState).toBe('waiting')
})

test('a damaged condition delays its own suspension and no other', async () => {
  const { engine, sql } = await setup()
  const [bad, good] = [await suspendedUntilFailure(sql), await suspendedUntilFailure(sql)]
  const condition = JSON.stringify({ kind: 'allOf' })
  await stored.suspensions.change(sql, { condition }, `execution_id = '${parseExecutionId(bad).uuid}'`)
  expect(await suspensionTimeout.runOnce(sql)).toMatchObject({ processed: 1, errors: 1 })
  expect((await engine.executions.describe(bad))?.publicState).toBe('suspended')
  expect((await engine.executions.describe(good))?.publicState).toBe('failed')
  expect(await suspensionTimeout.runOnce(sql)).toMatchObject({ processed: 0, errors: 0 })
})

function suspendedUntilFailure(sql: Sql) {
  return factory(sql).suspended({ timeoutAt: 1, timeoutBehaviour: 'fail' })
}

test('a row that is quarantined for one duty is not for another', async () => {
  const { engine, sql, clock } = await setup()
  const { executionId } = await claimed(engine, { policy: { attemptTimeoutMs: '1s' } })
  const failure = { failure_count: 1, retry_at_ms: 9_000_000_000_000, error: 'broke' }
  await stored.quarantine.add(sql, {
    duty: 'delayed-promoter',
    subject_id: parseExecutionId(executionId).uuid,
    ...failure,
  })
  await clock.advance('2s')
  expect(await attemptTimeout.runOnce(sql)).toMatchObject({ processed: 1 })
  expect((await engine.executions.describe(executionId))?.publicState).toBe('expired')
  await stored.quarantine.remove(sql)
})

test('the quarantine of an execution that ended otherwise is deleted', async () => {
  const { sql, clock } = await setup()
  await factory(sql).cancelled()
  const [core] = await stored.executions.pick(sql, ['execution_id'])
  const aside = { duty: 'delayed-promoter', subject_id: core!['execution_id'], failure_count: 1, error: 'broke' }
  await stored.quarantine.add(sql, { ...aside, retry_at_ms: await clock.now() })
  await delayedPromoter.runOnce(sql)
  expect(await stored.quarantine.all(sql)).toHaveLength(1)
  await clock.advance('2h')
  await delayedPromoter.runOnce(sql)
  expect(await stored.quarantine.all(sql)).toEqual([])
})

test('a fault that is not in the data is thrown, and quarantines nothing', async () => {
  const { sql } = await setup()
  await factory(sql).delayed({ until: 1 })
  await stored.ready.whileAway(sql, () => refusal('schema_missing', delayedPromoter.runOnce(sql)))
  expect(await stored.quarantine.all(sql)).toEqual([])
  expect(await delayedPromoter.runOnce(sql)).toMatchObject({ processed: 1, errors: 0 })
})

test('a duty creates the block of the log that it needs', async () => {
  const { engine, sql, clock } = await setup()
  const { executionId } = await claimed(engine, { policy: { attemptTimeoutMs: '1s' } })
  await clock.advance('2s')
  await moveLog(sql, 20_000_001)
  expect(await attemptTimeout.runOnce(sql)).toMatchObject({ processed: 1, errors: 0 })
  expect((await engine.executions.describe(executionId))?.publicState).toBe('expired')
})

test.each([
  ['a batch of 0', { batch: 0 }],
  ['a batch of 1001', { batch: 1001 }],
  ['a batch of one and a half', { batch: 1.5 }],
  ['an option that does not exist', { batches: 1 }],
  ['a filter that does not exist', { filter: { lane: 'a' } }],
])('%s is refused', async (_, options) => {
  const { sql } = await setup()
  await refusal('invalid_input', delayedPromoter.runOnce(sql, options as never))
})
