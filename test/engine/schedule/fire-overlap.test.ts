// The overlap policies: a schedule's time comes while its last execution has not ended.
import { expect, test } from 'vitest'
import { setup } from '../../support/setup.ts'
import { take } from '../execution/holder.ts'
import { executionsOf, finishAll, fire, hourly, report, scheduleEvents } from './scheduled.ts'
import * as stored from '../../support/stored.ts'

const hour = 3_600_000

test('skip: while the last execution has not ended, times are skipped and reported', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const start = await clock.now()
  await engine.schedules.put(hourly)
  for (let turn = 0; turn < 3; turn++) {
    await clock.advance('1h')
    await fire(sql, { processed: 1 })
  }
  expect(await executionsOf(engine)).toHaveLength(1)
  expect(await engine.schedules.describe(report)).toMatchObject({ firedCount: 1, skippedCount: 2 })
  const skipped = (await scheduleEvents(sql)).filter((event) => event['event_type'] === 'schedule_skipped')
  expect(skipped).toMatchObject([
    { reason: 'previous_running', details: { scheduleId: 'report', plannedAt: [start + 2 * hour] } },
    { details: { plannedAt: [start + 3 * hour] } },
  ])
  await finishAll(engine)
  await clock.advance('1h')
  await fire(sql)
  expect(await executionsOf(engine)).toHaveLength(2)
})

test('queue: one after the other, in order, each when the one before has ended', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const start = await clock.now()
  await engine.schedules.put({ ...hourly, overlap: 'queue' })
  for (let turn = 0; turn < 3; turn++) {
    await clock.advance('1h')
    await fire(sql, { processed: 1 })
  }
  expect(await executionsOf(engine)).toHaveLength(1)
  const waiting = { queued: [start + 2 * hour, start + 3 * hour], nextFireAt: start + 4 * hour, skippedCount: 0 }
  expect(await engine.schedules.describe(report)).toMatchObject(waiting)
  for (let count = 2; count <= 3; count++) {
    await finishAll(engine)
    await clock.advance('15s')
    await fire(sql, { processed: 1 })
    expect(await executionsOf(engine)).toHaveLength(count)
  }
  expect(await engine.schedules.describe(report)).toMatchObject({
    queued: [],
    firedCount: 3,
    nextFireAt: start + 4 * hour,
  })
  const { executions } = await engine.executions.list()
  expect(executions.map((execution) => execution.idempotencyKey).toReversed()).toEqual(
    [1, 2, 3].map((count) => new Date(start + count * hour).toISOString()),
  )
})

test.each(['waiting', 'active'])(
  'cancelPrevious: a last execution that is %s ends, and the next begins',
  async (state) => {
    const { engine, sql, clock } = await setup()
    await engine.schedules.put({ ...hourly, overlap: 'cancelPrevious' })
    await clock.advance('1h')
    await fire(sql)
    if (state === 'active') await take(engine, { leaseTtl: '1d' })
    await clock.advance('1h')
    await fire(sql, { processed: 1 })
    const [first, second] = await executionsOf(engine)
    expect(await engine.executions.describe(first!)).toMatchObject({
      publicState: 'cancelled',
      cancellationReason: "replaced by the next firing of schedule 'report'",
      cancelledBy: 'schedule-fire',
    })
    expect(await engine.executions.describe(second!)).toMatchObject({ publicState: 'waiting' })
  },
)

test('a last execution that retention has removed does not block the schedule', async () => {
  const { engine, sql, clock } = await setup()
  await engine.schedules.put(hourly)
  await stored.schedules.change(sql, 'last_execution_id = gen_random_uuid()')
  await clock.advance('1h')
  await fire(sql)
  expect(await executionsOf(engine)).toHaveLength(1)
})
