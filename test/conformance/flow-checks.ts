// The operations on flows, for the flow of another namespace.
import { expect } from 'vitest'
import { formatExecutionId, parseExecutionId, parseFlowId, type ExecutionId, type FlowId } from '../../src/model/id.ts'
import { refusal } from '../support/refusal.ts'
import { isNull, refusedAs, type Check } from './foreign.ts'

export const edgeId = '0190a000-0000-7000-8000-0000000000ed'

export const graph = {
  kind: 'pipeline',
  stayOpen: true,
  members: [
    { name: 'first', kind: 'anything' },
    { name: 'second', kind: 'anything' },
  ],
  edges: [{ edgeId, upstream: 'first', downstream: 'second' }],
  tags: { team: 'core' },
}

export const flowChecks: Readonly<Record<string, Check>> = {
  'flows.describe': isNull((engine, { flow: { flowId } }) => engine.flows.describe(flowId)),
  'flows.list': async (engine, { flow: { flowId } }) => {
    const partition = flowId.slice(0, flowId.indexOf('}') + 1)
    for (const request of [{}, { namespace: 'theirs' }, { partition }]) {
      expect((await engine.flows.list(request)).flows).toEqual([])
    }
  },
  'flows.graph': isNull((engine, { flow: { flowId } }) => engine.flows.graph(flowId)),
  'flows.edges': async (engine, { flow: { flowId, members } }) => {
    for (const request of [{}, { from: members['first']! }, { to: members['second']! }]) {
      expect((await engine.flows.edges(flowId, request)).edges).toEqual([])
    }
  },
  'flows.describeEdge': isNull((engine, { flow: { flowId } }) => engine.flows.describeEdge(flowId, edgeId)),
  'flows.upstreamResults': refusedAs('execution_not_found', (engine, { flow: { members } }) =>
    engine.flows.upstreamResults(members['second']!),
  ),
  'flows.eligibility': async (engine, { flow: { members } }) => {
    expect(await engine.flows.eligibility(members['second']!)).toEqual({ kind: 'not_found' })
  },
  'flows.wait': refusedAs('flow_not_found', (engine, { flow: { flowId } }) => engine.flows.wait(flowId)),
  'flows.timeline': async (engine, { flow: { flowId } }) => {
    expect((await engine.flows.timeline(flowId)).events).toEqual([])
  },
  'flows.setTag': refusedAs('flow_not_found', (engine, { flow: { flowId } }) => engine.flows.setTag(flowId, 'k', 'v')),
  'flows.getTag': isNull((engine, { flow: { flowId } }) => engine.flows.getTag(flowId, 'team')),
  'flows.create': refusedAs('flow_id_taken', (engine, { flow: { flowId } }) =>
    engine.flows.create({ flowId, kind: 'pipeline' }),
  ),
  'flows.addMember': async (engine, { flow: { flowId }, waitingId }) => {
    await refusal('flow_not_found', engine.flows.addMember({ flowId, execution: { kind: 'anything' } }))
    await refusal('flow_not_found', engine.flows.addMember({ flowId, executionId: inFlow(flowId, waitingId) }))
  },
  'flows.connect': refusedAs('flow_not_found', (engine, { flow: { flowId, members } }) =>
    engine.flows.connect({ flowId, upstream: members['first']!, downstream: members['second']! }),
  ),
  'flows.seal': refusedAs('flow_not_found', (engine, { flow: { flowId, members } }) =>
    engine.flows.seal({ flowId, downstream: members['second']! }),
  ),
  'flows.close': refusedAs('flow_not_found', (engine, { flow: { flowId } }) => engine.flows.close({ flowId })),
  'flows.cancel': refusedAs('flow_not_found', (engine, { flow: { flowId } }) => engine.flows.cancel({ flowId })),
  'flows.submitGraph': refusedAs('flow_id_taken', (engine, { flow: { flowId } }) =>
    engine.flows.submitGraph({ ...graph, flowId }),
  ),
}

/** An id that a member could have. */
function inFlow(flowId: FlowId, executionId: ExecutionId): ExecutionId {
  return formatExecutionId(parseFlowId(flowId).partition, parseExecutionId(executionId).uuid)
}
