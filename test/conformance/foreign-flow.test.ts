import { expect, test } from 'vitest'
import { setup } from '../support/setup.ts'
import { edgeId, graph } from './flow-checks.ts'

test('the same calls find the flow when they are made for its namespace', async () => {
  const { engine } = await setup()
  const theirs = engine.as({ namespace: 'theirs' })
  const { flowId, members } = await theirs.flows.submitGraph(graph)
  expect(await theirs.flows.describe(flowId)).not.toBeNull()
  expect(await theirs.flows.graph(flowId)).not.toBeNull()
  expect(await theirs.flows.describeEdge(flowId, edgeId)).not.toBeNull()
  expect(await theirs.flows.getTag(flowId, 'team')).toBe('core')
  expect((await theirs.flows.list()).flows).toHaveLength(1)
  expect((await theirs.flows.edges(flowId)).edges).toHaveLength(1)
  expect((await theirs.flows.timeline(flowId)).events).toHaveLength(1)
  expect((await theirs.flows.upstreamResults(members['second']!)).results).toHaveLength(1)
  expect(await theirs.flows.eligibility(members['second']!)).toMatchObject({ kind: 'blocked_by_dependencies' })
})
