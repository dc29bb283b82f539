// Members of a flow that end at once, resolvers that compete, and a flow that is cancelled meanwhile: from two
// engines.
import { expect, onTestFinished, test } from 'vitest'
import { endBacklogged } from '../../src/engine/dispatch/cancel-backlog.ts'
import { resolveFlows } from '../../src/engine/dispatch/sets.ts'
import { openEngine, type OpenEngine } from '../../src/engine/engine.ts'
import { checkInvariants } from '../../src/engine/invariants.ts'
import { cancelBacklog } from '../../src/engine/duties/cancel-backlog.ts'
import { dispatch } from '../../src/engine/duties/dispatch.ts'
import { openPostgres } from '../../src/sql/postgres.ts'
import type { Sql } from '../../src/sql/sql.ts'
import { fenceOf } from '../engine/execution/holder.ts'
import { walk } from '../engine/flow/walk.ts'
import { hold } from '../support/barrier.ts'
import { setup } from '../support/setup.ts'
import { codeOf, meet } from './meeting.ts'
import * as stored from '../support/stored.ts'
import { countPending } from '../support/reads.ts'

interface Side extends OpenEngine {
  readonly sql: Sql
}

async function otherSide(url: string, dispatches = true): Promise<Side> {
  const sql = await openPostgres({ url, schema: 'flowfabric' })
  onTestFinished(() => sql.close())
  return { ...openEngine(sql, { dispatch: dispatches }), sql }
}

const fiftyTurns = Array.from({ length: 50 }, (_, turn) => turn % 2)

/** Runs all owed work, on either engine. */
async function settle(sql: Sql): Promise<void> {
  while ((await countPending(sql, { ofFlowsAlone: true })) > 0) {
    await dispatch.runOnce(sql)
    await cancelBacklog.runOnce(sql)
  }
}

test('the last two members that a quorum needs end at once, and it fires once', async () => {
  const fixture = await setup()
  const { engine, sql, url } = fixture
  const other = await otherSide(url)
  const groups = { d: { kind: 'quorum', k: 2, onSatisfied: 'let_run' } } as const
  for (const first of fiftyTurns) {
    const flow = await walk(fixture, { edges: ['a > d', 'b > d', 'c > d'], groups })
    const [a, b] = [fenceOf(await flow.take('a')), fenceOf(await flow.take('b'))]
    const ends = [() => codeOf(engine.executions.complete(a)), () => codeOf(other.engine.executions.complete(b))]
    expect(await meet(url, ends, { first })).toEqual(['completed', 'completed'])
    await settle(sql)
    expect(await flow.group('d')).toMatchObject({ satisfied: 2, state: 'satisfied' })
    const unblocked = await stored.events.all(sql, { event_type: 'unblocked', execution_id: flow.uuidOf('d') })
    expect(unblocked).toHaveLength(1)
    await flow.end('d')
    await flow.end('c')
  }
  expect(await checkInvariants(sql)).toEqual([])
})

test('a completion beside the cancel of its flow: the member is completed or cancelled, and nothing is left', async () => {
  const fixture = await setup()
  const { engine, sql, url } = fixture
  const other = await otherSide(url)
  for (const first of fiftyTurns) {
    const flow = await walk(fixture, { edges: ['a > b', 'b > c'] })
    const a = fenceOf(await flow.take('a'))
    const [completed, cancelled] = await meet(
      url,
      [
        () => codeOf(engine.executions.complete(a)),
        () => codeOf(other.engine.flows.cancel({ flowId: flow.flowId, wait: '1m' })),
      ],
      { first },
    )
    expect(cancelled).toBe('cancelled')
    await settle(sql)
    const states = await flow.states()
    expect(states).toMatchObject({ b: 'cancelled', c: 'cancelled' })
    expect([completed, states['a']]).toEqual(
      completed === 'completed' ? ['completed', 'completed'] : ['execution_not_active', 'cancelled'],
    )
    expect(await flow.row()).toMatchObject({ outcome: 'cancelled' })
  }
})

test('two resolvers at once resolve each edge once', async () => {
  const fixture = await setup({ dispatch: false })
  const { sql, url } = fixture
  const other = await otherSide(url, false)
  for (const first of fiftyTurns) {
    const flow = await walk(fixture, { edges: ['a > c', 'b > c', 'a > d', 'b > e', 'e > f'] })
    await flow.endTaken(await flow.take('a'))
    await flow.endTaken(await flow.take('b'), 'failed')
    const sets = await meet(url, [() => resolveFlows(sql, 100), () => resolveFlows(other.sql, 100)], { first })
    // Each may take one of the rows, and one of them the flow; or whoever comes second finds the next hop.
    expect(sets.reduce((done, set) => done + set.done, 0)).toBeGreaterThanOrEqual(1)
    await settle(sql)
    expect(await flow.states()).toMatchObject({ c: 'skipped', d: 'waiting', e: 'skipped', f: 'skipped' })
    await flow.endTaken(await flow.take('d'))
    await settle(sql)
    expect(await flow.row()).toMatchObject({ outcome: 'failed', success_count: 2, failed_count: 1, skipped_count: 3 })
  }
})

test('two engines that work off the backlog at once end each member once', async () => {
  const fixture = await setup({ dispatch: false })
  const { engine, sql, url } = fixture
  const other = await otherSide(url, false)
  for (const first of fiftyTurns.slice(0, 10)) {
    const flow = await walk(fixture, { members: Array.from({ length: 40 }, (_, index) => `m${index}`) })
    await engine.flows.cancel({ flowId: flow.flowId })
    await meet(url, [() => endBacklogged(sql, 30), () => endBacklogged(other.sql, 30)], { first })
    await settle(sql)
    expect(new Set(Object.values(await flow.states()))).toEqual(new Set(['cancelled']))
    expect(await flow.row()).toMatchObject({ outcome: 'cancelled', cancelled_count: 40 })
  }
})

test('EDGE-10 an edge whose rows are locked is left whole, and resolved when the lock is released', async () => {
  const fixture = await setup({ dispatch: false })
  const { sql, url } = fixture
  const flow = await walk(fixture, { edges: ['a > b', 'a > c'] })
  await flow.endTaken(await flow.take('a'))
  const root = await hold(url, stored.flows.lockingRows('no key update', { flow_id: flow.uuid }))
  expect(await resolveFlows(sql, 10)).toMatchObject({ seen: 1, done: 0 })
  expect(await flow.states()).toEqual({ a: 'completed', b: 'waiting_children', c: 'waiting_children' })
  await root.release()
  const one = stored.executions.lockingRows('no key update', { execution_id: flow.uuidOf('b') })
  const downstream = await hold(url, one)
  expect(await resolveFlows(sql, 10)).toMatchObject({ seen: 1, done: 0 })
  expect(await flow.states()).toEqual({ a: 'completed', b: 'waiting_children', c: 'waiting' })
  expect(await flow.row()).toMatchObject({ success_count: 0 })
  expect(await checkInvariants(sql)).toEqual([])
  await downstream.release()
  expect(await resolveFlows(sql, 10)).toMatchObject({ seen: 1, done: 1 })
  expect(await flow.states()).toEqual({ a: 'completed', b: 'waiting', c: 'waiting' })
  expect(await flow.row()).toMatchObject({ success_count: 1 })
})

const resolvers = {
  'the dispatcher': async (sql: Sql) => (await resolveFlows(sql, 2)).done,
  'the duty': async (sql: Sql) => (await dispatch.runOnce(sql, { batch: 2 })).processed,
} as const

test.each([
  { by: 'the dispatcher', held: 'the flow' },
  { by: 'the duty', held: 'the flow' },
  { by: 'the dispatcher', held: 'a member' },
  { by: 'the duty', held: 'a member' },
] as const)(
  '$by: a flow of which $held is locked keeps no other from being resolved, however much it is owed',
  async (of) => {
    const fixture = await setup({ dispatch: false })
    const { sql, url } = fixture
    const names = ['h0', 'h1', 'h2']
    const stuck = await walk(fixture, {
      edges: names.map((name) => `${name} > d`),
      groups: { d: { kind: 'quorum', k: 1, onSatisfied: 'let_run' } },
    })
    for (const name of names) await stuck.endTaken(await stuck.take(name))
    const flows = [await walk(fixture, { edges: ['a > b'] }), await walk(fixture, { edges: ['a > b'] })]
    for (const flow of flows) await flow.endTaken(await flow.take('a'))
    const held = {
      'the flow': stored.flows.lockingRows('no key update', { flow_id: stuck.uuid }),
      'a member': stored.executions.lockingRows('no key update', { execution_id: stuck.uuidOf('d') }),
    }
    const lock = await hold(url, held[of.held])
    expect(await resolvers[of.by](sql)).toBe(2)
    for (const flow of flows) expect(await flow.states()).toEqual({ a: 'completed', b: 'waiting' })
    expect(await resolvers[of.by](sql)).toBe(0)
    await lock.release()
    await settle(sql)
    expect(await stuck.row()).toMatchObject({ success_count: 3 })
    expect(await checkInvariants(sql)).toEqual([])
  },
)

test('EDGE-10 the dispatcher returns to the edges that were locked', async () => {
  const fixture = await setup()
  const flow = await walk(fixture, { edges: ['a > b'] })
  const lock = stored.flows.lockingRows('no key update', { flow_id: flow.uuid })
  const root = await hold(fixture.url, lock)
  await flow.endTaken(await flow.take('a'))
  await root.release()
  await fixture.dispatched()
  expect(await flow.states()).toEqual({ a: 'completed', b: 'waiting' })
})

test('EDGE-11 no lock outlives its hop: between two hops, others may lock everything', async () => {
  const fixture = await setup({ dispatch: false })
  const { sql, url } = fixture
  const other = await otherSide(url, false)
  const flow = await walk(fixture, { edges: Array.from({ length: 50 }, (_, index) => `a${index} > b${index}`) })
  for (let index = 0; index < 50; index += 1) {
    await flow.endTaken(await flow.take(`a${index}`))
    expect(await resolveFlows(sql, 1)).toMatchObject({ done: 1 })
    await other.sql.transaction(async (tx) => {
      for (const table of [stored.flows, stored.edgeGroups, stored.edges, stored.executions, stored.dispatches]) {
        await tx.script(`${table.lockingRows('update')} nowait`)
      }
    })
  }
})
