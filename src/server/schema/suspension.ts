import { z } from 'zod'
import { listSuspensionsFields } from '../../engine/execution/list-suspended.ts'
import { requestOf } from './of-fields.ts'
import * as bounds from './bounds.ts'
import { conditionKinds } from '../../model/condition.ts'
import { closeReasons, suspensionReasons, timeoutBehaviours } from '../../model/suspension.ts'
import { condition } from './condition.ts'
import { signal } from './signal.ts'
import {
  answer,
  duration,
  executionId,
  fence,
  milliseconds,
  named,
  nextCursor,
  request,
  time,
  waitpointId,
} from './words.ts'

const reason = named('SuspensionReason', z.enum(suspensionReasons))
const behaviour = named('TimeoutBehaviour', z.enum(timeoutBehaviours))
const closeReason = named('CloseReason', z.enum(closeReasons))
const satisfiedLeaves = z.array(z.string())
const winners = z.record(z.string(), z.string())

const fields = {
  suspensionId: z.string(),
  reason,
  suspendedAt: time,
  timeoutAt: time.nullable(),
  timeoutBehaviour: behaviour,
  escalatedAt: time.nullable(),
  conditionKind: z.enum(conditionKinds),
}

export const suspension = named('Suspension', answer(fields))

export const resumption = named(
  'Resumption',
  answer({
    suspensionId: z.string(),
    idempotencyKey: z.string().nullable(),
    resumedAt: time,
    closeReason,
    satisfied: z.boolean(),
    satisfiedLeaves,
    winners,
    signals: z.array(signal),
    hasMoreSignals: z.boolean(),
  }),
  'How a suspension ended, and the signals that did it.',
)

export const suspendRequest = request({
  ...fence,
  condition,
  waitpoints: z.array(z.union([request({ key: bounds.waitpointKey }), request({ waitpointId })])).optional(),
  keepWaitpoints: z.boolean().optional(),
  reason: reason.optional(),
  timeout: duration.optional(),
  timeoutAt: time.optional(),
  timeoutBehaviour: behaviour.optional(),
  escalation: request({ timeout: duration, behaviour }).optional(),
  resumeDelay: duration.optional(),
  idempotencyKey: bounds.idempotencyKey.optional(),
})

const detail = answer({
  ...fields,
  executionId,
  attemptIndex: z.int(),
  condition,
  requestedBy: z.string(),
  idempotencyKey: z.string().nullable(),
  resumeDelayMs: milliseconds.nullable(),
  wakeAt: time.nullable(),
  closedAt: time.nullable(),
  closeReason: closeReason.nullable(),
  outcome: answer({
    satisfied: z.boolean(),
    winners,
    satisfiedLeaves,
    satisfiers: z.record(z.string(), z.array(z.string())),
    signals: z.array(z.string()),
  }).nullable(),
})

const listed = answer({ ...fields, executionId, namespace: z.string(), lane: z.string(), kind: z.string() })

export const suspensionShapes = {
  list: {
    request: requestOf(listSuspensionsFields),
    answer: answer({ suspensions: z.array(listed), nextCursor }),
  },
  describe: { request: request({ executionId }), answer: detail },
}
