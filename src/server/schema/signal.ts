import { z } from 'zod'
import { pageFields } from '../../engine/kernel/page.ts'
import { id } from '../../model/field-kinds.ts'
import { requestOf } from './of-fields.ts'
import * as bounds from './bounds.ts'
import { signalEffects, sourceTypes } from '../../model/signal.ts'
import {
  answer,
  bytes,
  executionId,
  json,
  named,
  nextCursor,
  plainAnswer,
  request,
  set,
  setAnswer,
  time,
  waitpointId,
} from './words.ts'

const effect = named('SignalEffect', z.enum(signalEffects), 'The effect of the signal when it was accepted.')

export const signal = named(
  'Signal',
  answer({
    signalId: z.string(),
    executionId,
    name: z.string(),
    category: z.string(),
    source: answer({ type: z.enum(sourceTypes), identity: z.string() }).describe(
      'The verified source, which conditions match and count.',
    ),
    claimed: answer({ type: z.string(), identity: z.string() })
      .nullable()
      .describe('The source that the sender claimed, unverified.'),
    waitpointId: waitpointId.nullable(),
    waitpointKey: z.string().nullable(),
    correlationId: z.string().nullable(),
    payload: bytes.nullable(),
    payloadEncoding: z.string().nullable(),
    value: plainAnswer,
    effect,
    acceptedAt: time,
    takenAt: time.nullable(),
  }),
)

const payload = {
  value: json.optional().describe('Plain JSON. Send this or `payload`.'),
  payload: bytes.optional(),
  payloadEncoding: bounds.encoding.optional(),
}

const content = {
  name: bounds.signalName,
  category: bounds.signalLabel.optional(),
  correlationId: bounds.signalLabel.optional(),
  idempotencyKey: bounds.idempotencyKey.optional(),
  sourceType: bounds.sourceType.optional(),
  sourceIdentity: bounds.sourceIdentity.optional(),
  ...payload,
}

const deliver = request({ waitpointId, token: bounds.token, ...content })
const send = request({ executionId, ...content })
const result = named(
  'SignalResult',
  answer({
    kind: z.enum(['accepted', 'duplicate']),
    executionId,
    signalId: z.string(),
    effect,
    hint: z
      .string()
      .optional()
      .describe('Of a signal that is kept: the names that are awaited instead, and which one was probably meant.'),
  }),
)

export const signalShapes = {
  deliver: { request: deliver, answer: result },
  deliverMany: { request: set(deliver), answer: setAnswer(result) },
  send: { request: send, answer: result },
  sendMany: { request: set(send), answer: setAnswer(result) },
  approve: {
    request: request({
      waitpointId,
      name: bounds.signalName,
      idempotencySuffix: bounds.idempotencySuffix,
      lane: bounds.lane.optional(),
      ...payload,
    }),
    answer: result,
  },
  redeem: { request: request({ link: bounds.link, action: bounds.linkAction.optional(), ...payload }), answer: result },
  list: {
    request: requestOf({ executionId: id('execution'), ...pageFields }),
    answer: answer({ signals: z.array(signal), nextCursor }),
  },
}
