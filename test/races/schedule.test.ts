import { expect, onTestFinished, test } from 'vitest'
import { scheduleFire } from '../../src/engine/duties/schedule-fire.ts'
import { workerExpiry } from '../../src/engine/duties/worker-expiry.ts'
import { parseExecutionId } from '../../src/model/id.ts'
import { openPostgres } from '../../src/sql/postgres.ts'
import type { Sql } from '../../src/sql/sql.ts'
import { fenceOf } from '../engine/execution/holder.ts'
import { hold } from '../support/barrier.ts'
import { setup } from '../support/setup.ts'
import { secondEngine } from './second-engine.ts'
import * as stored from '../support/stored.ts'
import { nowMs } from '../support/changes.ts'

async function replicas(url: string, count: number): Promise<Sql[]> {
  const opened = await Promise.all(Array.from({ length: count }, () => openPostgres({ url, schema: 'flowfabric' })))
  onTestFinished(async () => void (await Promise.all(opened.map((sql) => sql.close()))))
  return opened
}

const hourly = { kind: 'report', every: '1h', overlap: 'allow' } as const

test('ten replicas fire each time of each schedule once', async () => {
  const { engine, sql, url, clock } = await setup()
  const fleet = await replicas(url, 9)
  await Promise.all(
    Array.from({ length: 30 }, (_, index) => engine.schedules.put({ ...hourly, scheduleId: `s${index}` })),
  )
  for (let round = 1; round <= 20; round++) {
    await clock.advance('1h')
    const runs = await Promise.all([sql, ...fleet].map((replica) => scheduleFire.runOnce(replica)))
    expect(runs.every((run) => run.errors === 0)).toBe(true)
    // A time that one replica found locked is fired by the replica that had the lock.
    expect(runs.reduce((sum, run) => sum + run.processed, 0)).toBe(30)
    expect(await stored.executions.count(sql)).toBe(30 * round)
  }
})

test('firing, triggers, pauses, puts and cancels of the same schedules leave nothing behind', async () => {
  const { engine, sql, url, clock } = await setup()
  const other = await secondEngine(url)
  const [replica] = await replicas(url, 1)
  const ids = Array.from({ length: 8 }, (_, index) => `s${index}`)
  const overlaps = ['skip', 'queue', 'cancelPrevious', 'allow'] as const
  const put = (scheduleId: string, index: number, priority: number) =>
    engine.schedules.put({ scheduleId, kind: 'k', every: '1h', overlap: overlaps[index % 4]!, priority })
  await Promise.all(ids.map((id, index) => put(id, index, 0)))
  const worker = { workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'], max: 20 }
  for (let round = 0; round < 30; round++) {
    await clock.advance('1h')
    const claimed = other.executions.claim(worker)
    const work = claimed.then(({ claims }) => other.executions.completeMany(claims.slice(0, 10).map(fenceOf)))
    const answers = await Promise.allSettled([
      scheduleFire.runOnce(sql),
      scheduleFire.runOnce(replica!),
      ...ids.map((scheduleId) => other.schedules.trigger({ scheduleId })),
      engine.schedules.pause({ scheduleId: ids[round % 8]! }),
      engine.schedules.resume({ scheduleId: ids[(round + 1) % 8]! }),
      put(ids[(round + 2) % 8]!, round + 2, round),
      work,
    ])
    const failures = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as Error] : []))
    expect(failures.filter((error) => !('code' in error) || error.code !== 'contended')).toEqual([])
  }
  const schedules = await stored.schedules.all(sql)
  const firedCount = schedules.reduce((sum, row) => sum + row.fired_count, 0)
  expect(await stored.executions.count(sql)).toBe(firedCount)
})

test('while the last execution of a schedule is locked, the schedule stays due, and the others fire', async () => {
  const { engine, sql, url, clock } = await setup()
  const request = { kind: 'report', every: '1h', overlap: 'cancelPrevious' } as const
  for (const scheduleId of ['a', 'b']) await engine.schedules.put({ ...request, scheduleId })
  const fired = await engine.schedules.trigger({ scheduleId: 'a' })
  if (fired.kind !== 'fired') return expect.unreachable(fired.kind)
  await clock.advance('1h')
  const lock = stored.executions.lockingRows('update', 'execution_id = $1')
  const held = await hold(url, lock, [parseExecutionId(fired.executionId).uuid])
  expect(await scheduleFire.runOnce(sql)).toMatchObject({ processed: 1, errors: 0, isFull: false })
  await held.release()
  await expect.poll(() => scheduleFire.runOnce(sql)).toMatchObject({ processed: 1, errors: 0 })
  expect(await engine.executions.describe(fired.executionId)).toMatchObject({ publicState: 'cancelled' })
})

test('a worker whose heartbeat arrives at its expiry is kept or removed, never both', async () => {
  const { engine, sql, url, clock } = await setup()
  const [replica] = await replicas(url, 1)
  const worker = { workerId: 'w', lanes: ['default'], ttl: '10s' } as const
  for (let round = 0; round < 50; round++) {
    const workerInstanceId = `w-${round}`
    await engine.workers.register({ ...worker, workerInstanceId })
    await stored.workers.change(sql, `expires_at_ms = ${nowMs} + ${round % 4}`)
    const [beat, expiry] = await Promise.all([
      engine.workers.heartbeat({ workerInstanceId }),
      workerExpiry.runOnce(replica!),
    ])
    const left = (await engine.workers.list()).workers.length
    expect(left).toBe(beat.kind === 'refreshed' ? 1 : 0)
    if (beat.kind === 'refreshed') expect(expiry.processed).toBe(0)
    await clock.advance('1m')
    await workerExpiry.runOnce(sql)
  }
})
