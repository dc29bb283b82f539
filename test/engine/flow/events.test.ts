import { expect, test } from 'vitest'
import { encodeEventCursor } from '../../../src/engine/event/cursor.ts'
import { mintFlowId } from '../../../src/model/id.ts'
import { setup } from '../../support/setup.ts'
import { eventsOf, subscriber, take } from '../event/subscriber.ts'
import { complete } from './worked.ts'

const chain = {
  kind: 'k',
  members: ['a', 'b'].map((name) => ({ name, kind: name })),
  edges: [{ upstream: 'a', downstream: 'b' }],
}
const lone = { kind: 'lone', members: [{ name: 'x', kind: 'x' }] }
const happened = ['flow_created', 'acquired', 'ended', 'unblocked', 'acquired', 'ended', 'flow_ended']

test.each(['from now on', 'from a cursor'])(
  'SUB-05 a subscription to a flow receives its events and those of its members, and no others, %s',
  async (since) => {
    const { engine, sql } = await setup()
    const flowId = mintFlowId()
    const beginning = encodeEventCursor(0)
    const open = () => subscriber(sql)({ flowId, ...(since === 'from a cursor' && { after: beginning }) })
    const early = since === 'from now on' ? await open() : null
    await engine.flows.submitGraph(lone)
    const { members } = await engine.flows.submitGraph({ ...chain, flowId })
    await engine.executions.create({ kind: 'alone' })
    await complete(engine, 'x')
    await complete(engine, 'a')
    await complete(engine, 'alone')
    await complete(engine, 'b')
    const events = eventsOf(await take(early ?? (await open()), happened.length))
    expect(events.map((event) => event.kind)).toEqual(happened)
    expect(new Set(events.map((event) => event.flowId))).toEqual(new Set([flowId]))
    const ends = events.filter((event) => event.kind === 'ended')
    expect(ends).toMatchObject([
      { executionId: members['a'], outcome: 'success' },
      { executionId: members['b'], outcome: 'success' },
    ])
  },
)

test('the timeline of a flow has its events, oldest first, in pages', async () => {
  const { engine } = await setup()
  const { flowId } = await engine.flows.submitGraph(chain)
  await complete(engine, 'a')
  await complete(engine, 'b')
  await engine.flows.wait(flowId)
  const { events, nextCursor } = await engine.flows.timeline(flowId)
  expect(events.map((event) => event.kind)).toEqual(['flow_created', 'flow_ended'])
  expect(nextCursor).toBeNull()
  const first = await engine.flows.timeline(flowId, { limit: 1 })
  const second = await engine.flows.timeline(flowId, { limit: 1, cursor: first.nextCursor! })
  expect(second.events).toMatchObject([{ kind: 'flow_ended', flowId, outcome: 'success' }])
  expect(await engine.flows.timeline(mintFlowId())).toEqual({ events: [], nextCursor: null })
})
