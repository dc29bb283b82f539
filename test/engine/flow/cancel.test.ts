import { expect, test } from 'vitest'
import { localCaller } from '../../../src/engine/kernel/caller.ts'
import { Dispatcher } from '../../../src/engine/duties/dispatcher.ts'
import { resolveFlows } from '../../../src/engine/dispatch/sets.ts'
import { cancelFlow } from '../../../src/engine/flow/cancel.ts'
import { cancelBacklog } from '../../../src/engine/duties/cancel-backlog.ts'
import { dispatch } from '../../../src/engine/duties/dispatch.ts'
import { mintFlowId } from '../../../src/model/id.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { fenceOf, take, worker } from '../execution/holder.ts'
import { graphOf, walk } from './walk.ts'
import * as stored from '../../support/stored.ts'

test('FLOW-24 a flow without anything to cancel is cancelled at once', async () => {
  const fixture = await setup()
  const flow = await walk(fixture, { members: ['a'] }, { stayOpen: true })
  await flow.end('a')
  const answer = await fixture.engine.flows.cancel({ flowId: flow.flowId, reason: 'not wanted' })
  expect(answer).toEqual({
    kind: 'cancelled',
    flowId: flow.flowId,
    policy: 'cancel_all',
    reason: 'not wanted',
    memberCount: 0,
    memberIds: [],
  })
  const row = await flow.row()
  expect(row).toMatchObject({ outcome: 'cancelled', cancel_policy: 'cancel_all', cancel_reason: 'not wanted' })
  expect(row['ended_at_ms']).toBe(row['cancelled_at_ms'])
  expect(await flow.states()).toEqual({ a: 'completed' })
})

test('FLOW-25 a caller that waits gets its answer when every member is cancelled; the leases of running members are revoked', async () => {
  const fixture = await setup()
  const { engine, sql } = fixture
  const flow = await walk(fixture, { edges: ['a > c', 'b > c'] })
  await flow.take('a')
  const answer = await engine.flows.cancel({ flowId: flow.flowId, policy: 'cancel_all', wait: '1m' })
  expect(answer).toMatchObject({ kind: 'cancelled', policy: 'cancel_all', memberCount: 3 })
  expect(answer.memberIds.toSorted()).toEqual(Object.values(flow.members).toSorted())
  expect(await flow.states()).toEqual({ a: 'cancelled', b: 'cancelled', c: 'cancelled' })
  const completions = await stored.endings.pick(sql, ['outcome'])
  expect(completions.map((row) => row['outcome'])).toEqual(['cancelled', 'cancelled', 'cancelled'])
  const ends = await stored.leaseEvents.pick(sql, ['execution_id'], { event_type: 'revoked' })
  expect(ends).toEqual([{ execution_id: flow.uuidOf('a') }])
  expect(await flow.row()).toMatchObject({ outcome: 'cancelled', cancelled_count: 3 })
})

test('FLOW-26 a caller that does not wait is answered at once, and the members end soon after', async () => {
  const fixture = await setup()
  const flow = await walk(fixture, { edges: ['a > b'] })
  const answer = await fixture.engine.flows.cancel({ flowId: flow.flowId })
  expect(answer).toMatchObject({ kind: 'cancellation_scheduled', policy: 'cancel_all', memberCount: 2 })
  await fixture.dispatched()
  expect(await flow.states()).toEqual({ a: 'cancelled', b: 'cancelled' })
  expect(await stored.cancelBacklog.all(fixture.sql)).toEqual([])
})

test('FLOW-27 a second cancel keeps the first policy and reason', async () => {
  const fixture = await setup()
  const { engine } = fixture
  const flow = await walk(fixture, { edges: ['a > b'] })
  await engine.flows.cancel({ flowId: flow.flowId, reason: 'first', wait: '1m' })
  const before = await flow.row()
  const again = await engine.flows.cancel({ flowId: flow.flowId, policy: 'flow_only', reason: 'second' })
  expect(again).toMatchObject({ kind: 'already_cancelled', policy: 'cancel_all', reason: 'first', memberCount: 2 })
  expect(again.memberIds).toHaveLength(2)
  expect(await flow.row()).toEqual(before)
})

test('FLOW-27 of many members the first thousand are named', async () => {
  const fixture = await setup()
  const members = Array.from({ length: 1100 }, (_, index) => ({ name: `m${index}`, kind: 'k' }))
  const flow = await walk(fixture, { members })
  const first = await fixture.engine.flows.cancel({ flowId: flow.flowId, wait: '1m' })
  const again = await fixture.engine.flows.cancel({ flowId: flow.flowId })
  for (const answer of [first, again]) expect([answer.memberCount, answer.memberIds.length]).toEqual([1100, 1000])
  expect(first.kind).toBe('cancelled')
})

test('FLOW-28 every live member is cancelled in the name of the flow, and ended members stay', async () => {
  const fixture = await setup()
  const { engine, sql } = fixture
  const flow = await walk(fixture, {
    members: ['waiting', 'active', 'suspended', 'completed', 'failed', { name: 'delayed', kind: 'k', delay: '1h' }],
    edges: ['waiting > blocked'],
  })
  await flow.end('completed')
  await flow.end('failed', 'failed')
  await flow.take('active')
  const parked = fenceOf(await flow.take('suspended'))
  await engine.executions.suspend({ ...parked, condition: { kind: 'signal', name: 'go' } })
  await engine.flows.cancel({ flowId: flow.flowId, wait: '1m' })
  expect(await flow.states()).toEqual({
    waiting: 'cancelled',
    active: 'cancelled',
    suspended: 'cancelled',
    delayed: 'cancelled',
    blocked: 'cancelled',
    completed: 'completed',
    failed: 'failed',
  })
  const cancelled = await stored.executions.pick(sql, ['cancellation_reason', 'cancelled_by'], {
    terminal_outcome: 'cancelled',
  })
  expect(cancelled.length).toBeGreaterThan(0)
  for (const row of cancelled) {
    expect(row).toEqual({ cancellation_reason: 'flow_cancelled', cancelled_by: 'cancel_flow' })
  }
})

test('FLOW-29 with flow_only the flow alone is cancelled, and its members continue unaffected', async () => {
  const fixture = await setup()
  const { engine, sql } = fixture
  const flow = await walk(fixture, { edges: ['a > b'] })
  const answer = await engine.flows.cancel({ flowId: flow.flowId, policy: 'flow_only' })
  expect(answer).toMatchObject({ kind: 'cancelled', policy: 'flow_only', memberCount: 0 })
  expect(await stored.cancelBacklog.all(sql)).toEqual([])
  expect(await flow.states()).toEqual({ a: 'waiting', b: 'waiting_children' })
  await flow.end('a')
  await flow.end('b')
  expect(await flow.states()).toEqual({ a: 'completed', b: 'completed' })
  expect(await flow.row()).toMatchObject({ outcome: 'cancelled', success_count: 2 })
})

test('FLOW-30 an unknown flow is not found', async () => {
  const { engine } = await setup()
  await refusal('flow_not_found', engine.flows.cancel({ flowId: mintFlowId() }))
})

test('FLOW-31 the backlog has each member that is to be cancelled until it is, and the flow makes one request', async () => {
  const fixture = await setup({ dispatch: false })
  const { engine, sql } = fixture
  const flow = await walk(fixture, { members: ['a', 'b'] })
  await engine.as({ actor: 'ann' }).flows.cancel({ flowId: flow.flowId, reason: 'enough' })
  expect(await stored.cancelBacklog.pick(sql, ['execution_id', 'generation', 'flow_id'], {}, 'execution_id')).toEqual(
    [flow.uuidOf('a'), flow.uuidOf('b')]
      .toSorted()
      .map((uuid) => ({ execution_id: uuid, generation: 0, flow_id: flow.uuid })),
  )
  const asked = await stored.events.pick(sql, ['flow_id', 'actor', 'reason', 'details'], {
    event_type: 'flow_cancel_requested',
  })
  expect(asked).toEqual([{ flow_id: flow.uuid, actor: 'ann', reason: 'enough', details: { policy: 'cancel_all' } }])
  expect(await cancelBacklog.runOnce(sql, { batch: 1 })).toMatchObject({ processed: 1, isFull: true })
  expect(
    await stored.cancelBacklog.pick(sql, ['execution_id', 'generation', 'flow_id'], {}, 'execution_id'),
  ).toHaveLength(1)
  expect(await cancelBacklog.runOnce(sql)).toMatchObject({ processed: 1 })
  expect(await cancelBacklog.runOnce(sql)).toMatchObject({ processed: 0 })
  expect(await flow.row()).toMatchObject({ cancel_policy: 'cancel_all' })
  expect(await dispatch.runOnce(sql)).toMatchObject({ processed: 2 })
  expect(await flow.row()).toMatchObject({ outcome: 'cancelled', cancelled_count: 2 })
})

test('with cancel_pending only members that never ran are cancelled, and the others run to their end', async () => {
  const fixture = await setup()
  const { engine } = fixture
  const policy = { retry: { attempts: 2, backoff: { type: 'fixed', delayMs: 0 } } } as const
  const flow = await walk(fixture, { edges: ['a > c'], members: [{ name: 'a', kind: 'a', policy }, 'b'] })
  const first = fenceOf(await flow.take('a'))
  const answer = await engine.flows.cancel({ flowId: flow.flowId, policy: 'cancel_pending', wait: '1m' })
  expect(answer).toMatchObject({ kind: 'cancelled', memberCount: 2 })
  expect(await flow.states()).toEqual({ a: 'active', b: 'cancelled', c: 'cancelled' })
  // It has started, so it may start again.
  await engine.executions.fail({ ...first, reason: 'broke' })
  await flow.end('a')
  expect(await flow.states()).toMatchObject({ a: 'completed' })
  expect(await flow.row()).toMatchObject({ outcome: 'cancelled', success_count: 1, cancelled_count: 2 })
})

test('a member that returns to its queue after the mark is not claimed', async () => {
  const fixture = await setup({ dispatch: false })
  const { engine, sql } = fixture
  const flow = await walk(fixture, { members: ['a', 'b'] })
  const fence = fenceOf(await flow.take('a'))
  await engine.flows.cancel({ flowId: flow.flowId })
  expect(await stored.ready.all(sql)).toEqual([])
  await engine.executions.release(fence)
  expect(await stored.ready.pick(sql, ['execution_id'])).toEqual([{ execution_id: flow.uuidOf('a') }])
  expect(await engine.executions.claim({ ...worker, max: 10 })).toMatchObject({ claims: [] })
  await cancelBacklog.runOnce(sql)
  expect(await flow.states()).toEqual({ a: 'cancelled', b: 'cancelled' })
})

test('a group that fires after the mark neither frees its member nor skips it', async () => {
  const fixture = await setup({ dispatch: false })
  const { engine, sql } = fixture
  const flow = await walk(fixture, { edges: ['a > b', 'c > d'] })
  await flow.endTaken(await flow.take('a'))
  await flow.endTaken(await flow.take('c'), 'failed')
  await engine.flows.cancel({ flowId: flow.flowId })
  expect(await resolveFlows(sql, 10)).toMatchObject({ seen: 2, done: 2, effects: { readyQueueIds: [] } })
  expect(await flow.states()).toMatchObject({ b: 'waiting_children', d: 'waiting_children' })
  await cancelBacklog.runOnce(sql)
  expect(await flow.states()).toEqual({ a: 'completed', b: 'cancelled', c: 'failed', d: 'cancelled' })
})

test('inner flows are cancelled with it, and the members that stand for them', async () => {
  const fixture = await setup()
  const { engine, sql } = fixture
  const inner = { kind: 'inner', ...graphOf({ edges: ['x > y'] }) }
  const flow = await walk(fixture, {
    edges: ['a > later'],
    members: [
      { name: 'now', flow: inner },
      { name: 'later', flow: inner },
    ],
  })
  await take(engine, { kinds: ['x'] })
  const answer = await engine.flows.cancel({ flowId: flow.flowId, wait: '1m' })
  expect(answer).toMatchObject({ kind: 'cancelled', memberCount: 5 })
  expect(await flow.states()).toEqual({ a: 'cancelled', now: 'cancelled', later: 'cancelled' })
  for (const name of ['now', 'later']) {
    expect(await flow.inner[name]!.states()).toEqual({ x: 'cancelled', y: 'cancelled' })
    expect(await flow.inner[name]!.row()).toMatchObject({ outcome: 'cancelled', cancel_policy: 'cancel_all' })
  }
  expect(await flow.row()).toMatchObject({ outcome: 'cancelled', cancelled_count: 3 })
  const ended = await stored.events.all(sql, { event_type: 'flow_ended' })
  expect(ended).toHaveLength(3)
})

test('a cancel of an inner flow alone also cancels the member that stands for it', async () => {
  const fixture = await setup()
  const inner = { kind: 'inner', ...graphOf({ edges: ['x > y'] }) }
  const flow = await walk(fixture, { edges: ['in > after optional'], members: [{ name: 'in', flow: inner }] })
  await fixture.engine.flows.cancel({ flowId: flow.inner['in']!.flowId, wait: '1m' })
  expect(await flow.states()).toEqual({ in: 'cancelled', after: 'waiting' })
  expect(await flow.row()).toMatchObject({ cancel_policy: null, outcome: 'none', cancelled_count: 1 })
})

test('a flow that has ended is not cancelled', async () => {
  const fixture = await setup()
  const flow = await walk(fixture, { members: ['a'] })
  await flow.end('a')
  const { message } = await refusal('flow_terminal', fixture.engine.flows.cancel({ flowId: flow.flowId }))
  expect(message).toContain('has already ended (success)')
})

test.each([
  [{ policy: 'cancel_al' }, 'did you mean cancel_all'],
  [{ wait: 'soon' }, 'wait'],
  [{ reason: 7 }, 'reason'],
  [{ force: true }, 'force'],
])('a request with %j is refused', async (wrong, word) => {
  const { engine } = await setup()
  const request = { flowId: mintFlowId(), ...wrong } as Parameters<typeof engine.flows.cancel>[0]
  expect(await engine.flows.cancel(request).catch((error: Error) => error.message)).toContain(word)
})

test('a wait for the endings of its members does not wait for the owed work of others', async () => {
  const fixture = await setup()
  const { sql, dispatched } = fixture
  const { flowId } = await walk(fixture, { edges: ['a > b'] })
  const busy = new Dispatcher(sql, ignoreEffects)
  const dispatcher = { start: (pending: number) => busy.start(pending), idle: () => new Promise<void>(() => {}) }
  const around = { sql, dispatcher, publish: ignoreEffects }
  expect(await cancelFlow(around, localCaller, { flowId, wait: '1h' })).toMatchObject({ kind: 'cancelled' })
  await Promise.all([busy.idle(), dispatched()])
})

function ignoreEffects(): void {}
