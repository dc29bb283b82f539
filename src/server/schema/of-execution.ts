// The nouns of an execution: its lease, attempts, steps and waitpoints.
import { z } from 'zod'
import { describeLinkFields } from '../../engine/waiting/waitpoint/describe-link.ts'
import { linkFields } from '../../engine/waiting/waitpoint/link.ts'
import { revokeRequest } from '../../engine/lease/revoke.ts'
import { recordStepRequest } from '../../engine/step/record-request.ts'
import { createWaitpointRequest } from '../../engine/waiting/waitpoint/create.ts'
import { namespacePageFields, pageFields } from '../../engine/kernel/page.ts'
import { id } from '../../model/field-kinds.ts'
import { requestOf } from './of-fields.ts'
import { stepKinds, stepStates } from '../../model/step.ts'
import { suspensionReasons, waitpointStates } from '../../model/suspension.ts'
import { leaseAnswer, leases } from './execution-held.ts'
import { failureCategory } from './policy.ts'
import {
  answer,
  bytes,
  count,
  executionId,
  fence,
  milliseconds,
  named,
  nextCursor,
  plainAnswer,
  request,
  set,
  setAnswer,
  time,
  waitpointId,
} from './words.ts'

export const leaseShapes = {
  revoke: {
    request: requestOf(revokeRequest.fields),
    answer: z.union([
      answer({ kind: z.literal('revoked'), executionId, leaseId: z.string(), leaseEpoch: z.int() }),
      answer({ kind: z.literal('cancelled'), executionId }),
      answer({
        kind: z.literal('not_held'),
        executionId,
        why: z.enum([
          'already_revoked',
          'ended',
          'never_claimed',
          'no_active_lease',
          'different_worker_instance_id',
          'lease_id_mismatch',
        ]),
      }),
    ]),
  },
  check: { request: request({ leases }), answer: answer({ leases: z.array(leaseAnswer) }) },
  listExpired: {
    request: requestOf(namespacePageFields),
    answer: answer({
      leases: z.array(answer({ ...fence, attemptIndex: z.int(), workerInstanceId: z.string(), expiresAt: time })),
      nextCursor,
    }),
  },
}

const attempt = named(
  'Attempt',
  answer({
    attemptIndex: z.int(),
    generation: z.int(),
    type: z.enum(['initial', 'retry', 'replay']),
    outcome: z.string(),
    startedAt: time,
    endedAt: time.nullable(),
    leaseId: z.string().nullable(),
    leaseEpoch: z.int(),
    workerId: z.string().nullable(),
    workerInstanceId: z.string().nullable(),
    failureReason: z.string().nullable(),
    failureCategory: failureCategory.nullable(),
    error: bytes.nullable(),
    errorEncoding: z.string().nullable(),
  }),
)

const ofExecution = requestOf({ executionId: id('execution'), ...pageFields })

export const attemptShapes = {
  list: { request: ofExecution, answer: answer({ attempts: z.array(attempt), nextCursor }) },
}

const record = requestOf(recordStepRequest.fields)

const recorded = named(
  'StepRecorded',
  answer({ kind: z.literal('step_recorded'), executionId, recordedAt: time, dueAt: time.nullable() }),
)

const step = named(
  'Step',
  answer({
    number: count,
    recordNumber: count,
    place: count,
    name: z.string(),
    index: count,
    kind: z.enum(stepKinds),
    state: z.enum(stepStates),
    tryCount: count,
    attemptIndex: z.int(),
    leaseEpoch: z.int(),
    recordedAt: time,
    dueAt: time.nullable(),
    durationMs: milliseconds.nullable(),
    originId: z.string().nullable(),
    madeRecordNumber: z.number().int().nullable(),
    result: bytes.nullable(),
    resultEncoding: z.string().nullable(),
    output: plainAnswer,
  }),
)

export const stepShapes = {
  record: { request: record, answer: recorded },
  recordMany: { request: set(record), answer: setAnswer(recorded) },
  list: { request: ofExecution, answer: answer({ steps: z.array(step), nextCursor }) },
}

const waitpoint = named(
  'Waitpoint',
  answer({
    waitpointId,
    executionId,
    key: z.string(),
    state: z.enum(waitpointStates),
    requiredSignalNames: z.array(z.string()),
    signalCount: count,
    createdAt: time,
    activatedAt: time.nullable(),
    expiresAt: time.nullable(),
    tokenKid: z.string(),
    tokenFingerprint: z.string().nullable(),
  }),
)

export const waitpointShapes = {
  create: {
    request: requestOf(createWaitpointRequest.fields),
    answer: answer({
      kind: z.literal('waitpoint_created'),
      executionId,
      waitpointId,
      key: z.string(),
      token: z.string(),
      expiresAt: time.nullable(),
    }),
  },
  list: { request: ofExecution, answer: answer({ waitpoints: z.array(waitpoint), nextCursor }) },
  readToken: {
    request: requestOf({ waitpointId: id('waitpoint') }),
    answer: answer({ waitpointId, waitpointKey: z.string(), token: z.string() }),
  },
  link: {
    request: requestOf(linkFields),
    answer: answer({ url: z.string(), expiresAt: time }),
  },
  describeLink: {
    request: requestOf(describeLinkFields),
    answer: answer({
      executionId,
      waitpointId,
      waitpointKey: z.string(),
      actions: z.array(z.string()),
      person: z.string().nullable(),
      expiresAt: time,
      state: z.enum(['open', 'used', 'closed']),
      usedAction: z.string().nullable(),
      namespace: z.string(),
      lane: z.string(),
      kind: z.string(),
      creator: z.string(),
      reason: z.enum(suspensionReasons).nullable(),
      suspendedAt: time.nullable(),
      timeoutAt: time.nullable(),
      payload: bytes.nullable(),
      payloadEncoding: z.string().nullable(),
      input: plainAnswer,
    }),
  },
}
