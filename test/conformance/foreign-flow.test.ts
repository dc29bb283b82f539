import { expect, test } from 'vitest'
import { factory } from '../support/factory.ts'
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

test('the same calls find it when they are made for its namespace', async () => {
  const { engine, sql } = await setup()
  const executionId = await factory(sql).active({ namespace: 'theirs', tags: { customer: 'c1' } })
  const theirs = engine.as({ namespace: 'theirs' })
  expect(await theirs.executions.describe(executionId)).not.toBeNull()
  expect(await theirs.executions.result(executionId)).not.toBeNull()
  expect(await theirs.executions.getTag(executionId, 'customer')).toBe('c1')
  expect(await theirs.executions.getNamespace(executionId)).toBe('theirs')
  expect((await theirs.executions.list()).executions).toHaveLength(1)
  expect(await theirs.executions.cancel({ executionId })).toMatchObject({ kind: 'cancelled' })
})
