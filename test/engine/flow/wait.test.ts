import { expect, onTestFinished, test, vi } from 'vitest'
import { createEngine } from '../../../src/engine/engine.ts'
import { mintFlowId } from '../../../src/model/id.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { complete, fail, fenceOf, hold } from './worked.ts'
import { patience } from '../../support/patience.ts'

const chain = {
  kind: 'k',
  members: ['a', 'b'].map((name) => ({ name, kind: name })),
  edges: [{ upstream: 'a', downstream: 'b' }],
}

test('FLOW-32 a wait for a flow returns how it ended', async () => {
  const { engine } = await setup()
  const { flowId } = await engine.flows.submitGraph(chain)
  const ended = engine.flows.wait(flowId)
  await complete(engine, 'a')
  await complete(engine, 'b')
  expect(await ended).toMatchObject({ flowId, state: 'completed', ended: { completed: 2 } })
  expect(await engine.flows.wait(flowId, { timeout: 0 })).toMatchObject({ state: 'completed' })
})

test('FLOW-32 a flow whose member failed ends failed, with its skipped members', async () => {
  const { engine } = await setup()
  const { flowId } = await engine.flows.submitGraph(chain)
  await fail(engine, 'a')
  expect(await engine.flows.wait(flowId)).toMatchObject({ state: 'failed', ended: { failed: 1, skipped: 1 } })
})

test('FLOW-32 a wait that times out is refused, and the flow continues', async () => {
  const { engine } = await setup()
  const { flowId } = await engine.flows.submitGraph(chain)
  const error = await refusal('wait_timed_out', engine.flows.wait(flowId, { timeout: 1 }))
  expect(error.retryable).toBe(true)
  await complete(engine, 'a')
  await complete(engine, 'b')
  await engine.flows.wait(flowId)
})

test('FLOW-32 a cancelled flow is awaited until its last member has ended', async () => {
  const { engine } = await setup()
  const { flowId } = await engine.flows.submitGraph(chain)
  const ended = engine.flows.wait(flowId, { timeout: patience(60_000) })
  await engine.flows.cancel({ flowId, policy: 'cancel_all', reason: 'enough' })
  expect(await ended).toMatchObject({ state: 'cancelled', ended: { cancelled: 2 }, cancellation: { reason: 'enough' } })
})

test('a wait ends when its signal aborts', async () => {
  const { engine } = await setup()
  const { flowId } = await engine.flows.submitGraph(chain)
  const stop = new AbortController()
  const waiting = engine.flows.wait(flowId, { signal: stop.signal })
  stop.abort(new Error('no longer needed'))
  await expect(waiting).rejects.toThrow('no longer needed')
})

test('a wait in another engine on the same database returns too', async () => {
  const { engine, sql } = await setup()
  const { flowId } = await engine.flows.submitGraph(chain)
  const ended = createEngine(sql).flows.wait(flowId)
  await complete(engine, 'a')
  await complete(engine, 'b')
  expect(await ended).toMatchObject({ state: 'completed' })
})

test('the ending of a flow in this process wakes a wait without a poll', async () => {
  const { engine, dispatched } = await setup()
  const { flowId } = await engine.flows.submitGraph({ kind: 'k', members: [{ name: 'a', kind: 'a' }] })
  const held = await hold(engine, 'a')
  // No timer fires, so no poll happens.
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const ended = engine.flows.wait(flowId)
  await engine.serverTime()
  await engine.executions.complete(fenceOf(held))
  await dispatched()
  expect(await ended).toMatchObject({ state: 'completed' })
})

test('an unknown flow cannot be awaited', async () => {
  const { engine } = await setup()
  await refusal('flow_not_found', engine.flows.wait(mintFlowId()))
  const { flowId } = await engine.flows.submitGraph(chain)
  await refusal('invalid_input', engine.flows.wait(flowId, { timeout: -1 }))
  await refusal('invalid_input', engine.flows.wait(flowId, { forever: true } as never))
})
