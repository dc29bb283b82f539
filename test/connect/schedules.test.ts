import { beforeAll, expect, test } from 'vitest'
import { connect } from '../../src/connect/connect.ts'
import type { FlowFabric } from '../../src/connect/flowfabric.ts'
import type { ScheduleOptions } from '../../src/connect/schedules.ts'
import { task } from '../../src/worker/task.ts'

let ff: FlowFabric

beforeAll(async () => {
  ff = await connect('memory:')
  return () => ff.close()
})

test('a task is put with its input, described with it, and operated by its id', async () => {
  const { schedules } = ff
  const input = { to: 'ada', pages: [1, 2] }
  const until = new Date('2999-01-01T00:00:00Z')
  const report = task('report', { version: '2', lane: 'reports' }, (_ctx, { to }: { to: string }) => to)
  const options = { task: report, input, cron: '30 2 * * *', timeZone: 'Europe/Berlin', until } as const
  expect(await schedules.put('nightly', options)).toMatchObject({ kind: 'created', scheduleId: 'nightly' })
  expect(await schedules.describe('nightly')).toMatchObject({
    kind: 'report',
    version: '2',
    lane: 'reports',
    input,
    cron: '30 2 * * *',
    timeZone: 'Europe/Berlin',
    until: until.getTime(),
  })
  expect(await schedules.pause('nightly')).toMatchObject({ kind: 'paused' })
  expect(await schedules.trigger('nightly')).toMatchObject({ kind: 'fired' })
  expect(await schedules.resume('nightly')).toMatchObject({ kind: 'resumed' })
  expect((await schedules.list()).schedules).toMatchObject([{ scheduleId: 'nightly' }])
  expect(await schedules.delete('nightly')).toMatchObject({ kind: 'deleted' })
  expect(await schedules.describe('nightly')).toBeNull()
})

test('a schedule of another namespace is named with it; without an input it has none', async () => {
  const { schedules } = ff
  await schedules.put('nightly', { kind: 'report', every: '1h', namespace: 'n' })
  expect(await schedules.describe('nightly')).toBeNull()
  expect(await schedules.describe('nightly', { namespace: 'n' })).toMatchObject({ input: undefined })
})

test('any supervisor fires a schedule, and a waiting worker is notified', async () => {
  ff.supervise()
  await ff.schedules.put('tick', { kind: 'tick', lane: 'ticks', every: '1s', input: 1 })
  const worker = { workerId: 'w', workerInstanceId: 'w-1', lanes: ['ticks'] }
  const { claims } = await ff.engine.executions.claim({ ...worker, wait: '1m' })
  expect(claims).toMatchObject([{ kind: 'tick' }])
})

const bad: readonly [string, unknown, string][] = [
  ['neither task nor kind', { every: '1h' }, 'neither task nor kind is given; give one of them'],
  ['both', { task: task('t', () => {}), kind: 't', every: '1h' }, 'task and kind are both given; give one of them'],
  ['a task that is none', { task: {}, every: '1h' }, 'task is an object; it must be a task'],
  ['a task that is a text', { task: 'report', every: '1h' }, 'task is "report"; it must be a task'],
  ['an input that cannot be written', { kind: 'k', every: '1h', input: () => 1 }, 'JSON cannot store'],
  ['an unknown field', { kind: 'k', evry: '1h' }, 'did you mean every?'],
  ['nothing', undefined, "the schedule 'nightly' is undefined; it must be an object"],
]

test.each(bad)('%s is refused', async (_, options, message) => {
  const { schedules } = ff
  await expect(schedules.put('nightly', options as ScheduleOptions)).rejects.toThrow(message)
})
