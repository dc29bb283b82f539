// An operation that ends a run indirectly notifies its holder as a cancel of the run does. On Postgres another engine
// performs it, as in another process; over HTTP, a server's engine.
import { expect, inject, test } from 'vitest'
import type { Engine } from '../../src/engine/contract.ts'
import type { GraphRequest } from '../../src/engine/flow/graph-request.ts'
import type { FlowId } from '../../src/model/id.ts'
import { setup, type Fixture } from '../support/setup.ts'
import { holding, type Holding } from './holding.ts'

const fast = { interval: 10 }

test('a cancel of a flow costs the holder one query, and leaves a run outside of the flow alone', async () => {
  const fixture = await setup()
  let flowId!: FlowId
  const held = await holding(fixture, 3, async (engine) => {
    flowId = await submit(engine, { kind: 'flow', members: [member('a'), member('b')] })
    await engine.executions.create({ kind: 'other' })
  })
  await otherEngine(fixture, held).flows.cancel({ flowId })
  await expect.poll(() => lost(held), fast).toEqual([true, true, false])
  expect(held.checks).toEqual([3])
})

test('the holder notices the cancel of a flow with more members than a hint names', async () => {
  const fixture = await setup()
  const names = Array.from({ length: 60 }, (_, number) => `m${number}`)
  let flowId!: FlowId
  const held = await holding(fixture, names.length, async (engine) => {
    flowId = await submit(engine, { kind: 'flow', members: names.map(member) })
  })
  await otherEngine(fixture, held).flows.cancel({ flowId })
  await expect.poll(() => lost(held).every(Boolean), fast).toBe(true)
})

test('a group that has fired notifies the holders of its siblings', async () => {
  const fixture = await setup()
  const held = await holding(fixture, 3, (engine) =>
    submit(engine, {
      kind: 'flow',
      members: [member('a'), member('b'), member('c'), member('join')],
      edges: ['a', 'b', 'c'].map((upstream) => ({ upstream, downstream: 'join' })),
      groups: [{ downstream: 'join', policy: { kind: 'any_of' } }],
    }),
  )
  await otherEngine(fixture, held).executions.complete(held.held[0]!.fence)
  await expect.poll(() => lost(held).slice(1), fast).toEqual([true, true])
})

test('the ending of a parent notifies the holders of its children', async () => {
  const fixture = await setup()
  const held = await holding(fixture, 2, async (engine) => {
    const { executionId: parentId } = await engine.executions.create({ kind: 'parent', lane: 'parents' })
    await engine.executions.create({ kind: 'child', parentId })
    await engine.executions.create({ kind: 'other' })
  })
  const { executions } = otherEngine(fixture, held)
  const { executions: parents } = await executions.list({ lane: 'parents' })
  await executions.cancel({ executionId: parents[0]!.executionId })
  await expect.poll(() => lost(held), fast).toEqual([true, false])
  expect(held.checks).toEqual([2])
})

test('a firing that replaces the previous run notifies its holder', async () => {
  const fixture = await setup()
  const scheduleId = 'nightly'
  const held = await holding(fixture, 1, async ({ schedules }) => {
    await schedules.put({ scheduleId, cron: '0 3 * * *', kind: 'held', overlap: 'cancelPrevious' })
    await schedules.trigger({ scheduleId })
  })
  await otherEngine(fixture, held).schedules.trigger({ scheduleId })
  await expect.poll(() => lost(held), fast).toEqual([true])
})

test('a deadline that ends a run notifies its holder', async () => {
  const fixture = await setup()
  const held = await holding(fixture, 1, (engine) => engine.executions.create({ kind: 'held', deadline: '5s' }))
  await fixture.clock.advance('6s')
  const supervisor = held.open.supervisor({})
  supervisor.start()
  await expect.poll(() => lost(held), fast).toEqual([true])
  await supervisor.stop()
})

function member(name: string) {
  return { name, kind: 'held' }
}

async function submit({ flows }: Engine, graph: GraphRequest): Promise<FlowId> {
  return (await flows.submitGraph(graph)).flowId
}

function otherEngine({ engine }: Fixture, { open }: Holding): Engine {
  return inject('backend') === 'embedded' ? open.engine : engine
}

function lost({ held }: Holding): boolean[] {
  return held.map((lease) => lease.isLost)
}
