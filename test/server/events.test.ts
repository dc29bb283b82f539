import { expect, test } from 'vitest'
import type { Fence } from '../../src/engine/transition/fence.ts'
import { event } from '../../src/server/schema/event.ts'
import { appSetup } from './app-setup.ts'
import { listen } from './event-stream.ts'

const fenceOf = ({ executionId, leaseId, leaseEpoch }: Fence): Fence => ({ executionId, leaseId, leaseEpoch })
const worker = { workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'] }

test('a subscriber receives later events, each whole and with its cursor', async () => {
  const { app, engine } = await appSetup()
  const stream = await listen(app, '/v1/events?kinds=ended&kinds=acquired')
  const { executionId } = await engine.executions.create({ kind: 'a' })
  const { claims } = await engine.executions.claim(worker)
  await engine.executions.complete(fenceOf(claims[0]!))
  const [first, second] = [await stream.next(), await stream.next()]
  expect([first.event, second.event]).toEqual(['acquired', 'ended'])
  expect(first.data).toMatchObject({ executionId, kind: 'acquired', cursor: first.id })
  expect(event.safeParse(second.data).error?.issues ?? []).toEqual([])
})

test('a client that reconnects with Last-Event-ID receives the missed events, once', async () => {
  const { app, engine } = await appSetup()
  const first = await listen(app, '/v1/events?kinds=ended')
  const ids = []
  for (const kind of ['a', 'b', 'c']) {
    const { executionId } = await engine.executions.create({ kind })
    await engine.executions.cancel({ executionId })
    ids.push(executionId)
  }
  const received = await first.next()
  await first.end()
  expect(received.data.executionId).toBe(ids[0])
  const again = await listen(app, '/v1/events?kinds=ended', { 'last-event-id': received.id! })
  expect([await again.next(), await again.next()].map(({ data }) => data.executionId)).toEqual(ids.slice(1))
})

test('a silent stream reports how far the log was read, so a break before the first event loses nothing', async () => {
  const { app, engine } = await appSetup({ heartbeatMs: 20 })
  const stream = await listen(app, '/v1/events?kinds=ended')
  expect(await stream.any()).toMatchObject({ retry: '1000' })
  const silent = await stream.any()
  expect(silent).toEqual({ id: expect.stringMatching(/^02/) })
  await stream.end()
  const { executionId } = await engine.executions.create({ kind: 'a' })
  await engine.executions.cancel({ executionId })
  const again = await listen(app, '/v1/events?kinds=ended', { 'last-event-id': silent!.id! })
  expect((await again.next()).data).toMatchObject({ executionId })
})

test('a reader that hangs up in the middle of a wait is no fault of the server', async () => {
  const faults: string[] = []
  const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: (message: string) => faults.push(message) }
  const { app, engine } = await appSetup({ logger })
  const stream = await listen(app, '/v1/events?kinds=ended')
  const waiting = stream.any().then(() => stream.any())
  await stream.end()
  await waiting.catch(() => {})
  const { executionId } = await engine.executions.create({ kind: 'a' })
  await engine.executions.cancel({ executionId })
  const other = await listen(app, `/v1/executions/${encodeURIComponent(executionId)}/timeline`)
  await other.next()
  await other.end()
  expect(faults).toEqual([])
})

test('a timeline shows past events, then new ones, each once', async () => {
  const { app, engine } = await appSetup()
  const { executionId } = await engine.executions.create({ kind: 'a' })
  const other = await engine.executions.create({ kind: 'a' })
  const { claims } = await engine.executions.claim({ ...worker, max: 2 })
  const path = `/v1/executions/${encodeURIComponent(executionId)}/timeline?limit=1`
  const stream = await listen(app, path)
  expect((await stream.next()).data).toMatchObject({ executionId, kind: 'acquired' })
  for (const claim of claims) await engine.executions.complete(fenceOf(claim))
  const ended = await stream.next()
  expect(ended.data).toMatchObject({ executionId, kind: 'ended' })
  expect(other.executionId).not.toBe(executionId)
  await engine.executions.replay({ executionId })
  const again = await listen(app, path, { 'last-event-id': ended.id! })
  expect((await again.next()).data).toMatchObject({ kind: 'replayed' })
})

test('FAULT-04 when the server stops, streams end with the reason and new ones are refused', async () => {
  const { app, ask } = await appSetup()
  const stream = await listen(app, '/v1/events')
  await stream.any()
  app.stop()
  expect(await stream.next()).toEqual({ event: 'end', data: { reason: 'server_stopping' } })
  expect(await stream.any()).toBeNull()
  expect(await ask('GET', '/v1/events')).toMatchObject({ status: 503, body: { code: 'server_stopping' } })
})

test('a bad cursor, kind or filter is refused before the stream begins', async () => {
  const { ask } = await appSetup()
  expect((await ask('GET', '/v1/events?after=xyz')).body.code).toBe('invalid_cursor')
  expect((await ask('GET', '/v1/events', undefined, { 'last-event-id': 'xyz' })).body.code).toBe('invalid_cursor')
  expect((await ask('GET', '/v1/events?kinds=endd')).body.detail).toContain('did you mean ended?')
  const id = encodeURIComponent('{fp:7}:0190a000-0000-7000-8000-000000000000')
  expect((await ask('GET', `/v1/events?executionId=${id}&flowId=${id}`)).body.code).toBe('invalid_input')
})
