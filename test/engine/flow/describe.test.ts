import { expect, test } from 'vitest'
import { resolveFlows } from '../../../src/engine/dispatch/sets.ts'
import { mintFlowId } from '../../../src/model/id.ts'
import { publicStates, type PublicState } from '../../../src/model/state.ts'
import { setup } from '../../support/setup.ts'
import { complete, fail, fenceOf, hold } from './worked.ts'

const none = Object.fromEntries(publicStates.map((state) => [state, 0])) as Record<PublicState, number>

test('FLOW-20 a flow is described with its counts, times, tags and groups; an unknown one is null', async () => {
  const { engine, clock } = await setup()
  await clock.freeze()
  const now = await clock.now()
  const { flowId, members } = await engine.as({ actor: 'ada' }).flows.submitGraph({
    kind: 'release',
    namespace: 'tenant-a',
    tags: { team: 'core', app: 'shop' },
    members: ['a', 'b', 'c', 'd'].map((name) => ({ name, kind: name })),
    edges: [
      { upstream: 'a', downstream: 'd' },
      { upstream: 'b', downstream: 'd' },
      { upstream: 'c', downstream: 'd' },
    ],
    groups: [{ downstream: 'd', policy: { kind: 'quorum', k: 2, onSatisfied: 'let_run' } }],
  })
  expect(await engine.flows.describe(flowId)).toEqual({
    flowId,
    namespace: 'tenant-a',
    kind: 'release',
    state: 'open',
    rootFlowId: flowId,
    memberId: null,
    creator: 'ada',
    graphRevision: 1,
    memberCount: 4,
    edgeCount: 3,
    ended: { completed: 0, failed: 0, cancelled: 0, expired: 0, skipped: 0 },
    members: { ...none, waiting: 3, waiting_children: 1 },
    tags: { app: 'shop', team: 'core' },
    cancellation: null,
    createdAt: now,
    lastMutationAt: now,
    closedAt: now,
    endedAt: null,
    groups: [
      {
        downstreamId: members['d'],
        policy: { kind: 'quorum', k: 2, onSatisfied: 'let_run' },
        state: 'pending',
        isSealed: true,
        total: 3,
        satisfied: 0,
        failed: 0,
        skipped: 0,
        running: 3,
        firedAt: null,
      },
    ],
    hasMoreGroups: false,
  })
  expect(await engine.flows.describe(mintFlowId())).toBeNull()
  await clock.reset()
})

test('FLOW-33 a flow sums up its members by state, exactly, and is running as soon as one has started', async () => {
  const { engine } = await setup()
  const { flowId } = await engine.flows.submitGraph({
    kind: 'mixed',
    members: [
      { name: 'waits', kind: 'waits' },
      { name: 'later', kind: 'later', delay: '1h' },
      { name: 'runs', kind: 'runs' },
      { name: 'parked', kind: 'parked' },
      { name: 'works', kind: 'works' },
      { name: 'breaks', kind: 'breaks' },
      { name: 'dropped', kind: 'dropped' },
      { name: 'last', kind: 'last' },
    ],
    edges: [
      { upstream: 'waits', downstream: 'last' },
      { upstream: 'runs', downstream: 'last' },
    ],
  })
  const read = async () => {
    const { state, members } = (await engine.flows.describe(flowId))!
    return { state, members }
  }
  expect(await read()).toEqual({ state: 'open', members: { ...none, waiting: 6, delayed: 1, waiting_children: 1 } })

  await hold(engine, 'runs')
  expect(await read()).toEqual({
    state: 'running',
    members: { ...none, waiting: 5, active: 1, delayed: 1, waiting_children: 1 },
  })

  await engine.executions.suspend({ ...fenceOf(await hold(engine, 'parked')), condition: { kind: 'operator' } })
  await complete(engine, 'works')
  await fail(engine, 'breaks')
  const { members } = (await engine.flows.graph(flowId))!
  const dropped = members.find(({ name }) => name === 'dropped')!
  await engine.executions.cancel({ executionId: dropped.executionId })
  expect(await read()).toEqual({
    state: 'running',
    members: {
      ...none,
      waiting: 1,
      active: 1,
      delayed: 1,
      suspended: 1,
      waiting_children: 1,
      completed: 1,
      failed: 1,
      cancelled: 1,
    },
  })
})

test('FLOW-33 a flow is running when something within one of its inner flows has started', async () => {
  const { engine } = await setup()
  const inner = {
    kind: 'inner',
    members: [{ name: 'deep', flow: { kind: 'deep', members: [{ name: 'x', kind: 'x' }] } }],
  }
  const { flowId, innerFlows } = await engine.flows.submitGraph({
    kind: 'outer',
    members: [{ name: 'in', flow: inner }],
  })
  const stateOf = async (id: typeof flowId) => (await engine.flows.describe(id))!.state
  expect(await stateOf(flowId)).toBe('open')
  await hold(engine, 'x')
  expect(await stateOf(flowId)).toBe('running')
  const within = innerFlows['in']!
  expect(await stateOf(within.flowId)).toBe('running')
  const deepest = await engine.flows.describe(within.innerFlows['deep']!.flowId)
  expect(deepest).toMatchObject({ state: 'running', rootFlowId: flowId, memberId: within.members['deep'] })
})

test('an ending is counted once: before it is resolved, after, and when an edge is added to it later', async () => {
  const { engine, sql } = await setup({ dispatch: false })
  const { flowId, members } = await engine.flows.submitGraph({
    kind: 'grows',
    stayOpen: true,
    members: ['a', 'b'].map((name) => ({ name, kind: name })),
  })
  const completed = async () => {
    const flow = (await engine.flows.describe(flowId))!
    return [flow.ended.completed, flow.members.completed]
  }
  await complete(engine, 'a')
  expect(await completed()).toEqual([1, 1])
  await resolveFlows(sql, 100)
  expect(await completed()).toEqual([1, 1])
  await engine.flows.connect({ flowId, upstream: members['a']!, downstream: members['b']! })
  expect(await completed()).toEqual([1, 1])
  await resolveFlows(sql, 100)
  expect(await completed()).toEqual([1, 1])
  expect(await engine.flows.describe(flowId)).toMatchObject({
    state: 'running',
    graphRevision: 2,
    members: { waiting: 1 },
  })
})
