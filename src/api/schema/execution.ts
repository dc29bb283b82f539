import { z } from 'zod'
import { claim, execution, explanation } from './execution-detail.ts'
import { heldShapes } from './execution-held.ts'
import { policyInput } from './policy.ts'
import {
  answer,
  bytes,
  count,
  duration,
  executionId,
  flowId,
  named,
  nextCursor,
  page,
  publicState,
  request,
  set,
  setAnswer,
  tags,
  time,
} from './words.ts'
import { publicStates } from '../../model/state.ts'

/** What a member of a flow and a schedule say of an execution too. */
export const executionFields = {
  kind: z.string(),
  lane: z.string().optional(),
  version: z.string().optional(),
  payload: bytes.optional(),
  payloadEncoding: z.string().optional().describe('Defaults to `json`.'),
  priority: z.int().optional().describe('0 to 9000, high first.'),
  deadline: duration.optional(),
  requiredCapabilities: z.array(z.string()).optional(),
  tags: tags.optional(),
  policy: policyInput.optional(),
}

export const memberFields = {
  ...executionFields,
  executionId: executionId.optional(),
  delay: duration.optional(),
  delayUntil: time.optional(),
  deadlineAt: time.optional(),
  creator: z.string().optional(),
  idempotencyKey: z.string().optional(),
  idempotencyTtl: duration.optional(),
}

const create = request({
  ...memberFields,
  namespace: z.string().optional(),
  parentId: executionId.optional(),
  onParentEnd: z.enum(['cancel', 'detach']).optional(),
})

const created = named(
  'CreateResult',
  z.union([
    answer({
      kind: z.literal('created'),
      executionId,
      publicState,
      adjusted: answer({ priority: answer({ given: z.number(), used: z.int() }) }).optional(),
    }),
    answer({ kind: z.literal('duplicate'), executionId, publicState }),
  ]),
)

const cancel = request({
  executionId,
  reason: z.string().optional(),
  grace: duration.optional(),
  leaseId: z.string().optional(),
  leaseEpoch: z.int().optional(),
})

const cancelled = named(
  'CancelResult',
  z.union([
    answer({ kind: z.literal('cancelled'), executionId, from: publicState }),
    answer({ kind: z.literal('already_cancelled'), executionId }),
    answer({ kind: z.literal('cancel_requested'), executionId, deadlineAt: time }),
  ]),
)

const resume = request({
  executionId,
  delay: duration.optional(),
  reason: z.string().optional(),
  requestId: z.string().optional(),
})
const resumed = named('Resumed', answer({ kind: z.literal('resumed'), executionId, delayUntil: time.nullable() }))

const replay = request({
  executionId,
  reason: z.string().optional(),
  from: z.union([z.string(), request({ name: z.string(), index: z.int().optional() })]).optional(),
  requestId: z.string().optional(),
})

const replayed = named(
  'Replayed',
  answer({
    kind: z.literal('replayed'),
    executionId,
    generation: z.int(),
    replayCount: count,
    from: publicState,
    deadlineAt: time.nullable(),
    deadlineDropped: z.boolean(),
    reopened: z.array(executionId).optional(),
  }),
)

const filter = { namespace: z.string().optional(), lane: z.string().optional(), kind: z.string().optional() }
const worker = { workerId: z.string(), workerInstanceId: z.string() }
const served = {
  kinds: z.array(z.string()).optional().describe('Left out: any kind.'),
  versions: z.array(z.string()).optional().describe('Besides executions that need none. Left out: only those.'),
  capabilities: z.array(z.string()).optional().describe('Left out: none.'),
}
const byId = request({ executionId })
export const stateCount = named('StateCount', answer({ count, orMore: z.boolean() }), 'So many, or so many or more.')

export const executionShapes = {
  create: { request: create, answer: created },
  createMany: { request: set(create), answer: setAnswer(created) },
  claim: {
    request: request({
      ...worker,
      lanes: z.array(z.string()),
      namespaces: z.array(z.string()).optional(),
      ...served,
      max: z.int().optional().describe('1 to 10,000; defaults to 1.'),
      leaseTtl: duration.optional(),
      wait: duration.optional().describe('How long to wait when there is nothing, a minute at most.'),
      spread: duration.optional().describe('A hint is followed after a random share of this.'),
    }),
    answer: answer({ claims: z.array(claim), more: z.boolean() }),
  },
  grant: {
    request: request({ executionId, ...worker, ...served, ttl: duration.optional() }),
    answer: answer({ kind: z.literal('granted'), executionId, grantId: z.string(), expiresAt: time }),
  },
  claimById: {
    request: request({ executionId, grantId: z.string(), ...worker, ...served, leaseTtl: duration.optional() }),
    answer: claim,
  },
  ...heldShapes,
  cancel: { request: cancel, answer: cancelled },
  cancelMany: { request: set(cancel), answer: setAnswer(cancelled) },
  resume: { request: resume, answer: resumed },
  resumeMany: { request: set(resume), answer: setAnswer(resumed) },
  replay: { request: replay, answer: replayed },
  replayMany: { request: set(replay), answer: setAnswer(replayed) },
  changePriority: {
    request: request({ executionId, priority: z.int() }),
    answer: answer({ kind: z.literal('priority_changed'), executionId, from: z.int(), to: z.int() }),
  },
  describe: { request: byId, answer: execution },
  explain: { request: byId, answer: explanation },
  result: {
    request: request({ executionId, wait: duration.optional().describe('For its ending, a minute at most.') }),
    answer: z.union([
      answer({ kind: z.literal('pending'), publicState }),
      answer({ kind: z.literal('completed'), result: bytes.nullable(), encoding: z.string().nullable() }),
      answer({ kind: z.enum(['failed', 'cancelled', 'expired', 'skipped']), reason: z.string().nullable() }),
    ]),
  },
  input: { request: byId, answer: answer({ payload: bytes.nullable(), encoding: z.string().nullable() }) },
  list: {
    request: request({
      ...filter,
      state: publicState.optional(),
      tag: request({ key: z.string(), value: z.string() }).optional(),
      parentId: executionId.optional(),
      partition: z.union([z.string(), z.int()]).optional().describe('`{fp:7}` or 7.'),
      ...page,
    }),
    answer: answer({ executions: z.array(execution), nextCursor }),
  },
  countByState: {
    request: request({ ...filter, exact: z.boolean().optional() }),
    answer: answer(Object.fromEntries(publicStates.map((state) => [state, stateCount]))),
  },
  resolveFlowId: { request: byId, answer: answer({ flowId: flowId.nullable() }) },
  getNamespace: { request: byId, answer: answer({ namespace: z.string().nullable() }) },
  setTag: { request: request({ executionId, key: z.string(), value: z.string() }), answer: null },
  getTag: { request: request({ executionId, key: z.string() }), answer: answer({ value: z.string().nullable() }) },
}
