// The nouns of the whole installation: lanes, workers, schedules, signing keys, the clock.
import { z } from 'zod'
import { namespacePageFields } from '../../engine/kernel/page.ts'
import { measureLanesFields } from '../../engine/lane/measure.ts'
import { listSigningKeysFields } from '../../engine/signing-key/list.ts'
import { namedScheduleFields } from '../../engine/schedule/named.ts'
import { putScheduleFields } from '../../engine/schedule/put-request.ts'
import { rotateFields } from '../../engine/signing-key/rotate.ts'
import { seedFields } from '../../engine/signing-key/seed.ts'
import { heartbeatFields } from '../../engine/worker/heartbeat.ts'
import { markDeadFields } from '../../engine/worker/mark-dead.ts'
import { registerFields } from '../../engine/worker/register.ts'
import { listWorkersFields } from '../../engine/worker/list.ts'
import { requestOf } from './of-fields.ts'
import * as bounds from './bounds.ts'
import { catchUps, overlaps } from '../../model/schedule.ts'
import { spanBoundsMs } from '../../model/span.ts'
import { stateCount } from './execution.ts'
import { policy } from './policy.ts'
import {
  answer,
  bytes,
  count,
  executionId,
  milliseconds,
  named,
  nextCursor,
  plainAnswer,
  request,
  tags,
  time,
} from './words.ts'

const ofNamespace = requestOf(namespacePageFields)
const names = z.array(z.string())

const lane = answer({
  namespace: z.string(),
  lane: z.string(),
  state: z.enum(['active', 'paused', 'draining', 'disabled']),
  registeredAt: time,
  registeredBy: z.string(),
})

const spans = named(
  'Spans',
  answer({
    totalMs: milliseconds,
    count,
    atMost: z.array(count).describe(`how many took at most ${spanBoundsMs.join(', ')} ms`),
  }),
)

export const laneShapes = {
  list: { request: ofNamespace, answer: answer({ lanes: z.array(named('Lane', lane)), nextCursor }) },
  measure: {
    request: requestOf(measureLanesFields),
    answer: answer({
      now: time,
      endedUntil: time,
      lanes: z.array(
        answer({
          namespace: z.string(),
          lane: z.string(),
          ready: stateCount,
          oldestReadyAt: time.nullable(),
          delayed: stateCount,
          suspended: stateCount,
          active: stateCount,
          cancelling: stateCount,
        }),
      ),
      endings: z.array(
        answer({
          namespace: z.string(),
          lane: z.string(),
          outcome: z.enum(['success', 'failed', 'cancelled', 'expired', 'skipped']),
          count,
          retryCount: count,
          quorumSatisfiedCount: count,
          quorumImpossibleCount: count,
          wait: spans,
          run: spans,
        }),
      ),
    }),
  },
}

const worker = answer({
  workerId: z.string(),
  workerInstanceId: z.string(),
  namespace: z.string().nullable(),
  lanes: names,
  kinds: names.nullable(),
  versions: names,
  capabilities: names,
  host: z.string().nullable(),
  pid: z.int().nullable(),
  registeredAt: time,
  heartbeatAt: time,
  expiresAt: time,
  ttlMs: milliseconds,
})

export const workerShapes = {
  register: {
    request: requestOf(registerFields),
    answer: answer({
      kind: z.enum(['registered', 'refreshed']),
      workerInstanceId: z.string(),
      registeredAt: time,
      expiresAt: time,
    }),
  },
  heartbeat: {
    request: requestOf(heartbeatFields),
    answer: z.union([
      answer({ kind: z.literal('refreshed'), workerInstanceId: z.string(), expiresAt: time }),
      answer({ kind: z.literal('not_registered'), workerInstanceId: z.string() }),
    ]),
  },
  markDead: {
    request: requestOf(markDeadFields),
    answer: answer({ kind: z.enum(['marked', 'not_registered']), workerInstanceId: z.string() }),
  },
  list: {
    request: requestOf(listWorkersFields),
    answer: answer({ workers: z.array(named('Worker', worker)), nextCursor }),
  },
}

const scheduleFields = {
  scheduleId: z.string(),
  namespace: z.string(),
  state: z.enum(['active', 'paused', 'ended']),
  cron: z.string().nullable(),
  timeZone: z.string().nullable(),
  everyMs: milliseconds.nullable(),
  overlap: z.enum(overlaps),
  catchUp: z.enum(catchUps),
  catchUpLimit: count,
  jitterMs: milliseconds,
  until: time.nullable(),
  nextFireAt: time.nullable(),
  lastFiredAt: time.nullable(),
  lastPlannedAt: time.nullable(),
  lastExecutionId: executionId.nullable(),
  firedCount: count,
  skippedCount: count,
  queued: z.array(time),
  createdAt: time,
  changedAt: time,
  pausedAt: time.nullable(),
  kind: z.string(),
  lane: z.string(),
  version: z.string().nullable(),
  priority: z.int(),
  requiredCapabilities: names,
  deadlineMs: milliseconds.nullable(),
  tags,
  policy: policy.nullable(),
}

const scheduleId = bounds.scheduleId
const byName = requestOf(namedScheduleFields)

export const scheduleShapes = {
  put: {
    request: requestOf(putScheduleFields),
    answer: answer({ kind: z.enum(['created', 'changed', 'unchanged']), scheduleId, nextFireAt: time.nullable() }),
  },
  pause: { request: byName, answer: answer({ kind: z.enum(['paused', 'already_paused']), scheduleId }) },
  resume: {
    request: byName,
    answer: answer({ kind: z.enum(['resumed', 'not_paused']), scheduleId, nextFireAt: time.nullable() }),
  },
  trigger: {
    request: byName,
    answer: z.union([
      answer({ kind: z.enum(['fired', 'skipped']), scheduleId, executionId }),
      answer({ kind: z.literal('queued'), scheduleId, plannedAt: time }),
    ]),
  },
  describe: {
    request: byName,
    answer: answer({
      ...scheduleFields,
      payload: bytes.nullable(),
      payloadEncoding: z.string().nullable(),
      input: plainAnswer,
    }),
  },
  list: {
    request: ofNamespace,
    answer: answer({ schedules: z.array(named('Schedule', answer(scheduleFields))), nextCursor }),
  },
  delete: { request: byName, answer: answer({ kind: z.enum(['deleted', 'not_found']), scheduleId }) },
}

const ofKey = { namespace: z.string().nullable(), kid: z.string() }

export const signingKeyShapes = {
  rotate: {
    request: requestOf(rotateFields),
    answer: z.union([
      answer({
        kind: z.literal('rotated'),
        ...ofKey,
        previousKid: z.string().nullable(),
        previousExpiresAt: time.nullable(),
        removedCount: count,
      }),
      answer({ kind: z.literal('unchanged'), ...ofKey }),
    ]),
  },
  seed: {
    request: requestOf(seedFields),
    answer: z.union([
      answer({ kind: z.literal('seeded'), ...ofKey }),
      answer({ kind: z.literal('already_seeded'), ...ofKey, hasSameSecret: z.boolean() }),
    ]),
  },
  list: {
    request: requestOf(listSigningKeysFields),
    answer: answer({
      signingKeys: z.array(answer({ ...ofKey, isActive: z.boolean(), createdAt: time, expiresAt: time.nullable() })),
    }),
  },
}

export const serverTimeShapes = { request: request({}), answer: answer({ serverTime: time }) }
