import { expect, test } from 'vitest'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { fenceOf, held, take } from './holder.ts'

const input = new TextEncoder().encode('{"page":2}')

test('a restart begins again, with another input, as a new generation without steps', async () => {
  const { engine } = await setup()
  const claim = await held(engine, { policy: { retry: { attempts: 3, backoff: { type: 'fixed', delayMs: 0 } } } })
  await engine.executions.fail({ ...fenceOf(claim), reason: 'once' })
  const second = await take(engine)
  await engine.steps.record({ ...fenceOf(second), name: 's', kind: 'step', state: 'succeeded' })
  const request = { ...fenceOf(second), payload: input }
  const { executionId } = claim
  expect(await engine.executions.restart(request)).toEqual({ kind: 'restarted', executionId })
  expect(await engine.executions.restart(request)).toEqual({ kind: 'restarted', executionId })
  const next = await take(engine)
  expect(next).toMatchObject({ executionId, generation: 1, attemptIndex: 2, retryCount: 0, reason: 'replay' })
  expect(next.payload).toEqual(input)
  expect((await engine.steps.list(executionId)).steps).toEqual([])
  await refusal('stale_lease', engine.executions.complete(fenceOf(second)))
  await engine.executions.complete(fenceOf(next))
  const { attempts } = await engine.attempts.list(executionId)
  expect(attempts.map(({ generation, outcome }) => [generation, outcome])).toEqual([
    [0, 'retry'],
    [0, 'restarted'],
    [1, 'success'],
  ])
  const { events } = await engine.events.timeline(executionId)
  expect(events.map((event) => event.kind)).toEqual([
    'acquired',
    'retried',
    'acquired',
    'restarted',
    'acquired',
    'ended',
  ])
})

test('signals by name that no wait has taken are kept for the next generation; waitpoints created ahead are closed', async () => {
  const { engine } = await setup()
  const claim = await held(engine)
  const { executionId } = claim
  await engine.waitpoints.create({ ...fenceOf(claim), key: 'early' })
  await engine.signals.send({ executionId, name: 'go' })
  await engine.executions.restart(fenceOf(claim))
  expect((await engine.waitpoints.list(executionId)).waitpoints).toEqual([])
  const next = await take(engine)
  expect(next.payload).toBeNull()
  const condition = { kind: 'signal', name: 'go' } as const
  const answer = await engine.executions.trySuspend({ ...fenceOf(next), condition })
  expect(answer).toMatchObject({ kind: 'already_satisfied', resumption: { signals: [{ name: 'go' }] } })
  await engine.executions.complete(fenceOf(next))
})

test('the key of a signal by name holds over a restart, whether it was taken or not, and only after a replay it is free', async () => {
  const { engine } = await setup()
  const claim = await held(engine)
  const { executionId } = claim
  const send = async (idempotencyKey: string) =>
    (await engine.signals.send({ executionId, name: 'go', idempotencyKey })).kind
  expect([await send('one'), await send('two')]).toEqual(['accepted', 'accepted'])
  const condition = { kind: 'signal', name: 'go' } as const
  await engine.executions.trySuspend({ ...fenceOf(claim), condition })
  await engine.executions.restart(fenceOf(claim))
  expect([await send('one'), await send('two')]).toEqual(['duplicate', 'duplicate'])
  await engine.executions.complete(fenceOf(await take(engine)))
  await engine.executions.replay({ executionId })
  expect([await send('one'), await send('two')]).toEqual(['accepted', 'accepted'])
  await engine.executions.restart(fenceOf(await take(engine)))
  expect([await send('one'), await send('two')]).toEqual(['duplicate', 'duplicate'])
})

test('an execution with a stop request does not restart', async () => {
  const { engine } = await setup()
  const claim = await held(engine)
  const { executionId } = claim
  await engine.executions.cancel({ executionId, grace: '1m' })
  const request = { ...fenceOf(claim), payload: input }
  expect(await engine.executions.restart(request)).toEqual({ kind: 'cancelled', executionId })
  expect(await engine.executions.restart(request)).toEqual({ kind: 'cancelled', executionId })
  expect(await engine.executions.describe(executionId)).toMatchObject({ publicState: 'cancelled', generation: 0 })
})
