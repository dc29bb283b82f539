import { z } from 'zod'
import { subscribeFields } from '../../engine/event/subscribe.ts'
import { pageFields } from '../../engine/kernel/page.ts'
import { id } from '../../model/field-kinds.ts'
import { requestOf } from './of-fields.ts'
import * as bounds from './bounds.ts'
import { eventKinds } from '../../model/event-kind.ts'
import { terminalOutcomes } from '../../model/state.ts'
import { answer, executionId, flowId, json, named, nextCursor, time } from './words.ts'

export const event = named(
  'Event',
  answer({
    cursor: bounds.cursorText.describe('Send it as `after`, or as `Last-Event-ID`, to continue after this event.'),
    kind: z.string(),
    executionId: executionId.nullable(),
    flowId: flowId.nullable(),
    namespace: z.string(),
    actor: z.string(),
    keyId: z.string().nullable().describe('The id of the API key that acted.'),
    onBehalfOf: z.string().nullable().describe('The name that an admin key claimed to act for.'),
    occurredAt: time,
    generation: z.int().nullable(),
    attemptIndex: z.int().nullable(),
    leaseEffect: z.enum(['acquired', 'renewed', 'expired', 'reclaimed', 'revoked']).nullable(),
    leaseId: z.string().nullable(),
    leaseEpoch: z.int().nullable(),
    workerInstanceId: z.string().nullable(),
    outcome: z.enum(terminalOutcomes).nullable(),
    reason: z.string().nullable(),
    details: json,
  }),
)

named('EventKind', z.enum(eventKinds))

export const timelinePage = named('TimelinePage', answer({ events: z.array(event), nextCursor }))

export const eventShapes = {
  subscribe: {
    request: requestOf(subscribeFields),
    answer: event,
  },
  timeline: { request: requestOf({ executionId: id('execution'), ...pageFields }), answer: timelinePage },
}
