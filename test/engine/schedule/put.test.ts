import { expect, test } from 'vitest'
import type { PutScheduleRequest } from '../../../src/engine/schedule/put-request.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { contents, withoutWriting } from '../../support/written.ts'
import { fire, hourly, report, scheduleEvents } from './scheduled.ts'

const hour = 3_600_000

test('a new schedule is created and returned with its next time', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const now = await clock.now()
  expect(await engine.as({ actor: 'ada' }).schedules.put({ ...hourly, lane: 'slow', version: '2' })).toEqual({
    kind: 'created',
    scheduleId: 'report',
    nextFireAt: now + hour,
  })
  expect(await engine.schedules.describe(report)).toEqual({
    scheduleId: 'report',
    namespace: 'default',
    state: 'active',
    cron: null,
    timeZone: null,
    everyMs: hour,
    overlap: 'skip',
    catchUp: 'last',
    catchUpLimit: 100,
    jitterMs: 0,
    until: null,
    nextFireAt: now + hour,
    lastFiredAt: null,
    lastPlannedAt: null,
    lastExecutionId: null,
    firedCount: 0,
    skippedCount: 0,
    queued: [],
    createdAt: now,
    changedAt: now,
    pausedAt: null,
    kind: 'report',
    lane: 'slow',
    version: '2',
    priority: 0,
    requiredCapabilities: [],
    deadlineMs: null,
    tags: {},
    policy: null,
    payload: null,
    payloadEncoding: null,
  })
  expect(await scheduleEvents(sql)).toMatchObject([
    { event_type: 'schedule_put', actor: 'ada', details: { scheduleId: 'report', plannedAt: now + hour } },
  ])
})

test('an equal put changes nothing, so an application may put its schedules at every start', async () => {
  const { engine, sql, clock } = await setup()
  const request = { ...hourly, payload: new Uint8Array([1]), tags: { b: '2', a: '1' } }
  const { nextFireAt } = await engine.schedules.put(request)
  await clock.advance('30m')
  const again = await withoutWriting(sql, () => engine.schedules.put({ ...request, tags: { a: '1', b: '2' } }))
  expect(again).toEqual({ kind: 'unchanged', scheduleId: 'report', nextFireAt })
})

test('a change of the executions keeps the next time; a change of the timing plans a new one', async () => {
  const { engine, clock } = await setup()
  await clock.freeze()
  const { nextFireAt } = await engine.schedules.put(hourly)
  await clock.advance('30m')
  const payload = new Uint8Array([7])
  expect(await engine.schedules.put({ ...hourly, payload, overlap: 'allow' })).toMatchObject({
    kind: 'changed',
    nextFireAt,
  })
  expect(await engine.schedules.describe(report)).toMatchObject({ payload, overlap: 'allow', nextFireAt })
  const now = await clock.now()
  expect(await engine.schedules.put({ ...hourly, every: '2h' })).toMatchObject({ nextFireAt: now + 2 * hour })
  expect(await engine.schedules.put({ ...hourly, every: '2h', until: now + 3 * hour })).toMatchObject({
    nextFireAt: now + 2 * hour,
  })
})

test('a put that changes a paused schedule leaves it paused', async () => {
  const { engine } = await setup()
  await engine.schedules.put(hourly)
  await engine.schedules.pause(report)
  expect(await engine.schedules.put({ ...hourly, every: '2h' })).toMatchObject({ kind: 'changed', nextFireAt: null })
  expect(await engine.schedules.describe(report)).toMatchObject({ state: 'paused', everyMs: 2 * hour })
})

test('ten puts of a new schedule at once create one', async () => {
  const { engine } = await setup()
  const puts = Array.from({ length: 10 }, (_, index) => engine.schedules.put({ ...hourly, priority: index }))
  await Promise.all(puts)
  expect((await engine.schedules.list()).schedules).toHaveLength(1)
})

test('a schedule whose end has passed stays unchanged when it is put again', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const request = { ...hourly, until: (await clock.now()) + hour }
  await engine.schedules.put(request)
  await clock.advance('90m')
  await fire(sql, { processed: 1 })
  expect(await engine.schedules.describe(report)).toMatchObject({ state: 'ended', nextFireAt: null, firedCount: 1 })
  expect(await engine.schedules.put(request)).toMatchObject({ kind: 'unchanged', nextFireAt: null })
})

const bad: readonly [string, object, string][] = [
  ['a pattern that never fires', { every: undefined, cron: '0 0 31 2 *' }, "cron '0 0 31 2 *' never fires; correct it"],
  ['an end that is past', { until: 1 }, 'until is 1970-01-01T00:00:00.001Z, which is in the past'],
  ['an interval of nothing', { every: 0 }, 'every is 0; it must be at least 1000 ms'],
  ['an unknown zone', { every: undefined, cron: '@daily', timeZone: 'Mars' }, 'timeZone is "Mars"'],
  ['no kind', { kind: undefined }, 'kind is undefined'],
  ['an unknown overlap', { overlap: 'skipp' }, 'did you mean skip?'],
  ['an unknown catch-up', { catchUp: 'some' }, 'catchUp is "some"; it must be one of none, last, all'],
  ['a limit without all', { catchUpLimit: 5 }, "catchUpLimit is 5; it must be omitted, unless catchUp is 'all'"],
  ['a limit of nothing', { catchUp: 'all', catchUpLimit: 0 }, 'it must be a whole number from 1 to 1000'],
  ['a jitter of two days', { jitter: '2d' }, 'jitter is "2d"; it must be at most a day'],
  ['an id of nothing', { scheduleId: '' }, 'scheduleId is empty'],
  ['an id that is too long', { scheduleId: 'x'.repeat(201) }, 'scheduleId is at least 201 bytes long'],
  ['an end that is no time', { until: 'tomorrow' }, 'until is "tomorrow"'],
  ['a key', { idempotencyKey: 'k' }, 'schedules.put has an unknown field "idempotencyKey"'],
  ['a policy that is none', { policy: { retries: 3 } }, 'policy has an unknown field "retries"'],
]

test.each(bad)('%s is refused, and nothing is written', async (_, fields, message) => {
  const { engine, sql } = await setup()
  // Its queue is interned before it is known whether the schedule is valid.
  await engine.schedules.put({ ...hourly, scheduleId: 'other' })
  const before = await contents(sql)
  const request = { ...hourly, ...fields } as PutScheduleRequest
  await expect(engine.schedules.put(request)).rejects.toThrow(message)
  expect(await contents(sql)).toEqual(before)
})

test('an end before its first time is refused', async () => {
  const { engine, clock } = await setup()
  const error = await refusal('invalid_input', engine.schedules.put({ ...hourly, until: (await clock.now()) + 1000 }))
  expect(error.message).toMatch(
    /^an interval of 3600000 ms never fires before .*; correct it, or do not create schedule/,
  )
})
