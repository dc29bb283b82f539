import { z } from 'zod'
import {
  attemptStates,
  blockingReasons,
  eligibilityStates,
  claimReasons,
  compensationStates,
  interruptions,
  lifecyclePhases,
  ownershipStates,
  pendingOutcomes,
  terminalOutcomes,
} from '../../model/state.ts'
import { condition } from './condition.ts'
import { policy } from './policy.ts'
import { resumption, suspension } from './suspension.ts'
import { answer, bytes, count, executionId, flowId, named, publicState, tags, time } from './words.ts'

const state = named(
  'StateVector',
  answer({
    lifecyclePhase: z.enum(lifecyclePhases),
    ownershipState: z.enum(ownershipStates),
    eligibilityState: z.enum(eligibilityStates),
    attemptState: z.enum(attemptStates),
    terminalOutcome: z.enum(terminalOutcomes),
    interruption: z.enum(interruptions),
  }),
)

const blockingReason = named('BlockingReason', z.enum(blockingReasons))

const lease = answer({
  leaseId: z.string(),
  leaseEpoch: z.int(),
  attemptIndex: z.int(),
  workerId: z.string(),
  workerInstanceId: z.string(),
  acquiredAt: time,
  expiresAt: time,
  renewedAt: time.nullable(),
})

const progress = answer({ percent: z.number().nullable(), message: z.string().nullable(), updatedAt: time })

export const execution = named(
  'Execution',
  answer({
    executionId,
    namespace: z.string(),
    lane: z.string(),
    kind: z.string(),
    version: z.string().nullable(),
    publicState,
    state,
    blockingReason,
    blockingDetail: z.string().nullable(),
    priority: z.int(),
    creator: z.string(),
    requiredCapabilities: z.array(z.string()),
    tags,
    policy: policy.nullable(),
    idempotencyKey: z.string().nullable(),
    flowId: flowId.nullable(),
    parentId: executionId.nullable(),
    generation: z.int(),
    createdAt: time,
    lastMutationAt: time,
    startedAt: time.nullable(),
    endedAt: time.nullable(),
    delayUntil: time.nullable(),
    deadlineAt: time.nullable(),
    cancelRequestedAt: time.nullable(),
    pendingOutcome: z.enum(pendingOutcomes).nullable(),
    compensation: z.enum(compensationStates),
    currentAttempt: answer({ attemptIndex: z.int() }).nullable(),
    lease: named('Lease', lease).nullable(),
    suspension: suspension.nullable(),
    progress: progress.nullable(),
    totalAttemptCount: count,
    retryCount: count,
    replayCount: count,
    leaseReclaimCount: count,
    consecutiveExpiryCount: count,
    failureReason: z.string().nullable(),
    cancellationReason: z.string().nullable(),
    cancelledBy: z.string().nullable(),
  }),
)

export const claim = named(
  'Claim',
  answer({
    executionId,
    leaseId: z.string(),
    leaseEpoch: z.int(),
    leaseExpiresAt: time,
    reason: z.enum(claimReasons),
    attemptIndex: z.int(),
    generation: z.int(),
    namespace: z.string(),
    lane: z.string(),
    kind: z.string(),
    version: z.string().nullable(),
    priority: z.int(),
    payload: bytes.nullable(),
    payloadEncoding: z.string().nullable(),
    tags,
    policy: policy.nullable(),
    retryCount: count,
    createdAt: time,
    deadlineAt: time.nullable(),
    attemptDeadlineAt: time.nullable(),
    flowId: flowId.nullable(),
    parentId: executionId.nullable(),
    resumption: resumption.nullable(),
  }),
)

export const explanation = named(
  'Explanation',
  answer({
    executionId,
    publicState,
    reason: blockingReason,
    sentence: z.string(),
    since: time.nullable(),
    until: time.nullable(),
    ways: z.array(z.string()).describe('Who or what can change it, and how.'),
    facts: answer({
      execution: z.looseObject({ executionId, publicState }).describe('The execution as it was read.'),
      now: time,
      parkedAt: time.nullable(),
      cancelDeadlineAt: time.nullable(),
      lastFailure: z.string().nullable(),
      expiredWorkers: z.array(z.string()),
      condition: condition.nullable(),
      workers: answer({ alive: count, lane: count, kind: count, version: count, able: count }),
      aheadCount: count,
      grant: answer({ workerInstanceId: z.string(), expiresAt: time }).nullable(),
      setAside: answer({ duty: z.string(), failureCount: count, retryAt: time, error: z.string() }).nullable(),
      supervisedAt: time.nullable(),
    }),
  }),
)
