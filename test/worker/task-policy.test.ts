// One task, submitted in every way: its executions have the attempts, lane and tags that its worker registered.
import { expect, inject, onTestFinished, test } from 'vitest'
import { submitFlow } from '../../src/connect/flow.ts'
import type { FlowFabric } from '../../src/connect/flowfabric.ts'
import { userSchedules } from '../../src/connect/schedules.ts'
import { submit, submitMany } from '../../src/connect/submit.ts'
import { jsonCodec } from '../../src/model/codec.ts'
import { createApp } from '../../src/server/app.ts'
import { task, type Task } from '../../src/worker/task.ts'
import { Worker } from '../../src/worker/worker.ts'
import { typed } from '../cli/typed.ts'
import { fire } from '../engine/schedule/scheduled.ts'
import { asking } from '../server/app-setup.ts'
import { setup, type Fixture } from '../support/setup.ts'

const retry = { attempts: 4, backoff: { type: 'fixed', delayMs: 0 } } as const
/** As an older program imports it. */
const older = task('mail', { retry: { attempts: 9 }, lane: 'old', tags: { from: 'import' } }, () => 'sent') as Task

type Way = (fixture: Fixture) => Promise<unknown>

function type({ engine }: Fixture, ...argv: string[]) {
  const connect = async () => ({ engine, close: async () => {} }) as unknown as FlowFabric
  return typed(argv, { connect })
}

const applied = { attempts: 4, attemptsFrom: 'registered', lane: 'mail', laneFrom: 'registered', isRegistered: true }

async function post({ engine }: Fixture): Promise<void> {
  const app = createApp(engine, { authenticate: null })
  onTestFinished(() => app.stop())
  expect(await asking(app)('POST', '/v1/executions', { kind: 'mail' })).toMatchObject({ body: { applied } })
}

const ways: Record<string, Way> = {
  'ff.submit': ({ engine }) => submit(engine, jsonCodec, older, undefined),
  'ff.submitMany': ({ engine }) => submitMany(engine, jsonCodec, older, [{ input: 1 }]),
  'executions.create': async ({ engine }) =>
    expect(await engine.executions.create({ kind: 'mail' })).toMatchObject({ applied }),
  'executions.createMany': ({ engine }) => engine.executions.createMany([{ kind: 'mail' }]),
  'a create with a key': ({ engine }) => engine.executions.create({ kind: 'mail', idempotencyKey: 'key' }),
  'a create with an id': ({ engine }) =>
    engine.executions.create({ kind: 'mail', executionId: '{fp:7}:01a1ee54-ec34-724e-be48-68ccef9d3090' }),
  // Over HTTP, executions.create is this request.
  ...(inject('overHttp') ? {} : { 'POST /v1/executions': post }),
  'flowfabric submit': (fixture) => type(fixture, 'submit', 'mail'),
  'flowfabric schedule put': async (fixture) => {
    await type(fixture, 'schedule', 'put', 's', 'mail', '--every', '1h')
    await fixture.clock.advance('1h')
    await fire(fixture.sql, { processed: 1 })
  },
  'a schedule by task, triggered': async ({ engine }) => {
    await userSchedules(engine.schedules, jsonCodec).put('s', { task: older, every: '1h' })
    await engine.schedules.trigger({ scheduleId: 's' })
  },
  'a child by id': async ({ engine }) => {
    const parent = await engine.executions.create({ kind: 'another', lane: 'elsewhere' })
    await engine.executions.create({ kind: 'mail', parentId: parent.executionId })
  },
  'ctx.run': ({ engine }) => engine.executions.create({ kind: 'parent' }),
  'a member of a graph': ({ engine }) =>
    engine.flows.submitGraph({ kind: 'mail', members: [{ name: 'm', kind: 'mail' }] }),
  'a member by task': ({ engine }) => submitFlow(engine, jsonCodec, (f) => void f.add(older), {}),
  'a member added later': async ({ engine }) => {
    const { flowId } = await engine.flows.create({ kind: 'flow' })
    await engine.flows.addMember({ flowId, execution: { kind: 'mail' } })
  },
}

test.each(Object.entries(ways))('%s: 4 attempts in lane mail', async (_, way) => {
  const fixture = await setup()
  const { engine } = fixture
  let runs = 0
  const mail = task('mail', { retry, lane: 'mail', tags: { team: 'post' } }, () => {
    runs += 1
    throw new Error('the post is closed')
  })
  const parent = task('parent', { retry: { attempts: 1 } }, (ctx) => ctx.run(older, undefined))
  const worker = new Worker({ tasks: [mail, parent], handleSignals: false, logger: false }, { engine })
  onTestFinished(() => worker.stop({ grace: 0 }))
  await worker.start()
  await way(fixture)
  const found = async () => (await engine.executions.list({ kind: 'mail' })).executions
  await expect.poll(found).toMatchObject([{ publicState: 'failed' }])
  expect(runs).toBe(4)
  const [execution] = await found()
  expect(await engine.executions.describe(execution!.executionId)).toMatchObject({
    lane: 'mail',
    policy: { retry: { ...retry, attempts: 4 } },
    tags: { team: 'post' },
  })
})

test("options of a submit override the task's, also by the CLI", async () => {
  const fixture = await setup()
  const { engine } = fixture
  const mail = task('mail', { retry, lane: 'mail', tags: { team: 'post', urgent: 'no' } }, () => 'sent')
  const worker = new Worker({ tasks: [mail], handleSignals: false, logger: false }, { engine })
  onTestFinished(() => worker.stop({ grace: 0 }))
  await worker.start()
  const words = ['submit', 'mail', '--attempts', '2', '--lane', 'slow', '--tag', 'urgent=yes', '--deadline', '1h']
  const { out } = await type(fixture, ...words)
  expect(await engine.executions.describe(out.trim())).toMatchObject({
    lane: 'slow',
    policy: { retry: { ...retry, attempts: 2 } },
    tags: { team: 'post', urgent: 'yes' },
    deadlineAt: expect.any(Number),
  })
  const run = await submit(engine, jsonCodec, mail as Task, undefined, { lane: 'slow', policy: { maxReplayCount: 1 } })
  expect(await engine.executions.describe(run.id)).toMatchObject({
    lane: 'slow',
    policy: { retry, maxReplayCount: 1 },
  })
})
