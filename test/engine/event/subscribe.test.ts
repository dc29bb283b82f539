import { expect, onTestFinished, test, vi } from 'vitest'
import { encodeEventCursor } from '../../../src/engine/event/cursor.ts'
import { Subscriptions } from '../../../src/engine/event/subscribe.ts'
import { mintExecutionId, type ExecutionId, type FlowId } from '../../../src/model/id.ts'
import { factory } from '../../support/factory.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { eventsOf, subscriber, subscriberOf, take, takeIds, writeEvents } from './subscriber.ts'
import * as stored from '../../support/stored.ts'
import { moveLog, loseEventId, addBlock, dropBlock } from '../../support/event-log.ts'

const beginning = encodeEventCursor(0)

test('SUB-01 a subscriber without a cursor receives later events, and nothing earlier', async () => {
  const { sql } = await setup()
  const given = factory(sql)
  await given.completed()
  const subscription = await subscriber(sql)()
  const second = await given.completed()
  expect(await takeIds(subscription, 1)).toEqual([second])
})

test("SUB-02 a lease's history arrives in order, with rising cursors", async () => {
  const { engine, sql } = await setup()
  const subscription = await subscriber(sql)()
  await engine.executions.create({ kind: 'k', lane: 'a' })
  const worker = { workerId: 'worker', workerInstanceId: 'worker-1' }
  const { claims } = await engine.executions.claim({ ...worker, lanes: ['a'] })
  const { executionId, leaseId, leaseEpoch } = claims[0]!
  const fence = { executionId, leaseId, leaseEpoch }
  await engine.executions.renew({ workerInstanceId: 'worker-1', leases: [fence] })
  await engine.as({ actor: 'ada' }).executions.complete(fence)
  const events = eventsOf(await take(subscription, 3))
  expect(events.map((event) => event.leaseEffect)).toEqual(['acquired', 'renewed', 'revoked'])
  expect(events.map((event) => event.kind)).toEqual(['acquired', 'renewed', 'ended'])
  const cursors = events.map((event) => event.cursor)
  expect(cursors).toEqual([...new Set(cursors)].toSorted())
  for (const event of events) expect(event).toMatchObject({ ...fence, workerInstanceId: 'worker-1', attemptIndex: 0 })
  expect(events[2]).toMatchObject({ actor: 'ada', outcome: 'success', generation: 0, namespace: 'default' })
})

test('a commit of this process reaches its subscribers without waiting for the next poll', async () => {
  // No timer fires, so no poll happens.
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const { engine } = await setup()
  const subscription = await engine.events.subscribe()
  onTestFinished(async () => void (await subscription.return()))
  const { executionId } = await engine.executions.create({ kind: 'k', lane: 'a' })
  const worker = { workerId: 'worker', workerInstanceId: 'worker-1' }
  const { claims } = await engine.executions.claim({ ...worker, lanes: ['a'] })
  expect(await takeIds(subscription, 1)).toEqual([executionId])
  const { leaseId, leaseEpoch } = claims[0]!
  await engine.executions.complete({ executionId, leaseId, leaseEpoch })
  expect(await takeIds(subscription, 1)).toEqual([executionId])
})

test('SUB-03 a subscriber that returns with a cursor continues after it, also beside other subscribers', async () => {
  const { sql } = await setup()
  const given = factory(sql)
  const open = subscriber(sql)
  const ids: ExecutionId[] = []
  const first = await open()
  ids.push(await given.completed())
  const [event] = eventsOf(await take(first, 1))
  await first.return()
  ids.push(await given.completed(), await given.completed())
  const resumed = await open({ after: event!.cursor })
  expect(await takeIds(resumed, 2)).toEqual(ids.slice(1))
  const fromTheBeginning = await open({ after: beginning })
  expect(await takeIds(fromTheBeginning, 3)).toEqual(ids)
})

test('SUB-04 a cursor is nine bytes, empty means now, and any other form is refused at once', async () => {
  const { sql } = await setup()
  const given = factory(sql)
  const open = subscriber(sql)
  expect(encodeEventCursor(258)).toBe('020000000000000102')
  await given.completed()
  const subscription = await open({ after: '' })
  const id = await given.completed()
  expect(await takeIds(subscription, 1)).toEqual([id])
  const wrong = ['02', '0200000000000001', '02000000000000000101', '010000000000000001', '02ffffffffffffffff', 'x', 7]
  for (const after of wrong) await refusal('invalid_cursor', open({ after: after as string }))
})

test('a cursor that is ahead of the log is refused', async () => {
  const { sql } = await setup()
  await factory(sql).completed()
  await refusal('invalid_cursor', subscriber(sql)({ after: encodeEventCursor(2) }))
})

test('SUB-05 a completion has execution, flow, outcome and time', async () => {
  const { engine, sql, clock } = await setup()
  const flowId = mintExecutionId() as string as FlowId
  const leaseId = '0190a000-0000-7000-8000-000000000001'
  const executionId = await factory(sql).active({ flowId, leaseId })
  const subscription = await subscriber(sql)({ kinds: ['ended'] })
  await clock.freeze()
  await engine.executions.complete({ executionId, leaseId, leaseEpoch: 1 })
  const [event] = await take(subscription, 1)
  expect(event).toMatchObject({ executionId, flowId, outcome: 'success', occurredAt: await clock.now() })
  await clock.reset()
})

test('SUB-06 every outcome has its word', async () => {
  const { sql } = await setup()
  const subscription = await subscriber(sql)()
  const given = factory(sql)
  await given.completed()
  await given.failed({ reason: 'broke' })
  await given.cancelled({ by: 'ada' })
  await given.expired()
  await given.skipped({ neverRan: true })
  const events = eventsOf(await take(subscription, 5))
  expect(events.map((event) => event.outcome)).toEqual(['success', 'failed', 'cancelled', 'expired', 'skipped'])
  expect(events[1]).toMatchObject({ kind: 'ended', reason: 'broke' })
  expect(events[2]).toMatchObject({ actor: 'ada' })
})

test('SUB-07 two subscribers both receive an event', async () => {
  const { sql } = await setup()
  const open = subscriber(sql)
  const both = [await open(), await open()]
  const id = await factory(sql).completed()
  expect(await Promise.all(both.map((one) => takeIds(one, 1)))).toEqual([[id], [id]])
})

test('SUB-08 a subscriber that ends its own iteration disturbs no other', async () => {
  const { sql } = await setup()
  const given = factory(sql)
  const open = subscriber(sql)
  const [leaving, staying] = [await open(), await open()]
  const waiting = leaving.next()
  await leaving.return()
  expect(await waiting).toEqual({ done: true, value: undefined })
  expect(await leaving.next()).toEqual({ done: true, value: undefined })
  const id = await given.completed()
  expect(await takeIds(staying, 1)).toEqual([id])
  await staying.return()
  const again = await open()
  const next = await given.completed()
  expect(await takeIds(again, 1)).toEqual([next])
})

test('an AbortSignal ends the iteration, and a loop that breaks ends the subscription', async () => {
  const { sql } = await setup()
  const given = factory(sql)
  const open = subscriber(sql)
  const end = new AbortController()
  const aborted = await open({ signal: end.signal })
  const waiting = aborted.next()
  end.abort()
  expect(await waiting).toEqual({ done: true, value: undefined })
  const left = await open({ after: beginning })
  const id = await given.completed()
  for await (const event of left) {
    expect(event).toMatchObject({ executionId: id })
    break
  }
  expect(await left.next()).toEqual({ done: true, value: undefined })
  const never = await open({ signal: AbortSignal.abort() })
  expect(await never.next()).toEqual({ done: true, value: undefined })
})

test('ids that were lost are passed over, at the start, between events and in the past', async () => {
  const { sql } = await setup()
  const given = factory(sql)
  const open = subscriber(sql)
  const ids: ExecutionId[] = []
  await loseEventId(sql)
  const live = await open()
  for (let round = 0; round < 3; round += 1) {
    ids.push(await given.completed())
    await loseEventId(sql)
  }
  ids.push(await given.completed())
  expect(await takeIds(live, 4)).toEqual(ids)
  await loseEventId(sql)
  const late = await open()
  const past = await open({ after: beginning })
  expect(await takeIds(past, 4)).toEqual(ids)
  const last = await given.completed()
  expect(await takeIds(late, 1)).toEqual([last])
})

test('a slow subscriber is served from the table, and misses nothing', async () => {
  const { sql } = await setup()
  const open = subscriber(sql)
  const [slow, quick] = [await open(), await open()]
  await writeEvents(sql, 6000)
  const received = eventsOf(await take(quick, 6000)).map((event) => event.cursor)
  expect(eventsOf(await take(slow, 6000)).map((event) => event.cursor)).toEqual(received)
  expect(new Set(received).size).toBe(6000)
  expect(received).toEqual(received.toSorted())
})

test('a subscriber with a cursor older than the log is notified, once, and continues where the log begins', async () => {
  const { sql } = await setup()
  const given = factory(sql)
  const open = subscriber(sql)
  await writeEvents(sql, 3)
  await moveLog(sql, 10_000_001)
  await addBlock(sql, 10_000_001, 20_000_001)
  const kept = await given.completed()
  const subscription = await open({ after: beginning, kinds: ['ended'] })
  await dropBlock(sql, 1)
  const delivered = await take(subscription, 2)
  expect(delivered[0]).toEqual({ kind: 'truncated', after: beginning, cursor: encodeEventCursor(10_000_000) })
  expect(delivered[1]).toMatchObject({ kind: 'ended', executionId: kept })
  const inTime = await open({ after: encodeEventCursor(10_000_000) })
  expect(await takeIds(inTime, 1)).toEqual([kept])
})

test('a log that cannot be read ends the subscriptions with an error, and new ones start afresh', async () => {
  const { sql } = await setup()
  const subscriptions = new Subscriptions(sql)
  const open = subscriberOf(subscriptions)
  const [failing, idle] = [await open(), await open()]
  const waiting = failing.next()
  await stored.events.whileAway(sql, async () => {
    subscriptions.wake()
    await refusal('schema_missing', waiting)
    expect(await failing.next()).toEqual({ done: true, value: undefined })
  })
  const again = await open()
  const id = await factory(sql).completed()
  expect(await takeIds(again, 1)).toEqual([id])
  await refusal('schema_missing', idle.next())
})
