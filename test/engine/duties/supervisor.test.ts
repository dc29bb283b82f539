// The supervisor runs on the process's timers; tests wait for its effects, with short intervals.
import { expect, inject, onTestFinished, test } from 'vitest'
import { allDuties } from '../../../src/engine/duties/all.ts'
import type { Duty, Run } from '../../../src/engine/kernel/duty.ts'
import type { Publish } from '../../../src/engine/kernel/effects.ts'
import { EngineError } from '../../../src/model/errors.ts'
import { Supervisor, type SuperviseOptions, type SupervisorDeps } from '../../../src/engine/duties/supervisor.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { factory } from '../../support/factory.ts'
import { rows } from '../../support/raw.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import * as stored from '../../support/stored.ts'
import { nowMs } from '../../support/changes.ts'

const everyDuty = allDuties(inject('backend')).map((duty) => duty.name)
const short = Object.fromEntries(everyDuty.map((name) => [name, 20]))
const nothing: Run = { processed: 0, errors: 0, isFull: false, effects: {} }
const until = { interval: 5 }

function supervise(
  sql: Sql,
  options: SuperviseOptions = { intervals: short },
  surroundings: SupervisorDeps = {},
): Supervisor {
  const supervisor = new Supervisor(sql, options, surroundings)
  onTestFinished(() => supervisor.stop())
  supervisor.start()
  return supervisor
}

function dutyOf(name: string, intervalMs: number, run: () => Promise<Run>): Duty {
  return { name, intervalMs, runOnce: run }
}

test('DELAY-08 the promoter runs on its own', async () => {
  const { engine, sql } = await setup()
  const { executionId } = await engine.executions.create({ kind: 'k', delay: 50 })
  const supervisor = supervise(sql, { intervals: { 'delayed-promoter': 100 } })
  await expect.poll(async () => (await engine.executions.describe(executionId))?.publicState, until).toBe('waiting')
  await expect.poll(() => supervisor.reports.get('delayed-promoter')?.finishedAt, until).toBeGreaterThan(0)
  await supervisor.stop()
})

test('each duty runs, and its last report is kept here and in its row', async () => {
  const { engine, sql, clock } = await setup()
  const given = factory(sql)
  const ids = [
    await given.delayed({ until: 1 }),
    await given.active({ expiresAt: 1 }),
    await given.suspended({ deadlineAt: 1 }),
  ]
  await clock.freeze()
  const supervisor = supervise(sql, { intervals: short })
  const states = () => Promise.all(ids.map(async (id) => (await engine.executions.describe(id))?.publicState))
  await expect.poll(states, until).toEqual(['waiting', 'waiting', 'expired'])
  await expect.poll(() => [...supervisor.reports.keys()].toSorted(), until).toEqual(everyDuty.toSorted())
  await supervisor.stop()
  expect(supervisor.reports.get('cancel-deadline')).toEqual({
    processed: 0,
    errors: 0,
    finishedAt: await clock.now(),
  })
  const duties = await stored.duties.pick(sql, ['taken_until_ms', 'taken_by', 'last_report'])
  // One row more names the process that polls.
  expect(duties).toHaveLength(everyDuty.length + 1)
  expect(duties).toContainEqual({
    taken_until_ms: null,
    taken_by: null,
    last_report: { processed: 1, errors: 0, finishedAt: await clock.now() },
  })
})

test('one turn runs sets until no row is left, and publishes their queues', async () => {
  const { engine, sql, clock } = await setup()
  await engine.executions.createMany(Array.from({ length: 250 }, () => ({ kind: 'k', delay: '1h' as const })))
  await clock.advance('2h')
  const received: number[] = []
  const publish: Publish = ({ readyQueueIds = [] }) => received.push(...readyQueueIds)
  const supervisor = supervise(sql, {}, { publish })
  await expect.poll(() => supervisor.reports.get('delayed-promoter')?.processed, until).toBe(250)
  await supervisor.stop()
  const [queue] = await stored.queues.pick(sql, ['queue_id'])
  expect(new Set(received)).toEqual(new Set([queue!['queue_id']]))
})

test('a duty that lacks a right is logged once, until it has succeeded', async () => {
  const { sql } = await setup()
  let calls = 0
  const lacking = dutyOf('lacking', 10, () => {
    calls++
    if (calls === 4) return Promise.resolve(nothing)
    return Promise.reject(new EngineError('database_right_missing', 'may not'))
  })
  const lines: string[] = []
  const logger = { ...console, debug: () => {}, error: (line: string) => void lines.push(`${calls}: ${line}`) }
  const supervisor = supervise(sql, { logger }, { duties: [lacking] })
  await expect.poll(() => calls, until).toBeGreaterThan(6)
  await supervisor.stop()
  expect(lines).toEqual(['1: background duty lacking failed: may not', '5: background duty lacking failed: may not'])
})

test('FAULT-01 a failing duty is logged, runs again, and does not stop the others', async () => {
  const { sql } = await setup()
  const calls = { failing: 0, going: 0 }
  const duties = [
    dutyOf('failing', 10, () => {
      calls.failing++
      return Promise.reject(new Error('broke'))
    }),
    dutyOf('going', 10, () => {
      calls.going++
      return Promise.resolve(nothing)
    }),
  ]
  const lines: string[] = []
  const logger = { ...console, error: (line: string) => void lines.push(line) }
  const supervisor = supervise(sql, { logger }, { duties })
  await expect.poll(() => Math.min(calls.failing, calls.going), until).toBeGreaterThan(2)
  // Before the stop: a turn that is stopped at its beginning has nothing to report.
  const failing = expect.objectContaining({ errors: 1, failure: 'broke' })
  await expect.poll(() => supervisor.reports.get('failing'), until).toEqual(failing)
  await supervisor.stop()
  expect(lines).toContain('background duty failing failed: broke')
  expect(supervisor.reports.get('going')).toMatchObject({ processed: 0, errors: 0 })
})

test('it continues after the database could not be reached, and an outage is two lines for all duties', async () => {
  const { sql } = await setup()
  let isDown = true
  const shaky: Sql = Object.assign(Object.create(sql) as Sql, {
    query: (...args: Parameters<Sql['query']>) => (isDown ? Promise.reject(new Error('no route')) : sql.query(...args)),
  })
  const lines: string[] = []
  const hear = (line: string): void => void lines.push(line)
  const logger = { debug: () => {}, info: hear, warn: hear, error: hear }
  const names = ['one', 'two', 'three']
  const duties = names.map((name) => dutyOf(name, 10, () => Promise.resolve(nothing)))
  const supervisor = supervise(shaky, { logger }, { duties })
  let refusedCount = 0
  await expect.poll(() => refusedCount++, until).toBeGreaterThan(5)
  isDown = false
  await expect.poll(() => supervisor.reports.size, until).toBe(3)
  expect(lines).toEqual([
    'background duties cannot run and are retried: no route',
    expect.stringMatching(/^background duties run again after \d+\.\d s$/),
  ])
})

test('a duty runs once an interval, however many supervisors there are', async () => {
  const { sql } = await setup()
  let calls = 0
  const duties = [
    dutyOf('rare', 3_600_000, () => {
      calls++
      return Promise.resolve(nothing)
    }),
  ]
  const first = supervise(sql, {}, { duties })
  await expect.poll(() => first.reports.has('rare'), until).toBe(true)
  let answers = 0
  const watched: Sql = Object.assign(Object.create(sql) as Sql, {
    query: (...args: Parameters<Sql['query']>) => sql.query(...args).finally(() => answers++),
  })
  const second = supervise(watched, {}, { duties })
  // Registered and checked.
  await expect.poll(() => answers, until).toBeGreaterThanOrEqual(2)
  await second.stop()
  expect(calls).toBe(1)
  expect(second.reports.size).toBe(0)
})

test('the duty of a crashed process is free again when its term is over', async () => {
  const { sql, clock } = await setup()
  await clock.freeze()
  await stored.duties.add(sql, { duty: 'd', taken_until_ms: (await clock.now()) + 1000, taken_by: 'a dead one' })
  let answers = 0
  const watched: Sql = Object.assign(Object.create(sql) as Sql, {
    query: (...args: Parameters<Sql['query']>) => sql.query(...args).finally(() => answers++),
  })
  const supervisor = supervise(watched, {}, { duties: [dutyOf('d', 10, () => Promise.resolve(nothing))] })
  await expect.poll(() => answers, until).toBeGreaterThan(4)
  expect(supervisor.reports.size).toBe(0)
  await clock.advance('1s')
  await expect.poll(() => supervisor.reports.has('d'), until).toBe(true)
})

test('a duty that could not be given back is taken again by the same process, before its term is over', async () => {
  const { sql } = await setup()
  let losses = 0
  let runs = 0
  const shaky: Sql = Object.assign(Object.create(sql) as Sql, {
    query: (...args: Parameters<Sql['query']>) => {
      if (args[0].name !== 'duty.give-back' || losses === 3) return sql.query(...args)
      losses++
      return Promise.reject(new Error('no route'))
    },
  })
  const duty = dutyOf('d', 10, () => {
    runs++
    return Promise.resolve(nothing)
  })
  const supervisor = supervise(shaky, {}, { duties: [duty] })
  await expect.poll(() => supervisor.reports.has('d'), until).toBe(true)
  expect(losses).toBe(3)
  expect(runs).toBeGreaterThanOrEqual(4)
  await supervisor.stop()
})

test('TAG-06 two instances share a database by tag', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const one = await given.active({ expiresAt: 1, tags: { instance: 'one' } })
  const two = await given.active({ expiresAt: 1, tags: { instance: 'two' } })
  const none = await given.active({ expiresAt: 1 })
  const supervisorOf = (value: string) =>
    supervise(sql, { intervals: short, filter: { tag: { key: 'instance', value } } })
  const state = async (id: typeof one) => (await engine.executions.describe(id))?.publicState
  const first = supervisorOf('one')
  await expect.poll(() => state(one), until).toBe('waiting')
  await first.stop()
  expect(await state(two)).toBe('active')
  const second = supervisorOf('two')
  await expect.poll(() => state(two), until).toBe('waiting')
  await second.stop()
  expect(await state(none)).toBe('active')
  const filters = (await stored.duties.all(sql)).map((row) => row.filter)
  // Work for the whole database is done once for all.
  expect([...new Set(filters)].toSorted()).toEqual(['', '[null,"instance","one"]', '[null,"instance","two"]'])
})

test('it stops before it started, twice, and starts again', async () => {
  const { sql } = await setup()
  let calls = 0
  const duties = [
    dutyOf('d', 10, () => {
      calls++
      return Promise.resolve(nothing)
    }),
  ]
  const supervisor = new Supervisor(sql, {}, { duties })
  await supervisor.stop()
  supervisor.start()
  supervisor.start()
  await expect.poll(() => calls, until).toBeGreaterThan(0)
  await Promise.all([supervisor.stop(), supervisor.stop()])
  await supervisor.stop()
  const before = calls
  supervisor.start()
  await expect.poll(() => calls, until).toBeGreaterThan(before)
  await supervisor.stop()
})

test('it starts while it stops, and then runs', async () => {
  const { sql } = await setup()
  let turns = 0
  const duty = dutyOf('count', 20, async () => {
    turns += 1
    return nothing
  })
  const supervisor = supervise(sql, {}, { duties: [duty] })
  await expect.poll(() => turns, until).toBeGreaterThan(0)
  const stopped = supervisor.stop()
  supervisor.start()
  await stopped
  const before = turns
  await expect.poll(() => turns, until).toBeGreaterThan(before)
  await supervisor.stop()
  const after = turns
  await Promise.all([supervisor.stop(), supervisor.stop()])
  expect(turns).toBe(after)
})

test('a stop waits for the set under way, and gives the duty back', async () => {
  const { sql } = await setup()
  let finish: ((run: Run) => void) | undefined
  const duties = [
    dutyOf(
      'd',
      10,
      () =>
        new Promise<Run>((resolve) => {
          finish = resolve
        }),
    ),
  ]
  const supervisor = supervise(sql, {}, { duties })
  await expect.poll(() => finish, until).toBeDefined()
  const stopped = supervisor.stop()
  finish!({ ...nothing, processed: 1, isFull: true })
  await stopped
  expect(await rows(sql, stored.duties.selecting(`duty, taken_by, next_at_ms <= ${nowMs} as is_due`))).toEqual([
    { duty: 'd', taken_by: null, is_due: true },
    { duty: 'supervisor', taken_by: null, is_due: true },
  ])
})

test.each([
  ['an interval of a duty that does not exist', { intervals: { 'lease-expiri': 10 } }],
  ['an interval of nothing', { intervals: { 'lease-expiry': 0 } }],
  ['an interval that is no duration', { intervals: { 'lease-expiry': 'often' } }],
  ['an option that does not exist', { interval: 10 }],
])('%s is refused', async (_, options) => {
  const { sql } = await setup()
  await refusal('invalid_input', (async () => new Supervisor(sql, options as never))())
})
