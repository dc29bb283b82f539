// Deliver: a sender with the token of a waitpoint signals it. The token is checked before anything is locked or
// evaluated: a missing waitpoint and a wrong token have the same error.
import { formatWaitpointId, parseWaitpointId } from '../../../model/id.ts'
import { reserved } from '../../../model/signal.ts'
import type { Caller } from '../../kernel/caller.ts'
import { checkContent, contentFields, incoming, type Incoming, type SignalContent } from './incoming.ts'

export interface DeliverRequest extends SignalContent {
  readonly waitpointId: string
  readonly token: string
  /** The sender's own claim: recorded as data, which no condition matches or counts. */
  readonly sourceType?: string
  readonly sourceIdentity?: string
}

const fields = [...contentFields, 'waitpointId', 'token', 'sourceType', 'sourceIdentity'] as const

// Approvals and links use these prefixes for their idempotency keys; other senders may not.
const ownKeys = ['approval:', 'link:']

export function checkDeliverRequest(caller: Caller, request: DeliverRequest): Incoming {
  const waitpoint = parseWaitpointId(request.waitpointId)
  // A waitpoint has one token, so its id names the token.
  const source = { type: 'token', identity: formatWaitpointId(waitpoint.partition, waitpoint.uuid) } as const
  const content = checkContent('signals.deliver', request, fields, { category: 'external', source })
  const key = content.idempotencyKey ?? ''
  const start = ownKeys.find((own) => key.startsWith(own))
  if (start !== undefined) throw reserved('idempotencyKey', `${start}...`)
  const target = { noun: 'waitpoint', partition: waitpoint.partition, uuid: waitpoint.uuid } as const
  return incoming(caller, content, target, { by: 'token', token: request.token })
}
