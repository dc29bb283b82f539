import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { allDuties } from '../../src/engine/duties/all.ts'
import { attemptTimeout } from '../../src/engine/duties/attempt-timeout.ts'
import { delayedPromoter } from '../../src/engine/duties/delayed-promoter.ts'
import { executionDeadline } from '../../src/engine/duties/execution-deadline.ts'
import { leaseExpiry } from '../../src/engine/duties/lease-expiry.ts'
import { waitpointExpiry } from '../../src/engine/duties/waitpoint-expiry.ts'
import { parseExecutionId } from '../../src/model/id.ts'
import { openPostgres } from '../../src/sql/postgres.ts'
import type { Sql } from '../../src/sql/sql.ts'
import { fenceOf, held } from '../engine/execution/holder.ts'
import { hold } from '../support/barrier.ts'
import { factory } from '../support/factory.ts'
import { refusal } from '../support/refusal.ts'
import { setup } from '../support/setup.ts'
import { secondEngine } from './second-engine.ts'
import * as stored from '../support/stored.ts'

const worker = { workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'] }

async function another(url: string): Promise<Sql> {
  const sql = await openPostgres({ url, schema: 'flowfabric' })
  onTestFinished(() => sql.close())
  return sql
}

test('DELAY-09 a locked row does not delay others, and is promoted when the lock is released', async () => {
  const { engine, sql, url } = await setup()
  const given = factory(sql)
  const [locked, other] = [await given.delayed({ until: 1 }), await given.delayed({ until: 2 })]
  const change = stored.executions.changing('retry_count = retry_count', 'execution_id = $1')
  const held = await hold(url, change, [parseExecutionId(locked).uuid])
  expect(await delayedPromoter.runOnce(sql, { batch: 2 })).toMatchObject({ processed: 1, errors: 0 })
  expect((await engine.executions.describe(other))?.publicState).toBe('waiting')
  // The run skipped only locked rows: the next run would find the same.
  expect(await delayedPromoter.runOnce(sql, { batch: 1 })).toMatchObject({ processed: 0, errors: 0, isFull: false })
  await held.release()
  await expect.poll(() => delayedPromoter.runOnce(sql)).toMatchObject({ processed: 1 })
})

test('a lease that is being renewed does not expire, and neither does one that just was', async () => {
  const { sql, url, clock } = await setup()
  await factory(sql).active({ expiresAt: 1 })
  const renewing = new pg.Client(url)
  await renewing.connect()
  onTestFinished(() => renewing.end())
  await renewing.query('begin')
  await renewing.query(stored.leases.changing('expires_at_ms = $1'), [(await clock.now()) + 60_000])
  expect(await leaseExpiry.runOnce(sql)).toMatchObject({ processed: 0, errors: 0 })
  await renewing.query('commit')
  expect(await leaseExpiry.runOnce(sql)).toMatchObject({ processed: 0, errors: 0 })
  await clock.advance('2m')
  expect(await leaseExpiry.runOnce(sql)).toMatchObject({ processed: 1, errors: 0 })
})

test('a waitpoint does not expire while another transaction locks its execution and may be about to use it', async () => {
  const { engine, sql, url } = await setup()
  const fence = fenceOf(await held(engine))
  const { waitpointId } = await engine.waitpoints.create({ ...fence, key: 'answer', expiresIn: 0 })
  const suspending = await hold(url, stored.executions.lockingRows('no key update'))
  expect(await waitpointExpiry.runOnce(sql)).toMatchObject({ processed: 0, errors: 0 })
  await suspending.release()
  await expect.poll(() => waitpointExpiry.runOnce(sql)).toMatchObject({ processed: 1 })
  const late = { ...fence, condition: { kind: 'signal', waitpoint: 'answer' }, waitpoints: [{ waitpointId }] } as const
  await refusal('pending_waitpoint_expired', engine.executions.suspend(late))
})

test('two runs of the duties at once act on each row once', async () => {
  const { engine, sql, url } = await setup()
  const other = await another(url)
  await engine.executions.createMany(Array.from({ length: 200 }, () => ({ kind: 'k' })))
  for (let round = 1; round <= 50; round++) {
    // Claimed ahead: expiries of started runs would delay the next claim.
    await engine.executions.claim({ ...worker, max: 200, startCount: 0, leaseTtl: '1h' })
    await stored.leases.change(sql, { expires_at_ms: 1 })
    const runs = await Promise.all([leaseExpiry.runOnce(sql), leaseExpiry.runOnce(other)])
    expect(runs.reduce((sum, run) => sum + run.processed, 0)).toBe(200)
    expect(runs.map((run) => run.errors)).toEqual([0, 0])
    expect(await stored.leaseEvents.count(sql, { event_type: 'expired' })).toBe(200 * round)
  }
})

// The invariants at the end of the test check that neither side leaves a lease, ready row or attempt behind.
test('duties, cancels, claims and completions of the same executions leave nothing behind', async () => {
  const { engine, sql, url } = await setup()
  const other = await another(url)
  const workers = await secondEngine(url)
  for (let round = 0; round < 50; round++) {
    const created = await engine.executions.createMany(
      Array.from({ length: 80 }, (_, index) => ({
        kind: 'k',
        deadline: 5 + (index % 40),
        ...(index % 5 === 0 && { delay: index % 20 }),
        policy: { attemptTimeoutMs: 1 + (index % 20), retry: { attempts: 50, backoff: { type: 'fixed', delayMs: 0 } } },
      })) as never,
    )
    const ids = created.flatMap((answer) => (answer.kind === 'created' ? [{ executionId: answer.executionId }] : []))
    const working = (async () => {
      for (let turn = 0; turn < 8; turn++) {
        const { claims } = await workers.executions.claim({ ...worker, max: 20, leaseTtl: 100 })
        await workers.executions.releaseMany(
          claims.slice(0, 8).map(({ executionId, leaseId, leaseEpoch }) => ({ executionId, leaseId, leaseEpoch })),
        )
      }
    })()
    const runningDuties = (async () => {
      for (let turn = 0; turn < 4; turn++) {
        for (const duty of [attemptTimeout, delayedPromoter, leaseExpiry, executionDeadline]) {
          expect(await duty.runOnce(turn % 2 === 0 ? sql : other)).toMatchObject({ errors: 0 })
        }
      }
    })()
    const cancelling = engine.executions.cancelMany(ids.filter((_, index) => index % 2 === 0))
    await Promise.all([working, runningDuties, cancelling])
  }
  for (const duty of allDuties(sql.kind)) expect(await duty.runOnce(sql)).toMatchObject({ errors: 0 })
})
