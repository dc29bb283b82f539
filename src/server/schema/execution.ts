import { z } from 'zod'
import { changePriorityRequest } from '../../engine/execution/change-priority.ts'
import { claimByIdFields } from '../../engine/execution/claim-by-id.ts'
import { claimFields } from '../../engine/execution/claimer.ts'
import { cancelFields } from '../../engine/execution/cancel.ts'
import { createFields } from '../../engine/execution/create-request.ts'
import { resultFields } from '../../engine/execution/result.ts'
import { id } from '../../model/field-kinds.ts'
import { countFields } from '../../engine/execution/count.ts'
import { grantRequest } from '../../engine/execution/grant.ts'
import * as bounds from './bounds.ts'
import { claim, execution, explanation } from './execution-detail.ts'
import { heldShapes } from './execution-held.ts'
import { listFields } from '../../engine/execution/list.ts'
import { replayRequest } from '../../engine/execution/replay-request.ts'
import { resumeRequest } from '../../engine/execution/resume.ts'
import { requestOf, written } from './of-fields.ts'
import { applied } from './policy.ts'
import {
  answer,
  bytes,
  count,
  executionId,
  flowId,
  named,
  nextCursor,
  plainAnswer,
  publicState,
  request,
  set,
  setAnswer,
  time,
} from './words.ts'
import { publicStates } from '../../model/state.ts'

const create = requestOf(createFields)

const created = named(
  'CreateResult',
  z.union([
    answer({
      kind: z.literal('created'),
      executionId,
      publicState,
      adjusted: answer({ priority: answer({ given: z.number(), used: z.int() }) }).optional(),
      applied: applied.optional(),
    }),
    answer({ kind: z.literal('duplicate'), executionId, publicState }),
  ]),
)

const cancel = requestOf(cancelFields)

const cancelled = named(
  'CancelResult',
  z.union([
    answer({ kind: z.literal('cancelled'), executionId, from: publicState }),
    answer({ kind: z.literal('already_cancelled'), executionId }),
    answer({ kind: z.literal('cancel_requested'), executionId, deadlineAt: time }),
  ]),
)

const resume = requestOf(resumeRequest.fields)
const resumed = named('Resumed', answer({ kind: z.literal('resumed'), executionId, delayUntil: time.nullable() }))

written(
  'replayFrom',
  z.union([bounds.stepName, request({ name: bounds.stepName, index: bounds.stepIndex.optional() })]),
)
const replay = requestOf(replayRequest.fields)

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

const byId = request({ executionId })
export const stateCount = named('StateCount', answer({ count, orMore: z.boolean() }), 'So many, or so many or more.')

export const executionShapes = {
  create: { request: create, answer: created },
  createMany: { request: set(create), answer: setAnswer(created) },
  claim: {
    request: requestOf(claimFields),
    answer: answer({ claims: z.array(claim), more: z.boolean() }),
  },
  grant: {
    request: requestOf(grantRequest.fields),
    answer: answer({ kind: z.literal('granted'), executionId, grantId: z.string(), expiresAt: time }),
  },
  claimById: {
    request: requestOf(claimByIdFields),
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
    request: requestOf(changePriorityRequest.fields),
    answer: answer({ kind: z.literal('priority_changed'), executionId, from: z.int(), to: z.int() }),
  },
  describe: { request: byId, answer: execution },
  explain: { request: byId, answer: explanation },
  result: {
    request: requestOf({ executionId: id('execution'), ...resultFields }),
    answer: z.union([
      answer({ kind: z.literal('pending'), publicState }),
      answer({
        kind: z.literal('completed'),
        result: bytes.nullable(),
        encoding: z.string().nullable(),
        output: plainAnswer,
      }),
      answer({ kind: z.enum(['failed', 'cancelled', 'expired', 'skipped']), reason: z.string().nullable() }),
    ]),
  },
  input: {
    request: byId,
    answer: answer({ payload: bytes.nullable(), encoding: z.string().nullable(), input: plainAnswer }),
  },
  list: {
    request: requestOf(listFields),
    answer: answer({ executions: z.array(execution), nextCursor }),
  },
  countByState: {
    request: requestOf(countFields),
    answer: answer(Object.fromEntries(publicStates.map((state) => [state, stateCount]))),
  },
  resolveFlowId: { request: byId, answer: answer({ flowId: flowId.nullable() }) },
  getNamespace: { request: byId, answer: answer({ namespace: z.string().nullable() }) },
  setTag: { request: request({ executionId, key: bounds.tagKey, value: bounds.tagValue }), answer: null },
  getTag: { request: request({ executionId, key: bounds.tagKey }), answer: answer({ value: z.string().nullable() }) },
}
