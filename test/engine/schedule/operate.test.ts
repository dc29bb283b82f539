// Pause, resume, trigger, delete, list.
import { expect, test } from 'vitest'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { executionsOf, finishAll, fire, hourly, report, scheduleEvents } from './scheduled.ts'

const hour = 3_600_000

test('a paused schedule fires at none of its times, and does not catch up when it resumes', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const start = await clock.now()
  await engine.schedules.put({ ...hourly, catchUp: 'all', overlap: 'allow' })
  expect(await engine.schedules.pause(report)).toEqual({ kind: 'paused', scheduleId: 'report' })
  expect(await withoutWriting(sql, () => engine.schedules.pause(report))).toMatchObject({ kind: 'already_paused' })
  expect(await engine.schedules.describe(report)).toMatchObject({ state: 'paused', nextFireAt: null, pausedAt: start })
  await clock.advance('150m')
  await fire(sql, { processed: 0 })
  const nextFireAt = start + 3 * hour
  expect(await engine.schedules.resume(report)).toEqual({ kind: 'resumed', scheduleId: 'report', nextFireAt })
  expect(await withoutWriting(sql, () => engine.schedules.resume(report))).toMatchObject({
    kind: 'not_paused',
    nextFireAt,
  })
  await clock.advance('30m')
  await fire(sql, { processed: 1 })
  expect(await executionsOf(engine)).toHaveLength(1)
  expect((await scheduleEvents(sql)).map((event) => event['event_type'])).toEqual([
    'schedule_put',
    'schedule_paused',
    'schedule_resumed',
    'schedule_fired',
  ])
})

test("a paused schedule's queue fires when the schedule resumes", async () => {
  const { engine, sql, clock } = await setup()
  await engine.schedules.put({ ...hourly, overlap: 'queue' })
  for (let turn = 0; turn < 2; turn++) {
    await clock.advance('1h')
    await fire(sql, { processed: 1 })
  }
  await engine.schedules.pause(report)
  await finishAll(engine)
  await clock.advance('1m')
  await fire(sql, { processed: 0 })
  await engine.schedules.resume(report)
  await fire(sql, { processed: 1 })
  expect(await executionsOf(engine)).toHaveLength(2)
})

test('a trigger fires at once, paused or not, and the next time stays', async () => {
  const { engine, sql, clock } = await setup()
  const { nextFireAt } = await engine.schedules.put({ ...hourly, jitter: '10m' })
  await engine.schedules.pause(report)
  const answer = await engine.as({ actor: 'ada' }).schedules.trigger(report)
  const [executionId] = await executionsOf(engine)
  expect(answer).toEqual({ kind: 'fired', scheduleId: 'report', executionId })
  expect(await engine.executions.describe(executionId!)).toMatchObject({ publicState: 'waiting' })
  expect((await scheduleEvents(sql)).at(-1)).toMatchObject({ event_type: 'schedule_fired', actor: 'ada' })
  await engine.schedules.resume(report)
  expect(await engine.schedules.describe(report)).toMatchObject({ nextFireAt, lastPlannedAt: null, firedCount: 1 })
  await finishAll(engine)
  await clock.advance('1h')
  await fire(sql, { processed: 1 })
  expect(await executionsOf(engine)).toHaveLength(2)
})

test.each([
  ['skip', 'skipped', 1, 'waiting'],
  ['queue', 'queued', 1, 'waiting'],
  ['cancelPrevious', 'fired', 2, 'cancelled'],
  ['allow', 'fired', 2, 'waiting'],
] as const)('a trigger while the last execution has not ended, %s: %s', async (overlap, kind, count, first) => {
  const { engine } = await setup()
  await engine.schedules.put({ ...hourly, overlap })
  await engine.schedules.trigger(report)
  expect(await engine.schedules.trigger(report)).toMatchObject({ kind })
  const ids = await executionsOf(engine)
  expect(ids).toHaveLength(count)
  expect(await engine.executions.describe(ids[0]!)).toMatchObject({ publicState: first })
})

test('a queued trigger fires when the ones before it have ended', async () => {
  const { engine, sql, clock } = await setup()
  await engine.schedules.put({ ...hourly, overlap: 'queue' })
  for (let turn = 0; turn < 3; turn++) await engine.schedules.trigger(report)
  for (let count = 2; count <= 3; count++) {
    await finishAll(engine)
    await clock.advance('20s')
    await fire(sql, { processed: 1 })
    expect(await executionsOf(engine)).toHaveLength(count)
  }
  expect(await engine.schedules.describe(report)).toMatchObject({ queued: [], firedCount: 3 })
})

test('of several triggers at once, one fires and the others are skipped', async () => {
  const { engine } = await setup()
  await engine.schedules.put(hourly)
  const answers = await Promise.all(Array.from({ length: 10 }, () => engine.schedules.trigger(report)))
  expect(answers.filter((answer) => answer.kind === 'fired')).toHaveLength(1)
  expect(await executionsOf(engine)).toHaveLength(1)
})

test('a trigger wakes a worker that waits', async () => {
  const { engine } = await setup()
  await engine.schedules.put(hourly)
  const worker = { workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'], wait: '1m' } as const
  const waiting = engine.executions.claim(worker)
  await engine.schedules.trigger(report)
  expect((await waiting).claims).toHaveLength(1)
})

test('a deleted schedule fires no more, its executions stay, and the id is free', async () => {
  const { engine, sql, clock } = await setup()
  await engine.schedules.put(hourly)
  await engine.schedules.trigger(report)
  expect(await engine.schedules.delete(report)).toEqual({ kind: 'deleted', scheduleId: 'report' })
  expect(await withoutWriting(sql, () => engine.schedules.delete(report))).toMatchObject({ kind: 'not_found' })
  await clock.advance('1d')
  await fire(sql, { processed: 0 })
  expect(await executionsOf(engine)).toHaveLength(1)
  expect(await engine.schedules.describe(report)).toBeNull()
  expect(await engine.schedules.put(hourly)).toMatchObject({ kind: 'created' })
  expect((await scheduleEvents(sql)).map((event) => event['event_type'])).toContain('schedule_deleted')
})

test('an operation on an unknown schedule is not found, and the error names the next action', async () => {
  const { engine } = await setup()
  for (const verb of ['pause', 'resume', 'trigger'] as const) {
    const error = await refusal('schedule_not_found', engine.schedules[verb](report))
    expect(error.message).toBe("schedule 'report' does not exist; create it with schedules.put")
  }
})

test('schedules are listed by namespace and id, in pages', async () => {
  const { engine } = await setup()
  for (const [namespace, scheduleId] of [
    ['b', '1'],
    ['a', '2'],
    ['a', '1'],
    ['a', '3'],
  ] as const) {
    await engine.schedules.put({ ...hourly, namespace, scheduleId })
  }
  const first = await engine.schedules.list({ limit: 2 })
  const idsOf = (page: typeof first) => page.schedules.map((one) => `${one.namespace}${one.scheduleId}`)
  expect(idsOf(first)).toEqual(['a1', 'a2'])
  expect(idsOf(await engine.schedules.list({ limit: 2, cursor: first.nextCursor! }))).toEqual(['a3', 'b1'])
  expect(idsOf(await engine.schedules.list({ namespace: 'b' }))).toEqual(['b1'])
  expect(idsOf(await engine.as({ namespace: 'a' }).schedules.list())).toEqual(['a1', 'a2', 'a3'])
  await refusal('invalid_cursor', engine.schedules.list({ cursor: 'x' }))
})
