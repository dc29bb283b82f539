// The requests of the holder of a lease.
import { z } from 'zod'
import { completeRequest } from '../../engine/execution/complete.ts'
import { failRequest } from '../../engine/execution/fail.ts'
import { delayRequest, releaseRequest } from '../../engine/execution/give-back.ts'
import { renewFields } from '../../engine/execution/renew.ts'
import { restartRequest } from '../../engine/execution/restart.ts'
import { progressRequest } from '../../engine/execution/progress.ts'
import { warnRequest } from '../../engine/execution/warn.ts'
import { limits } from '../../model/limits.ts'
import { requestOf } from './of-fields.ts'
import { resumption, suspendRequest } from './suspension.ts'
import { answer, engineError, executionId, fence, named, request, set, setAnswer, time, waitpointId } from './words.ts'

const cancelled = answer({ kind: z.literal('cancelled'), executionId })

const complete = requestOf(completeRequest.fields)
const completed = named('Completed', answer({ kind: z.literal('completed'), executionId }))

const fail = requestOf(failRequest.fields)
const failed = named(
  'FailResult',
  z.union([
    answer({ kind: z.literal('failed'), executionId }),
    answer({ kind: z.literal('retry_scheduled'), executionId, delayUntil: time.nullable() }),
    cancelled,
  ]),
)

const delay = requestOf(delayRequest.fields)
const delayed = named(
  'DelayResult',
  z.union([answer({ kind: z.literal('delayed'), executionId, delayUntil: time.nullable() }), cancelled]),
)

const release = requestOf(releaseRequest.fields)
const released = named('ReleaseResult', z.union([answer({ kind: z.literal('released'), executionId }), cancelled]))

const waitpoint = answer({ waitpointId, key: z.string(), token: z.string().nullable() })
const suspended = named(
  'SuspendResult',
  z.union([
    answer({
      kind: z.literal('suspended'),
      executionId,
      suspensionId: z.string(),
      waitpoints: z.array(named('BoundWaitpoint', waitpoint)),
    }),
    cancelled,
    answer({ kind: z.literal('already_satisfied'), executionId, resumption }),
  ]),
)

export const leaseAnswer = named(
  'LeaseAnswer',
  z.union([
    answer({ kind: z.literal('renewed'), executionId, expiresAt: time, cancelRequested: z.boolean() }),
    answer({
      kind: z.literal('lost'),
      executionId: z.string().optional().describe('As it was sent.'),
      error: engineError,
    }),
  ]),
)

export const leases = z
  .array(named('Fence', request(fence), 'The lease that allows its holder to write.'))
  .max(limits.leaseCount)

export const heldShapes = {
  renew: {
    request: requestOf(renewFields),
    answer: answer({
      leases: z.array(leaseAnswer),
      unnamed: z.array(answer({ ...fence, expiresAt: time })).describe('Leases that the request did not name.'),
    }),
  },
  complete: { request: complete, answer: completed },
  completeMany: { request: set(complete), answer: setAnswer(completed) },
  fail: { request: fail, answer: failed },
  failMany: { request: set(fail), answer: setAnswer(failed) },
  delay: { request: delay, answer: delayed },
  delayMany: { request: set(delay), answer: setAnswer(delayed) },
  release: { request: release, answer: released },
  releaseMany: { request: set(release), answer: setAnswer(released) },
  suspend: { request: suspendRequest, answer: suspended },
  suspendMany: { request: set(suspendRequest), answer: setAnswer(suspended) },
  trySuspend: { request: suspendRequest, answer: suspended },
  progress: {
    request: requestOf(progressRequest.fields),
    answer: answer({ kind: z.literal('progress_recorded'), executionId }),
  },
  restart: {
    request: requestOf(restartRequest.fields),
    answer: z.union([answer({ kind: z.literal('restarted'), executionId }), cancelled]),
  },
  warn: {
    request: requestOf(warnRequest.fields),
    answer: answer({ kind: z.literal('warned'), executionId }),
  },
}
