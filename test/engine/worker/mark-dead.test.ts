import { expect, test } from 'vitest'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { one, workerEvents } from './registry.ts'

const instance = { workerInstanceId: one.workerInstanceId }

test('WREG-05 a worker that is declared dead is removed with its reason; declared again, it is not registered', async () => {
  const { engine, sql } = await setup()
  await engine.workers.register(one)
  const request = { ...instance, reason: 'the machine burnt' }
  expect(await engine.as({ actor: 'ops' }).workers.markDead(request)).toEqual({
    kind: 'marked',
    workerInstanceId: 'mailer-1',
  })
  expect(await withoutWriting(sql, () => engine.workers.markDead(request))).toMatchObject({ kind: 'not_registered' })
  expect((await engine.workers.list()).workers).toEqual([])
  expect((await workerEvents(sql))[1]).toEqual({
    event_type: 'worker_marked_dead',
    namespace: '',
    actor: 'ops',
    worker_instance_id: 'mailer-1',
    reason: 'the machine burnt',
    details: { workerId: 'mailer' },
  })
})

test('its leases stay, and expire by themselves', async () => {
  const { engine } = await setup()
  const { executionId } = await engine.executions.create({ kind: 'k', lane: 'mail' })
  await engine.workers.register(one)
  await engine.executions.claim(one)
  await engine.workers.markDead({ ...instance, reason: 'gone' })
  expect(await engine.executions.describe(executionId)).toMatchObject({ publicState: 'active' })
})

test.each([
  ['257 bytes', 'x'.repeat(257)],
  ['a control character', 'line\nbreak'],
  ['nothing', ''],
])('WREG-06 a reason of %s is refused, and the worker stays', async (_, reason) => {
  const { engine, sql } = await setup()
  await engine.workers.register(one)
  await withoutWriting(sql, () => refusal('invalid_input', engine.workers.markDead({ ...instance, reason })))
})
