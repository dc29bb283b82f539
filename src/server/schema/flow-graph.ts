// Members, edges, and the policies of edge groups.
import { z } from 'zod'
import * as bounds from './bounds.ts'
import { edgeKinds, onSatisfiedWords } from '../../model/edge-group.ts'
import { limits } from '../../model/limits.ts'
import { eligibilityStates, publicStates } from '../../model/state.ts'
import { memberFields } from '../../engine/execution/create-request.ts'
import { shapeOf } from './of-fields.ts'
import { answer, count, executionId, flowId, named, request, tags, time } from './words.ts'

const onSatisfied = z.enum(onSatisfiedWords)

export const joinPolicyInput = named(
  'JoinPolicyInput',
  z.union([
    request({ kind: z.literal('all_of'), onSatisfied: onSatisfied.optional() }),
    request({ kind: z.literal('any_of'), onSatisfied: onSatisfied.optional() }),
    request({
      kind: z.literal('quorum'),
      k: z.int().min(1).max(limits.flowEdgeCount),
      onSatisfied: onSatisfied.optional(),
    }),
  ]),
  'How many of its edges a member waits for.',
)

const joinPolicy = z.union([
  answer({ kind: z.enum(['all_of', 'any_of']), onSatisfied }),
  answer({ kind: z.literal('quorum'), k: z.int(), onSatisfied }),
])

const graphEdge = request({
  upstream: bounds.memberName,
  downstream: bounds.memberName,
  edgeId: bounds.edgeId.optional(),
  kind: z.enum(edgeKinds).optional(),
  dataRef: bounds.dataRef.optional(),
})

const graphMember = named(
  'GraphMember',
  request({
    name: bounds.memberName,
    ...shapeOf(memberFields),
    kind: bounds.kind.optional().describe('For an execution; a nested flow has its own.'),
    flow: z.lazy((): z.ZodType => innerFlow).optional(),
  }),
)

export const graph = {
  members: z.array(graphMember).min(1).max(limits.flowMemberCount),
  edges: z.array(named('GraphEdge', graphEdge)).optional(),
  groups: z.array(named('GraphGroup', request({ downstream: bounds.memberName, policy: joinPolicyInput }))).optional(),
}

const innerFlow = named('InnerFlow', request({ kind: bounds.kind, tags: tags.optional(), ...graph }))

export const edge = named(
  'Edge',
  answer({
    flowId,
    edgeId: z.string(),
    upstreamId: executionId,
    downstreamId: executionId,
    kind: z.enum([...edgeKinds, 'start']),
    state: z.enum(['pending', 'satisfied', 'failed', 'skipped']),
    resolvedGeneration: z.int().nullable(),
    dataRef: z.string().nullable(),
    createdAt: time,
    createdBy: z.string(),
  }),
)

export const edgeGroup = named(
  'EdgeGroup',
  answer({
    downstreamId: executionId,
    policy: joinPolicy,
    state: z.enum(['pending', 'satisfied', 'impossible']),
    isSealed: z.boolean(),
    total: count,
    satisfied: count,
    failed: count,
    skipped: count,
    running: count,
    firedAt: time.nullable(),
  }),
)

export const eligibility = named(
  'Eligibility',
  z.union([
    answer({ kind: z.enum(['eligible', 'not_found']) }),
    answer({ kind: z.literal('not_runnable'), publicState: z.enum(publicStates) }),
    answer({
      kind: z.literal('terminal'),
      outcome: z.enum(['success', 'failed', 'cancelled', 'expired', 'skipped']),
    }),
    answer({ kind: z.literal('owned'), workerInstanceId: z.string(), until: time }),
    answer({ kind: z.literal('held'), by: z.enum(eligibilityStates), until: time.nullable() }),
    answer({ kind: z.literal('blocked_by_dependencies'), group: edgeGroup.nullable() }),
    answer({ kind: z.literal('impossible'), group: edgeGroup }),
  ]),
)
