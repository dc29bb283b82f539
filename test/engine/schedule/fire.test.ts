import { expect, test } from 'vitest'
import { delayedPromoter } from '../../../src/engine/duties/delayed-promoter.ts'
import { retention } from '../../../src/engine/duties/retention.ts'
import { scheduleFire } from '../../../src/engine/duties/schedule-fire.ts'
import { parseExecutionId } from '../../../src/model/id.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { take } from '../execution/holder.ts'
import { executionsOf, finishAll, fire, hourly, report, scheduleEvents } from './scheduled.ts'
import * as stored from '../../support/stored.ts'

const hour = 3_600_000

test('exactly at its time a schedule fires: it creates the requested execution, under the key of that time', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const start = await clock.now()
  const payload = new Uint8Array([1, 2, 3])
  await engine.as({ namespace: 'n' }).schedules.put({
    ...hourly,
    lane: 'slow',
    version: '3',
    payload,
    payloadEncoding: 'raw',
    priority: 7,
    deadline: '10m',
    requiredCapabilities: ['gpu'],
    tags: { team: 'blue' },
    policy: { maxReclaimCount: 4 },
  })
  await clock.advance(hour - 1)
  expect(await withoutWriting(sql, () => scheduleFire.runOnce(sql))).toMatchObject({ processed: 0 })
  await clock.advance(1)
  const run = await scheduleFire.runOnce(sql)
  expect(run).toMatchObject({ processed: 1, errors: 0 })
  expect(run.effects.readyQueueIds).toHaveLength(1)
  const [executionId] = await executionsOf(engine)
  expect(await engine.executions.describe(executionId!)).toMatchObject({
    namespace: 'n',
    lane: 'slow',
    kind: 'report',
    version: '3',
    publicState: 'waiting',
    priority: 7,
    creator: 'schedule report',
    requiredCapabilities: ['gpu'],
    tags: { team: 'blue' },
    policy: { maxReclaimCount: 4 },
    idempotencyKey: new Date(start + hour).toISOString(),
    createdAt: start + hour,
    deadlineAt: start + hour + 600_000,
  })
  const claim = await take(engine, { lanes: ['slow'], versions: ['3'], capabilities: ['gpu'] })
  expect(claim).toMatchObject({ executionId, payload, payloadEncoding: 'raw', tags: { team: 'blue' } })
  const { schedule_id } = await stored.schedules.one(sql)
  expect(await stored.executions.one(sql)).toMatchObject({ schedule_id })
  const { uuid } = parseExecutionId(executionId!)
  expect((await scheduleEvents(sql))[1]).toEqual({
    event_type: 'schedule_fired',
    execution_id: uuid,
    namespace: 'n',
    actor: 'schedule-fire',
    reason: null,
    details: { scheduleId: 'report', plannedAt: start + hour },
  })
  expect(await engine.schedules.describe({ ...report, namespace: 'n' })).toMatchObject({
    nextFireAt: start + 2 * hour,
    lastFiredAt: start + hour,
    lastPlannedAt: start + hour,
    lastExecutionId: executionId,
    firedCount: 1,
  })
})

test('a repeated run of the duty fires nothing again', async () => {
  const { engine, sql, clock } = await setup()
  await engine.schedules.put(hourly)
  await clock.advance('1h')
  await fire(sql, { processed: 1 })
  expect(await withoutWriting(sql, () => scheduleFire.runOnce(sql))).toMatchObject({ processed: 0 })
  expect(await executionsOf(engine)).toHaveLength(1)
})

test.each([
  ['forward', '2026-03-08T05:59:00Z', ['2026-03-08T07:00:00.000Z', '2026-03-09T06:30:00.000Z']],
  ['back', '2026-11-01T05:29:00Z', ['2026-11-01T05:30:00.000Z', '2026-11-02T06:30:00.000Z']],
])('where the clocks go %s a daily time fires once a day', async (_, start, times) => {
  const { engine, sql, clock } = await setup()
  await clock.freezeAt(start)
  const cron = start.startsWith('2026-03') ? '30 2 * * *' : '30 1 * * *'
  await engine.schedules.put({
    scheduleId: 'report',
    kind: 'report',
    cron,
    timeZone: 'America/New_York',
    overlap: 'allow',
  })
  // Past both times, in steps of a quarter of an hour.
  for (let quarter = 0; quarter < 110; quarter++) {
    await clock.advance('15m')
    await fire(sql)
  }
  const fired = (await scheduleEvents(sql)).filter((event) => event['event_type'] === 'schedule_fired')
  expect(fired.map((event) => new Date((event['details'] as { plannedAt: number }).plannedAt).toISOString())).toEqual(
    times,
  )
})

test.each([
  ['none', 0],
  ['last', 1],
  ['all', 5],
] as const)('a fleet that was down for five hours catches up: %s', async (catchUp, count) => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const start = await clock.now()
  await engine.schedules.put({ ...hourly, catchUp, overlap: 'allow' })
  await clock.advance(5 * hour + 120_000)
  await fire(sql, { processed: 1 })
  expect(await executionsOf(engine)).toHaveLength(count)
  expect(await engine.schedules.describe(report)).toMatchObject({ nextFireAt: start + 6 * hour, firedCount: count })
})

test('the policy all is bounded, and takes the newest times', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const start = await clock.now()
  await engine.schedules.put({ ...hourly, catchUp: 'all', catchUpLimit: 3, overlap: 'allow' })
  await clock.advance('30d')
  await fire(sql)
  const { executions } = await engine.executions.list()
  expect(executions.map((execution) => execution.idempotencyKey).toSorted()).toEqual(
    [718, 719, 720].map((count) => new Date(start + count * hour).toISOString()),
  )
})

test('a fired execution is kept as long as its key holds, and then deleted with it', async () => {
  const { engine, sql, clock } = await setup()
  await engine.schedules.put({ ...hourly, tags: { team: 'blue' } })
  await clock.advance('1h')
  await fire(sql)
  await finishAll(engine)
  await clock.advance('23h')
  expect(await retention(0).runOnce(sql)).toMatchObject({ processed: 0, errors: 0 })
  await clock.advance('2h')
  expect(await retention(0).runOnce(sql)).toMatchObject({ processed: 1, errors: 0 })
  expect(await stored.idempotencyKeys.all(sql)).toEqual([])
})

test('jitter: an execution waits for its share, and is then promoted', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  await engine.schedules.put({ ...hourly, jitter: '10m', overlap: 'allow' })
  const delays: number[] = []
  for (let turn = 0; turn < 8; turn++) {
    await clock.advance('1h')
    await fire(sql)
    const [newest] = (await engine.executions.list()).executions
    delays.push((newest!.delayUntil ?? newest!.createdAt) - newest!.createdAt)
  }
  expect(Math.max(...delays)).toBeLessThanOrEqual(600_000)
  expect(new Set(delays).size).toBeGreaterThan(4)
  await clock.advance('10m')
  await delayedPromoter.runOnce(sql)
  const states = (await engine.executions.list()).executions.map((execution) => execution.publicState)
  expect(new Set(states)).toEqual(new Set(['waiting']))
})

test('after its end a schedule fires no more', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  await engine.schedules.put({ ...hourly, until: (await clock.now()) + 2 * hour, catchUp: 'all', overlap: 'allow' })
  await clock.advance('1d')
  await fire(sql, { processed: 1 })
  expect(await executionsOf(engine)).toHaveLength(2)
  expect(await engine.schedules.describe(report)).toMatchObject({ state: 'ended' })
  expect(await stored.schedules.all(sql, { next_fire_at_ms: stored.present })).toEqual([])
})

test('a run of the duty is limited to a namespace and a tag, and to a number of schedules', async () => {
  const { engine, sql, clock } = await setup()
  for (const [namespace, team] of [
    ['a', 'x'],
    ['a', 'y'],
    ['b', 'y'],
  ] as const) {
    await engine.schedules.put({ ...hourly, scheduleId: team, namespace, tags: { team } })
  }
  await clock.advance('1h')
  expect(await scheduleFire.runOnce(sql, { filter: { namespace: 'b' } })).toMatchObject({ processed: 1 })
  const tag = { key: 'team', value: 'y' }
  expect(await scheduleFire.runOnce(sql, { filter: { tag } })).toMatchObject({ processed: 1 })
  expect(await scheduleFire.runOnce(sql, { batch: 1 })).toMatchObject({ processed: 1, isFull: true })
})

test('one bad schedule is quarantined with a sentence and does not stop the others', async () => {
  const { engine, sql, clock } = await setup()
  for (const scheduleId of ['good', 'bad', 'fine']) {
    await engine.schedules.put({ scheduleId, kind: 'report', cron: '@hourly' })
  }
  await stored.schedules.change(sql, { cron: 'gibberish' }, { schedule_name: 'bad' })
  await clock.advance('2h')
  const lines: string[] = []
  const hear = (line: string): void => void lines.push(line)
  const logger = { debug: hear, info: hear, warn: hear, error: hear }
  expect(await scheduleFire.runOnce(sql, { logger })).toMatchObject({ processed: 2, errors: 1 })
  expect(lines).toEqual([
    expect.stringMatching(
      /^duty schedule-fire cannot process schedule 'bad' of namespace 'default': its next times cannot be computed: .*retried in 10000 ms \(failure 1\)$/,
    ),
  ])
  expect(await scheduleFire.runOnce(sql, { logger })).toMatchObject({ processed: 0, errors: 0 })
  await engine.schedules.put({ scheduleId: 'bad', kind: 'report', cron: '@daily' })
  await clock.advance('2d')
  expect(await scheduleFire.runOnce(sql, { logger })).toMatchObject({ processed: 3, errors: 0 })
  expect(await stored.quarantine.all(sql)).toEqual([])
})

test('a thousand times of a schedule fire in sets that stay small', async () => {
  const { engine, sql, clock } = await setup()
  const request = { ...hourly, catchUp: 'all', catchUpLimit: 900, overlap: 'allow' } as const
  for (const scheduleId of ['a', 'b', 'c', 'd']) await engine.schedules.put({ ...request, scheduleId })
  await clock.advance('60d')
  await fire(sql, { processed: 3 })
  await fire(sql, { processed: 1 })
  expect(await stored.executions.count(sql)).toBe(3600)
})
