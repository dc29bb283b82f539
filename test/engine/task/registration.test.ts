import { expect, test } from 'vitest'
import type { Engine } from '../../../src/engine/contract.ts'
import type { CreateRequest } from '../../../src/engine/execution/create-request.ts'
import type { RegisteredTask } from '../../../src/engine/task/register.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import * as stored from '../../support/stored.ts'

const mailer = { workerId: 'mailer', workerInstanceId: 'mailer-1', lanes: ['mail'] }
const mail = { kind: 'mail', lane: 'mail', policy: { retry: { attempts: 4 } } } satisfies RegisteredTask

async function attemptsOf(engine: Engine, request: CreateRequest): Promise<number> {
  const answer = await engine.executions.create(request)
  return answer.kind === 'created' ? answer.applied!.attempts : NaN
}

test('a create of a registered kind has the policy, lane, deadline and tags of its task, and reports that', async () => {
  const { engine } = await setup()
  const policy = { retry: { attempts: 4 }, attemptTimeoutMs: '1m', maxSignalCount: 7 } as const
  await engine.workers.register({ ...mailer, tasks: [{ ...mail, policy, deadline: '1h', tags: { team: 'post' } }] })
  const answer = await engine.executions.create({ kind: 'mail', tags: { order: '7' } })
  expect(answer).toMatchObject({
    applied: { attempts: 4, attemptsFrom: 'registered', lane: 'mail', laneFrom: 'registered', isRegistered: true },
  })
  const found = await engine.executions.describe(answer.executionId)
  expect(found).toMatchObject({
    lane: 'mail',
    tags: { order: '7', team: 'post' },
    policy: { retry: { attempts: 4 }, attemptTimeoutMs: 60_000, maxSignalCount: 7 },
  })
  expect(found!.deadlineAt! - found!.createdAt).toBe(3_600_000)
})

test("the request wins over the registered task, and that over the submitter's task: field by field", async () => {
  const { engine } = await setup()
  const registered = { ...mail, deadline: '2h', tags: { a: 'registered', b: 'registered' } } as const
  await engine.workers.register({ ...mailer, tasks: [registered] })
  const answer = await engine.executions.create({
    kind: 'mail',
    policy: { maxReplayCount: 3 },
    deadlineAt: 4_000_000_000_000,
    tags: { a: 'request' },
    taskDefaults: {
      lane: 'imported',
      policy: { retry: { attempts: 9 }, attemptTimeoutMs: '5s' },
      deadline: '3h',
      tags: { a: 'task', b: 'task', c: 'task' },
    },
  })
  expect(await engine.executions.describe(answer.executionId)).toMatchObject({
    lane: 'mail',
    deadlineAt: 4_000_000_000_000,
    tags: { a: 'request', b: 'registered', c: 'task' },
    policy: { retry: { attempts: 4 }, attemptTimeoutMs: 5000, maxReplayCount: 3 },
  })
  const own = await engine.executions.create({ kind: 'mail', lane: 'fast', policy: { retry: { attempts: 2 } } })
  expect(own).toMatchObject({ applied: { attempts: 2, attemptsFrom: 'request', lane: 'fast', laneFrom: 'request' } })
  const unregistered = { kind: 'other', taskDefaults: { lane: 'imported', policy: { retry: { attempts: 9 } } } }
  expect(await engine.executions.create(unregistered)).toMatchObject({
    applied: {
      attempts: 9,
      attemptsFrom: 'task_defaults',
      lane: 'imported',
      laneFrom: 'task_defaults',
      isRegistered: false,
    },
  })
  expect(await engine.executions.create({ kind: 'other' })).toMatchObject({
    applied: { attempts: 1, attemptsFrom: 'default', lane: 'default', laneFrom: 'default', isRegistered: false },
  })
})

test('a submit that names only attempts keeps the back-off and categories of the task', async () => {
  const { engine } = await setup()
  const backoff = { type: 'fixed', delayMs: 7000, jitter: 0 } as const
  const retry = { attempts: 4, backoff, categories: ['transient'] } as const
  await engine.workers.register({ ...mailer, tasks: [{ ...mail, policy: { retry } }] })
  const retryOf = async (request: CreateRequest) => {
    const { executionId } = await engine.executions.create(request)
    return (await engine.executions.describe(executionId))!.policy!.retry
  }
  const two = { policy: { retry: { attempts: 2 } } }
  expect(await retryOf({ kind: 'mail', ...two })).toEqual({ ...retry, attempts: 2 })
  expect(await retryOf({ kind: 'other', ...two, taskDefaults: { policy: { retry } } })).toEqual({
    ...retry,
    attempts: 2,
  })
  expect(await retryOf({ kind: 'other', ...two })).toMatchObject({ attempts: 2, backoff: { type: 'exponential' } })
})

test('the newest registration wins, applies at once in its process, and stays when the worker stops', async () => {
  const { engine, clock } = await setup()
  expect(await attemptsOf(engine, { kind: 'mail' })).toBe(1)
  await engine.workers.register({ ...mailer, tasks: [mail] })
  expect(await attemptsOf(engine, { kind: 'mail' })).toBe(4)
  const newer = { ...mail, policy: { retry: { attempts: 6 } } }
  await engine.workers.register({ ...mailer, workerInstanceId: 'mailer-2', tasks: [newer] })
  expect(await attemptsOf(engine, { kind: 'mail' })).toBe(6)
  await engine.workers.register(mailer)
  await engine.workers.markDead({ workerInstanceId: 'mailer-2', reason: 'it has stopped' })
  await clock.advance('1d')
  expect(await attemptsOf(engine, { kind: 'mail' })).toBe(6)
})

test('the same task again writes no row, and tasks with the same policy share one', async () => {
  const { engine, sql } = await setup()
  const tasks = [mail, { ...mail, kind: 'parcel' }, { ...mail, kind: 'letter', policy: { retry: { attempts: 2 } } }]
  await engine.workers.register({ ...mailer, tasks })
  const read = async () => [
    await stored.tasks.pick(sql, ['execution_kind', 'policy_id']),
    await stored.tasks.versions(sql),
  ]
  const before = await stored.tasks.pick(sql, ['policy_id'])
  const rowsBefore = await read()
  expect(before).toHaveLength(3)
  expect(new Set(before.map((row) => row.policy_id)).size).toBe(2)
  await engine.workers.register({ ...mailer, workerInstanceId: 'mailer-2', tasks: tasks.toReversed() })
  expect(await read()).toEqual(rowsBefore)
})

test('a version has a task of its own; without a version it is the task that has none, otherwise the newest', async () => {
  const { engine, clock } = await setup()
  const of = (version: string | undefined, attempts: number): RegisteredTask => {
    return { kind: 'mail', policy: { retry: { attempts } }, ...(version !== undefined && { version }) }
  }
  await engine.workers.register({ ...mailer, tasks: [of('2', 3)] })
  await clock.advance('1s')
  await engine.workers.register({ ...mailer, tasks: [of('1', 2)] })
  expect(await attemptsOf(engine, { kind: 'mail' })).toBe(2)
  expect(await attemptsOf(engine, { kind: 'mail', version: '2' })).toBe(3)
  expect(await attemptsOf(engine, { kind: 'mail', version: '3' })).toBe(1)
  await engine.workers.register({ ...mailer, tasks: [of(undefined, 7)] })
  expect(await attemptsOf(engine, { kind: 'mail' })).toBe(7)
})

test('a task of a namespace wins over one of all, and no other namespace uses it', async () => {
  const { engine } = await setup()
  const [a, b] = [engine.as({ namespace: 'a', actor: 'a' }), engine.as({ namespace: 'b', actor: 'b' })]
  await a.workers.register({ ...mailer, tasks: [mail] })
  expect(await attemptsOf(a, { kind: 'mail' })).toBe(4)
  expect(await attemptsOf(b, { kind: 'mail' })).toBe(1)
  await engine.workers.register({ ...mailer, tasks: [{ ...mail, policy: { retry: { attempts: 2 } } }] })
  expect(await attemptsOf(a, { kind: 'mail' })).toBe(4)
  expect(await attemptsOf(b, { kind: 'mail' })).toBe(2)
  await refusal('namespace_mismatch', a.workers.register({ ...mailer, namespace: 'b', tasks: [mail] }))
  await b.workers.register({ ...mailer, tasks: [{ kind: 'mail', policy: { retry: { attempts: 9 } } }] })
  expect(await attemptsOf(a, { kind: 'mail' })).toBe(4)
})

test('a repeat under the same key is a duplicate, also after another registration and by other code', async () => {
  const { engine } = await setup()
  const request = { kind: 'mail', idempotencyKey: 'key', taskDefaults: { policy: { retry: { attempts: 2 } } } }
  const first = await engine.executions.create(request)
  await engine.workers.register({ ...mailer, tasks: [mail] })
  const again = await engine.executions.create({ ...request, taskDefaults: { policy: { retry: { attempts: 3 } } } })
  expect(again).toMatchObject({ kind: 'duplicate', executionId: first.executionId })
})

test('a bad task is refused, and the refused worker registers none', async () => {
  const { engine, sql } = await setup()
  await engine.workers.register(mailer)
  const bad = async (tasks: unknown): Promise<string> => {
    const request = { ...mailer, tasks: tasks as RegisteredTask[] }
    return withoutWriting(sql, () =>
      engine.workers.register(request).then(
        () => 'accepted',
        (error: Error) => error.message,
      ),
    )
  }
  expect(await bad([{ ...mail, retries: 3 }])).toContain('unknown field "retries"')
  expect(await bad([{ ...mail, policy: { retry: { attempts: 0 } } }])).toContain('attempts')
  expect(await bad([mail, mail])).toContain('listed once')
  expect(await bad('mail')).toContain('an array of tasks')
  expect(await bad([{ ...mail, tags: { 'Not a key': 'x' } }])).toContain('tag key')
  await refusal('invalid_input', engine.workers.register({ ...mailer, workerId: 'another', tasks: [mail] }))
  expect(await stored.tasks.all(sql)).toEqual([])
})

test('tags that exceed the limit together with those of the task are refused at their position', async () => {
  const { engine } = await setup()
  const tags = Object.fromEntries(Array.from({ length: 10 }, (_, index) => [`task${index}`, 'x']))
  await engine.workers.register({ ...mailer, tasks: [{ ...mail, tags }] })
  const own = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`own${index}`, 'x']))
  const [refused, created] = await engine.executions.createMany([{ kind: 'mail', tags: own }, { kind: 'mail' }])
  expect(refused).toMatchObject({ kind: 'refused', error: { code: 'invalid_tag' } })
  expect(created).toMatchObject({ kind: 'created' })
})
