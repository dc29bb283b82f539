// The effect of an ending on the flow that its execution is a member of, hop by hop.
import { expect, test } from 'vitest'
import { pendingDispatch } from '../../../src/engine/kernel/pending-dispatch.ts'
import { resolveFlows } from '../../../src/engine/dispatch/sets.ts'
import { cancelBacklog } from '../../../src/engine/duties/cancel-backlog.ts'
import { dispatch } from '../../../src/engine/duties/dispatch.ts'
import { executionDeadline } from '../../../src/engine/duties/execution-deadline.ts'
import { setup } from '../../support/setup.ts'
import { fenceOf, worker } from '../execution/holder.ts'
import { walk } from '../flow/walk.ts'
import * as stored from '../../support/stored.ts'

test('FLOW-14 of a chain exactly the next becomes claimable, and at the end all are completed', async () => {
  const fixture = await setup()
  const flow = await walk(fixture, { edges: ['a > b', 'b > c'] })
  expect(await flow.states()).toEqual({ a: 'waiting', b: 'waiting_children', c: 'waiting_children' })
  await flow.end('a')
  expect(await flow.states()).toEqual({ a: 'completed', b: 'waiting', c: 'waiting_children' })
  await flow.end('b')
  expect(await flow.states()).toEqual({ a: 'completed', b: 'completed', c: 'waiting' })
  await flow.end('c')
  expect(await flow.states()).toEqual({ a: 'completed', b: 'completed', c: 'completed' })
  expect(await flow.row()).toMatchObject({ outcome: 'success', success_count: 3, member_count: 3 })
})

test('FLOW-15 all members that wait for the same one become claimable together', async () => {
  const fixture = await setup()
  const flow = await walk(fixture, { edges: ['a > b', 'a > c'] })
  await flow.end('a')
  expect(await flow.states()).toEqual({ a: 'completed', b: 'waiting', c: 'waiting' })
  const events = await stored.events.pick(fixture.sql, ['flow_id', 'actor'], { event_type: 'unblocked' })
  expect(events).toEqual([
    { flow_id: flow.uuid, actor: 'dispatch' },
    { flow_id: flow.uuid, actor: 'dispatch' },
  ])
})

test('FLOW-16 a member that waits for two is blocked until the second ends', async () => {
  const fixture = await setup()
  const flow = await walk(fixture, { edges: ['b > d', 'c > d'] })
  await flow.end('b')
  expect(await flow.states()).toMatchObject({ d: 'waiting_children' })
  await flow.end('c')
  expect(await flow.states()).toMatchObject({ d: 'waiting' })
})

test('FLOW-17 a failure skips all members that depend on it, with one completion event each', async () => {
  const fixture = await setup()
  const flow = await walk(fixture, { edges: ['a > b', 'b > c', 'c > d'] })
  await flow.end('a')
  await flow.end('b', 'failed')
  expect(await flow.states()).toEqual({ a: 'completed', b: 'failed', c: 'skipped', d: 'skipped' })
  expect(await fixture.engine.executions.describe(flow.id('c'))).toMatchObject({
    publicState: 'skipped',
    failureReason: 'dependency_failed',
  })
  const completions = await stored.endings.pick(fixture.sql, ['outcome', 'reason'], { outcome: 'skipped' })
  expect(completions).toEqual([
    { outcome: 'skipped', reason: 'dependency_failed' },
    { outcome: 'skipped', reason: 'dependency_failed' },
  ])
  expect(await flow.row()).toMatchObject({ outcome: 'failed', success_count: 1, failed_count: 1, skipped_count: 2 })
})

test('FLOW-18 an upstream that will be retried resolves nothing', async () => {
  const fixture = await setup()
  const { engine } = fixture
  const policy = { retry: { attempts: 2, backoff: { type: 'fixed', delayMs: 0 } } } as const
  const flow = await walk(fixture, { edges: ['a > b'], members: [{ name: 'a', kind: 'a', policy }] })
  const { executionId, leaseId, leaseEpoch } = await flow.take('a')
  const failed = await engine.executions.fail({ executionId, leaseId, leaseEpoch, reason: 'broke' })
  expect(failed.kind).toBe('retry_scheduled')
  expect(await resolveFlows(fixture.sql, 10)).toMatchObject({ seen: 0, done: 0 })
  expect(await flow.states()).toEqual({ a: 'waiting', b: 'waiting_children' })
  await flow.end('a')
  expect(await flow.states()).toEqual({ a: 'completed', b: 'waiting' })
})

test('EDGE-01 a member waits for all of its edges by default', async () => {
  const fixture = await setup()
  const flow = await walk(fixture, { edges: ['a > d', 'b > d', 'c > d'] })
  for (const name of ['a', 'b', 'c']) {
    expect(await flow.group('d')).toMatchObject({ policy: 'all_of', state: 'pending' })
    await flow.end(name)
  }
  expect(await flow.group('d')).toMatchObject({ state: 'satisfied', satisfied: 3, total: 3 })
  expect(await flow.states()).toMatchObject({ d: 'waiting' })
})

test('EDGE-02 with any_of one success is enough, and the running upstreams are cancelled', async () => {
  const fixture = await setup()
  const flow = await walk(fixture, { edges: ['a > d', 'b > d', 'c > d'], groups: { d: { kind: 'any_of' } } })
  await flow.take('b')
  await flow.end('a')
  expect(await flow.states()).toEqual({ a: 'completed', b: 'cancelled', c: 'cancelled', d: 'waiting' })
  expect(await flow.why('b')).toBe('sibling_quorum_satisfied')
  expect(await flow.why('c')).toBe('sibling_quorum_satisfied')
  await flow.end('d')
  expect(await flow.row()).toMatchObject({ outcome: 'success', success_count: 2, cancelled_count: 2 })
})

test('EDGE-03 a quorum fires at its number, once', async () => {
  const fixture = await setup()
  const groups = { d: { kind: 'quorum', k: 2, onSatisfied: 'let_run' } } as const
  const flow = await walk(fixture, { edges: ['a > d', 'b > d', 'c > d'], groups })
  await flow.end('a')
  expect(await flow.states()).toMatchObject({ d: 'waiting_children' })
  await flow.end('b')
  expect(await flow.states()).toMatchObject({ d: 'waiting' })
  const { fired_at_ms: firedAt } = await flow.group('d')
  await fixture.clock.advance('1m')
  await flow.end('c')
  expect(await flow.group('d')).toMatchObject({ fired_at_ms: firedAt, satisfied: 3, state: 'satisfied' })
  const events = await stored.events.all(fixture.sql, { event_type: 'unblocked' })
  expect(events).toHaveLength(1)
})

test('EDGE-05 siblings that the policy lets run continue as long as they like', async () => {
  const fixture = await setup()
  const groups = { d: { kind: 'any_of', onSatisfied: 'let_run' } } as const
  const flow = await walk(fixture, { edges: ['a > d', 'b > d'], groups })
  const running = await flow.take('b')
  await flow.end('a')
  expect(await flow.states()).toEqual({ a: 'completed', b: 'active', d: 'waiting' })
  expect(await stored.cancelBacklog.all(fixture.sql)).toEqual([])
  await flow.endTaken(running)
})

test('a quorum that cannot be reached any more skips its member and cancels running upstreams', async () => {
  const fixture = await setup()
  const groups = { d: { kind: 'quorum', k: 2 } } as const
  const flow = await walk(fixture, { edges: ['a > d', 'b > d', 'c > d'], groups })
  await flow.end('a', 'failed')
  expect(await flow.states()).toMatchObject({ d: 'waiting_children' })
  await flow.end('b', 'failed')
  expect(await flow.states()).toEqual({ a: 'failed', b: 'failed', c: 'cancelled', d: 'skipped' })
  expect(await flow.why('c')).toBe('sibling_quorum_impossible')
})

test.each([
  ['success_only', 'success', 'satisfied', 'waiting'],
  ['success_only', 'skipped', 'skipped', 'skipped'],
  ['success_only', 'failed', 'failed', 'skipped'],
  ['success_only', 'cancelled', 'failed', 'skipped'],
  ['success_only', 'expired', 'failed', 'skipped'],
  ['optional', 'success', 'satisfied', 'waiting'],
  ['optional', 'failed', 'satisfied', 'waiting'],
  ['optional', 'skipped', 'satisfied', 'waiting'],
  ['on_failure', 'success', 'skipped', 'skipped'],
  ['on_failure', 'failed', 'satisfied', 'waiting'],
  ['on_failure', 'cancelled', 'satisfied', 'waiting'],
  ['on_failure', 'expired', 'satisfied', 'waiting'],
  ['on_failure', 'skipped', 'skipped', 'skipped'],
])(
  'EDGE-07 an edge %s from an execution that ended %s is %s, and the member after it %s',
  async (kind, outcome, resolution, state) => {
    const fixture = await setup()
    const { sql, clock, engine } = fixture
    const flow = await walk(fixture, {
      edges: ['before > a', `a > b ${kind}`],
      members: [{ name: 'a', kind: 'a', deadline: '1h' }],
    })
    if (outcome === 'skipped') await flow.end('before', 'failed')
    else await flow.end('before')
    if (outcome === 'expired') {
      await clock.advance('2h')
      expect(await executionDeadline.runOnce(sql)).toMatchObject({
        processed: 1,
        effects: { pendingDispatch: pendingDispatch.flow },
      })
      await resolveFlows(sql, 10)
    } else if (outcome !== 'skipped')
      await flow.end('a', outcome === 'success' ? 'completed' : (outcome as 'failed' | 'cancelled'))
    const [edge] = await stored.edges.pick(sql, ['resolution', 'resolved_generation'], {
      downstream_id: flow.uuidOf('b'),
    })
    expect(edge).toEqual({ resolution, resolved_generation: 0 })
    expect((await engine.executions.describe(flow.id('b')))?.publicState).toBe(state)
  },
)

test('EDGE-08 a member without outgoing edges is counted, and an execution in no flow owes nothing', async () => {
  const fixture = await setup({ dispatch: false })
  const { engine, sql } = fixture
  const flow = await walk(fixture, { members: ['a', 'b'] })
  await engine.executions.create({ kind: 'alone' })
  await engine.executions.cancelMany(
    (await engine.executions.list()).executions.map(({ executionId }) => ({ executionId })),
  )
  expect(await resolveFlows(sql, 10)).toMatchObject({ seen: 2, done: 2, effects: { readyQueueIds: [] } })
  expect(await resolveFlows(sql, 10)).toMatchObject({ seen: 0, done: 0 })
  expect(await flow.row()).toMatchObject({ cancelled_count: 2, outcome: 'failed' })
})

test("a delay that outlasts a member's upstreams stays when those are done", async () => {
  const fixture = await setup()
  const { clock, engine } = fixture
  await clock.freeze()
  const members = [
    { name: 'soon', kind: 'soon', delay: '1m' },
    { name: 'late', kind: 'late', delay: '1h' },
  ] as const
  const flow = await walk(fixture, { edges: ['a > soon', 'a > late'], members })
  const due = (await clock.now()) + 3_600_000
  await clock.advance('10m')
  await flow.end('a')
  expect(await flow.states()).toEqual({ a: 'completed', soon: 'waiting', late: 'delayed' })
  expect(await engine.executions.describe(flow.id('late'))).toMatchObject({ delayUntil: due })
})

test('a member that ended while it was blocked is counted, and its group fires without it', async () => {
  const fixture = await setup()
  const flow = await walk(fixture, { edges: ['a > b', 'b > c'] })
  await flow.end('b', 'cancelled')
  expect(await flow.states()).toEqual({ a: 'waiting', b: 'cancelled', c: 'skipped' })
  await flow.end('a')
  expect(await flow.group('b')).toMatchObject({ state: 'satisfied', satisfied: 1 })
  expect(await flow.row()).toMatchObject({ outcome: 'failed', success_count: 1, cancelled_count: 1, skipped_count: 1 })
})

test('one member with more edges than a set takes frees all, set by set, and is counted once', async () => {
  const fixture = await setup({ dispatch: false })
  const edges = Array.from({ length: 45 }, (_, index) => `a > b${index}`)
  const flow = await walk(fixture, { edges })
  await flow.endTaken(await flow.take('a'))
  const sets = []
  for (let set = 0; set < 5; set += 1) sets.push(await resolveFlows(fixture.sql, 1))
  expect(sets.map(({ done }) => done)).toEqual([0, 0, 0, 0, 1])
  expect(sets.map(({ effects }) => effects.pendingDispatch)).toEqual([
    pendingDispatch.flow,
    pendingDispatch.flow,
    pendingDispatch.flow,
    pendingDispatch.flow,
    0,
  ])
  expect(new Set(Object.values(await flow.states()))).toEqual(new Set(['completed', 'waiting']))
  expect(await flow.row()).toMatchObject({ success_count: 1 })
})

test('an ending of an older generation is dropped', async () => {
  const fixture = await setup({ dispatch: false })
  const { engine, sql } = fixture
  const flow = await walk(fixture, { edges: ['a > b'] })
  await flow.endTaken(await flow.take('a'), 'failed')
  await engine.executions.replay({ executionId: flow.id('a') })
  expect(await resolveFlows(sql, 10)).toMatchObject({ seen: 1, done: 1, effects: { pendingDispatch: 0 } })
  expect(await flow.states()).toEqual({ a: 'waiting', b: 'waiting_children' })
  await flow.endTaken(await flow.take('a'))
  expect(await resolveFlows(sql, 10)).toMatchObject({ seen: 1, done: 1 })
  expect(await flow.states()).toEqual({ a: 'completed', b: 'waiting' })
})

test('the duty resolves endings without a hint, and the work that those owe', async () => {
  const fixture = await setup({ dispatch: false })
  const { sql } = fixture
  const groups = { d: { kind: 'any_of' } } as const
  const flow = await walk(fixture, { edges: ['a > b', 'c > d', 'e > d'], groups })
  await flow.endTaken(await flow.take('a'), 'failed')
  await flow.endTaken(await flow.take('c'))
  expect(await dispatch.runOnce(sql, { filter: { namespace: 'other' } })).toMatchObject({ processed: 0 })
  const run = await dispatch.runOnce(sql)
  expect(run).toMatchObject({
    processed: 2,
    errors: 0,
    effects: { pendingDispatch: pendingDispatch.flow | pendingDispatch.cancels },
  })
  expect(run.effects.readyQueueIds).toHaveLength(1)
  expect(await cancelBacklog.runOnce(sql)).toMatchObject({
    processed: 1,
    effects: { pendingDispatch: pendingDispatch.flow },
  })
  expect(await dispatch.runOnce(sql)).toMatchObject({ processed: 2 })
  expect(await flow.states()).toEqual({ a: 'failed', b: 'skipped', c: 'completed', d: 'waiting', e: 'cancelled' })
})

test('EDGE-09 a burst of completions is dispatched once each, and a waiting worker gets the freed members', async () => {
  const fixture = await setup()
  const { engine, sql } = fixture
  const names = Array.from({ length: 10 }, (_, index) => index)
  const flow = await walk(fixture, {
    edges: names.map((index) => `a${index} > b${index}`),
    members: names.map((index) => ({ name: `a${index}`, kind: 'a' })),
  })
  const { claims } = await engine.executions.claim({ ...worker, kinds: ['a'], max: 10 })
  const kinds = names.map((index) => `b${index}`)
  const waiting = engine.executions.claim({ ...worker, kinds, max: 10, wait: '1m' })
  await engine.executions.completeMany(claims.map(fenceOf))
  const first = await waiting
  await fixture.dispatched()
  const rest = await engine.executions.claim({ ...worker, kinds, max: 10 })
  expect([...first.claims, ...rest.claims]).toHaveLength(10)
  const events = await stored.events.pick(sql, ['execution_id'], { event_type: 'unblocked' })
  expect(new Set(events.map((row) => row['execution_id'])).size).toBe(10)
  expect(events).toHaveLength(10)
  expect(await flow.row()).toMatchObject({ success_count: 10 })
})
