import { z } from 'zod'
import { approveFields } from '../../engine/waiting/signal/approve.ts'
import { deliverFields } from '../../engine/waiting/signal/deliver.ts'
import { redeemFields } from '../../engine/waiting/signal/redeem.ts'
import { sendFields } from '../../engine/waiting/signal/send.ts'
import { pageFields } from '../../engine/kernel/page.ts'
import { id } from '../../model/field-kinds.ts'
import { requestOf } from './of-fields.ts'
import { signalEffects, sourceTypes } from '../../model/signal.ts'
import {
  answer,
  bytes,
  executionId,
  named,
  nextCursor,
  plainAnswer,
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

const deliver = requestOf(deliverFields)
const send = requestOf(sendFields)
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
    request: requestOf(approveFields),
    answer: result,
  },
  redeem: { request: requestOf(redeemFields), answer: result },
  list: {
    request: requestOf({ executionId: id('execution'), ...pageFields }),
    answer: answer({ signals: z.array(signal), nextCursor }),
  },
}
