import { expect, test } from 'vitest'
import type { RegisterRequest } from '../../../src/engine/worker/register.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { one, workerEvents } from './registry.ts'

test('WREG-01 a new instance is registered; again it is refreshed, with its current kinds and its first time', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const start = await clock.now()
  const tenant = engine.as({ namespace: 'n', actor: 'ops' })
  const first = await tenant.workers.register({ ...one, capabilities: ['gpu'], ttl: '10s', host: 'h', pid: 7 })
  expect(first).toEqual({
    kind: 'registered',
    workerInstanceId: 'mailer-1',
    registeredAt: start,
    expiresAt: start + 10_000,
  })
  await clock.advance('4s')
  const request = {
    ...one,
    lanes: ['post', 'mail', 'post'],
    kinds: ['send'],
    versions: ['2', '1'],
    ttl: '20s',
  } as const
  const second = await tenant.workers.register(request)
  expect(second).toMatchObject({ kind: 'refreshed', registeredAt: start, expiresAt: start + 24_000 })
  expect(await tenant.workers.list()).toEqual({
    workers: [
      {
        workerId: 'mailer',
        workerInstanceId: 'mailer-1',
        namespace: 'n',
        lanes: ['mail', 'post'],
        kinds: ['send'],
        versions: ['1', '2'],
        capabilities: [],
        host: null,
        pid: null,
        registeredAt: start,
        heartbeatAt: start + 4000,
        expiresAt: start + 24_000,
        ttlMs: 20_000,
      },
    ],
    nextCursor: null,
  })
  const registeredEvent = {
    event_type: 'worker_registered',
    namespace: 'n',
    actor: 'ops',
    worker_instance_id: 'mailer-1',
  }
  expect(await workerEvents(sql)).toMatchObject([
    { ...registeredEvent, details: { workerId: 'mailer', lanes: ['mail'], refreshed: false } },
    { ...registeredEvent, details: { workerId: 'mailer', lanes: ['mail', 'post'], refreshed: true } },
  ])
})

test('WREG-02 an instance that is alive under one worker is refused to another', async () => {
  const { engine, sql } = await setup()
  await engine.workers.register(one)
  const error = await withoutWriting(sql, () =>
    refusal('invalid_input', engine.workers.register({ ...one, workerId: 'printer' })),
  )
  expect(error.message).toBe(
    'worker instance "mailer-1" is used by another live worker; give each process its own instance id',
  )
  expect(error.details['why']).toBe('instance_id reassigned')
})

test('the next registration of an expired instance removes the old one, whichever worker it belongs to', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  await engine.workers.register({ ...one, ttl: '10s' })
  await clock.advance('10s')
  expect(await engine.workers.register({ ...one, workerId: 'printer' })).toMatchObject({
    kind: 'registered',
    registeredAt: await clock.now(),
  })
  expect((await engine.workers.list()).workers).toMatchObject([{ workerId: 'printer' }])
  expect((await workerEvents(sql)).map((event) => event['event_type'])).toEqual([
    'worker_registered',
    'worker_ttl_swept',
    'worker_registered',
  ])
})

test('the same instance id in two namespaces is two workers', async () => {
  const { engine } = await setup()
  for (const namespace of ['a', 'b']) {
    expect(await engine.workers.register({ ...one, namespace })).toMatchObject({ kind: 'registered' })
  }
  expect(await engine.workers.register(one)).toMatchObject({ kind: 'registered' })
})

test('ten registrations of one instance at once leave one row, and every call is answered', async () => {
  const { engine } = await setup()
  const answers = await Promise.all(Array.from({ length: 10 }, () => engine.workers.register(one)))
  expect(answers.filter((answer) => answer.kind === 'registered')).toHaveLength(1)
  expect((await engine.workers.list()).workers).toHaveLength(1)
})

const bad: Readonly<Record<string, object>> = {
  'no lanes': { lanes: [] },
  'lanes that are a text': { lanes: 'mail' },
  'a lane that is none': { lanes: [''] },
  'no kinds at all': { kinds: [] },
  'too many lanes': { lanes: Array.from({ length: 257 }, (_, index) => `l${index}`) },
  'a ttl of nothing': { ttl: 0 },
  'a ttl beyond a day': { ttl: '25h' },
  'a ttl that is none': { ttl: 'soon' },
  'an empty instance': { workerInstanceId: '' },
  'an instance with a line break': { workerInstanceId: 'a\nb' },
  'a pid that is none': { pid: -1 },
  'an unknown field': { lane: 'mail' },
}

test.each(Object.entries(bad))('%s is refused, and nothing is written', async (_, fields) => {
  const { engine, sql } = await setup()
  const request = { ...one, ...fields } as RegisterRequest
  await withoutWriting(sql, () => refusal('invalid_input', engine.workers.register(request)))
})
