import { expect, test } from 'vitest'
import { refusal } from '../support/refusal.ts'
import { front } from './front.ts'
import * as stored from '../support/stored.ts'

const worker = { workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'] }

test('a wait that is longer than the limit of a request is split into several', async () => {
  const { engine, asked } = await front({ longestWaitMs: 50 })
  const { executionId } = await engine.executions.create({ kind: 'a' })
  asked.length = 0
  expect(await engine.executions.result(executionId, { wait: 400 })).toMatchObject({ kind: 'pending' })
  expect(asked.length).toBeGreaterThan(1)
  asked.length = 0
  expect(await engine.executions.claim({ ...worker, lanes: ['empty'], wait: 400 })).toEqual({ claims: [], more: false })
  expect(asked.length).toBeGreaterThan(1)
})

test("the error for a flow's wait names the whole timeout, however it was split; without one the wait lasts until the end", async () => {
  const { engine, asked } = await front({ longestWaitMs: 30 })
  const graph = { kind: 'g', members: [{ name: 'one', kind: 'a' }] }
  const { flowId } = await engine.flows.submitGraph(graph)
  asked.length = 0
  const error = await refusal('wait_timed_out', engine.flows.wait(flowId, { timeout: 400 }))
  expect(error.message).toContain('within 400 ms')
  expect(error.details).toMatchObject({ flowId, timeoutMs: 400 })
  expect(asked.length).toBeGreaterThan(1)
  const ended = engine.flows.wait(flowId)
  await engine.flows.cancel({ flowId })
  expect(await ended).toMatchObject({ flowId, state: 'cancelled' })
})

test('a signal ends each wait as it does on a database: a claim is empty, a result is read, a flow throws the reason', async () => {
  const { engine } = await front()
  const { executionId } = await engine.executions.create({ kind: 'a' })
  const graph = { kind: 'g', members: [{ name: 'one', kind: 'a' }] }
  const { flowId } = await engine.flows.submitGraph(graph)
  const stop = new AbortController()
  const waits = [
    engine.executions.claim({ ...worker, lanes: ['empty'], wait: '1m', signal: stop.signal }),
    engine.executions.result(executionId, { wait: '1m', signal: stop.signal }),
    engine.flows.wait(flowId, { signal: stop.signal }).catch((error: unknown) => error),
  ]
  await engine.serverTime()
  const reason = new Error('enough')
  stop.abort(reason)
  expect(await Promise.all(waits)).toEqual([
    { claims: [], more: false },
    { kind: 'pending', publicState: 'waiting' },
    reason,
  ])
})

test('a wait that a stopping server ends continues with the next one', async () => {
  const { engine, app, anotherApp, next, asked } = await front()
  const { flowId } = await engine.flows.submitGraph({ kind: 'g', members: [{ name: 'one', kind: 'a' }] })
  asked.length = 0
  const ended = engine.flows.wait(flowId)
  await expect.poll(() => asked.length).toBe(1)
  const other = anotherApp()
  next.push((_, pass) => pass(other))
  app.stop()
  await expect.poll(() => asked.length).toBe(2)
  next.push((_, pass) => pass(other))
  await engine.flows.cancel({ flowId })
  expect(await ended).toMatchObject({ flowId, state: 'cancelled' })
})

test('a close refuses later calls, ends waiting ones, and lets accepted ones finish', async () => {
  const { engine, client, sql } = await front()
  const waits = engine.executions.claim({ ...worker, lanes: ['empty'], wait: '1m' })
  const created = Promise.all(Array.from({ length: 600 }, () => engine.executions.create({ kind: 'a' })))
  const subscription = await engine.events.subscribe()
  const event = subscription.next()
  const closed = client.close(10_000)
  await refusal('engine_closed', engine.serverTime())
  await refusal('engine_closed', waits)
  expect(new Set((await created).map(({ kind }) => kind))).toEqual(new Set(['created']))
  await closed
  await refusal('engine_closed', event)
  expect(await stored.executions.all(sql)).toHaveLength(600)
})
