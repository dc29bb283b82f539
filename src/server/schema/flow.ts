import { z } from 'zod'
import { listEdgesFields } from '../../engine/flow/edges.ts'
import { listFlowsFields } from '../../engine/flow/list.ts'
import { upstreamResultsFields } from '../../engine/flow/upstream-results.ts'
import { pageFields } from '../../engine/kernel/page.ts'
import { id } from '../../model/field-kinds.ts'
import { requestOf, shapeOf } from './of-fields.ts'
import * as bounds from './bounds.ts'
import { edgeKinds } from '../../model/edge-group.ts'
import { publicStates } from '../../model/state.ts'
import { timelinePage } from './event.ts'
import { memberFields } from '../../engine/execution/create-request.ts'
import { cancelFlowFields } from '../../engine/flow/cancel.ts'
import { flowFields as flowRequestFields } from '../../engine/flow/flow-request.ts'
import { waitForFlowFields } from '../../engine/flow/wait.ts'
import { sealFields } from '../../engine/flow/seal.ts'
import { edge, edgeGroup, eligibility, graph, joinPolicyInput } from './flow-graph.ts'
import { answer, bytes, count, executionId, flowId, named, nextCursor, request, tags, time } from './words.ts'

const cancelPolicy = named('CancelPolicy', z.enum(['cancel_all', 'cancel_pending', 'flow_only']))
const flowState = named('FlowState', z.enum(['open', 'running', 'completed', 'failed', 'cancelled']))
const outcome = z.enum(['success', 'failed', 'cancelled', 'expired', 'skipped'])

const flowFields = {
  flowId,
  namespace: z.string(),
  kind: z.string(),
  state: flowState,
  rootFlowId: flowId,
  memberId: executionId.nullable(),
  creator: z.string(),
  graphRevision: count,
  memberCount: count,
  edgeCount: count,
  ended: answer({ completed: count, failed: count, cancelled: count, expired: count, skipped: count }),
  tags,
  cancellation: answer({
    policy: cancelPolicy,
    reason: z.string().nullable(),
    by: z.string().nullable(),
    at: time,
  }).nullable(),
  createdAt: time,
  lastMutationAt: time,
  closedAt: time.nullable(),
  endedAt: time.nullable(),
}

const flow = named('Flow', answer(flowFields))
const flowDetail = named(
  'FlowDetail',
  answer({
    ...flowFields,
    members: answer(Object.fromEntries(publicStates.map((state) => [state, count]))),
    groups: z.array(edgeGroup),
    hasMoreGroups: z.boolean(),
  }),
)

const traits = {
  edgeId: bounds.edgeId.optional(),
  kind: z.enum(edgeKinds).optional(),
  dataRef: bounds.dataRef.optional(),
}

const submittedFields = {
  flowId,
  members: z.record(z.string(), executionId),
  innerFlows: z.record(
    z.string(),
    z.lazy((): z.ZodType => submittedFlow),
  ),
}
const submittedFlow = named('SubmittedFlow', answer(submittedFields))
const revision = { graphRevision: count }
const byId = request({ flowId })

export const flowShapes = {
  create: {
    request: requestOf(flowRequestFields),
    answer: answer({ kind: z.enum(['created', 'duplicate']), flowId, ...revision }),
  },
  submitGraph: {
    request: request({ ...shapeOf(flowRequestFields), ...graph, stayOpen: z.boolean().optional() }),
    answer: answer({ kind: z.enum(['submitted', 'duplicate']), ...submittedFields, ...revision }),
  },
  addMember: {
    request: request({
      flowId,
      name: bounds.memberName.optional(),
      execution: requestOf(memberFields).optional(),
      executionId: executionId.optional(),
      after: z.array(request({ upstream: executionId, ...traits })).optional(),
      policy: joinPolicyInput.optional(),
      expectedRevision: bounds.revision.optional(),
    }),
    answer: answer({
      kind: z.enum(['added', 'already_member']),
      flowId,
      executionId,
      name: z.string(),
      ...revision,
      memberCount: count,
    }),
  },
  connect: {
    request: request({
      flowId,
      upstream: executionId,
      downstream: executionId,
      ...traits,
      policy: joinPolicyInput.optional(),
      expectedRevision: bounds.revision.optional(),
    }),
    answer: answer({ kind: z.enum(['connected', 'already_connected']), flowId, edgeId: z.string(), ...revision }),
  },
  seal: {
    request: requestOf(sealFields),
    answer: answer({ kind: z.enum(['sealed', 'already_sealed']), flowId, downstream: executionId, total: count }),
  },
  close: { request: byId, answer: answer({ kind: z.enum(['closed', 'already_closed']), flowId, ...revision }) },
  describe: { request: byId, answer: flowDetail },
  list: {
    request: requestOf(listFlowsFields),
    answer: answer({ flows: z.array(flow), nextCursor }),
  },
  graph: {
    request: requestOf({ flowId: id('flow'), ...pageFields }),
    answer: answer({
      flowId,
      ...revision,
      members: z.array(
        answer({
          executionId,
          name: z.string(),
          subFlowId: flowId.nullable(),
          kind: z.string(),
          lane: z.string(),
          publicState: z.enum(publicStates),
          generation: z.int(),
          startedAt: time.nullable(),
          endedAt: time.nullable(),
          reason: z.string().nullable(),
        }),
      ),
      edges: z.array(edge),
      groups: z.array(edgeGroup),
      nextCursor,
    }),
  },
  edges: {
    request: requestOf({ flowId: id('flow'), ...listEdgesFields }),
    answer: answer({ edges: z.array(edge), nextCursor }),
  },
  describeEdge: { request: request({ flowId, edgeId: bounds.edgeId }), answer: edge },
  upstreamResults: {
    request: requestOf({ executionId: id('execution'), ...upstreamResultsFields }),
    answer: answer({
      results: z.array(
        answer({
          edgeId: z.string(),
          name: z.string(),
          upstreamId: executionId,
          kind: z.enum(edgeKinds),
          state: z.enum(['pending', 'satisfied', 'failed', 'skipped']),
          outcome: outcome.nullable(),
          result: bytes.nullable(),
          encoding: z.string().nullable(),
        }),
      ),
      nextCursor,
    }),
  },
  eligibility: { request: request({ executionId }), answer: eligibility },
  wait: {
    request: requestOf({ flowId: id('flow'), ...waitForFlowFields }),
    answer: flowDetail,
  },
  timeline: { request: requestOf({ flowId: id('flow'), ...pageFields }), answer: timelinePage },
  setTag: { request: request({ flowId, key: bounds.tagKey, value: bounds.tagValue }), answer: null },
  getTag: { request: request({ flowId, key: bounds.tagKey }), answer: answer({ value: z.string().nullable() }) },
  cancel: {
    request: requestOf(cancelFlowFields),
    answer: answer({
      kind: z.enum(['cancelled', 'cancellation_scheduled', 'already_cancelled']),
      flowId,
      policy: cancelPolicy,
      reason: z.string().nullable(),
      memberCount: count,
      memberIds: z.array(executionId),
    }),
  },
}
