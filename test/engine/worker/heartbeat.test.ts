import { expect, test } from 'vitest'
import { workerExpiry } from '../../../src/engine/duties/worker-expiry.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { one, workerEvents } from './registry.ts'

const instance = { workerInstanceId: one.workerInstanceId }

test('WREG-03 a heartbeat before the expiry moves it by the registered ttl, and writes no event', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  await engine.workers.register({ ...one, ttl: '10s' })
  await clock.advance(9999)
  expect(await engine.workers.heartbeat(instance)).toEqual({
    kind: 'refreshed',
    workerInstanceId: 'mailer-1',
    expiresAt: (await clock.now()) + 10_000,
  })
  expect((await engine.workers.list()).workers).toMatchObject([{ heartbeatAt: await clock.now() }])
  expect(await workerEvents(sql)).toHaveLength(1)
})

test('WREG-04 a heartbeat in exactly the millisecond of the expiry is late, and revives no worker', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  await engine.workers.register({ ...one, ttl: '10s' })
  await clock.advance('10s')
  const late = await withoutWriting(sql, () => engine.workers.heartbeat(instance))
  expect(late).toEqual({ kind: 'not_registered', workerInstanceId: 'mailer-1' })
  expect((await engine.workers.list()).workers).toEqual([])
})

test('WREG-04 a worker that was never registered, was declared dead or is of another namespace is not registered', async () => {
  const { engine } = await setup()
  const { workers } = engine
  expect(await workers.heartbeat({ workerInstanceId: 'nobody' })).toMatchObject({ kind: 'not_registered' })
  await workers.register(one)
  expect(await engine.as({ namespace: 'n' }).workers.heartbeat(instance)).toMatchObject({ kind: 'not_registered' })
  await workers.markDead({ ...instance, reason: 'unplugged' })
  expect(await workers.heartbeat(instance)).toMatchObject({ kind: 'not_registered' })
})

test('heartbeats that arrive at once form one set, each with its own answer', async () => {
  const { engine, clock } = await setup()
  await clock.freeze()
  const ids = Array.from({ length: 20 }, (_, index) => `w-${index}`)
  await Promise.all(ids.map((id) => engine.workers.register({ ...one, workerInstanceId: id })))
  const answers = await Promise.all([...ids, 'nobody'].map((id) => engine.workers.heartbeat({ workerInstanceId: id })))
  expect(answers.map((answer) => answer.workerInstanceId)).toEqual([...ids, 'nobody'])
  expect(answers.filter((answer) => answer.kind === 'refreshed')).toHaveLength(20)
  await refusal('invalid_input', engine.workers.heartbeat({ workerInstanceId: '' }))
})

test('WREG-07 the duty removes silent workers with one event each, and keeps the others', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  await engine.workers.register({ ...one, workerInstanceId: 'stale', ttl: '10s' })
  await engine.workers.register({ ...one, workerInstanceId: 'fresh', ttl: '11s' })
  await clock.advance('10s')
  expect(await workerExpiry.runOnce(sql)).toEqual({
    processed: 1,
    errors: 0,
    isFull: false,
    effects: { wroteEvents: true },
  })
  expect(await withoutWriting(sql, () => workerExpiry.runOnce(sql))).toMatchObject({ processed: 0 })
  expect((await engine.workers.list()).workers.map((worker) => worker.workerInstanceId)).toEqual(['fresh'])
  expect((await workerEvents(sql)).slice(2)).toEqual([
    {
      event_type: 'worker_ttl_swept',
      namespace: '',
      actor: 'worker-expiry',
      worker_instance_id: 'stale',
      reason: null,
      details: { workerId: 'mailer' },
    },
  ])
  expect(workerExpiry.intervalMs).toBe(30_000)
})

test('a run of the duty takes a limited number of workers', async () => {
  const { engine, sql, clock } = await setup()
  for (const id of ['a', 'b', 'c']) await engine.workers.register({ ...one, workerInstanceId: id, ttl: 1 })
  await clock.advance('1s')
  expect(await workerExpiry.runOnce(sql, { batch: 2 })).toMatchObject({ processed: 2, isFull: true })
  expect(await workerExpiry.runOnce(sql, { batch: 2 })).toMatchObject({ processed: 1, isFull: false })
})
