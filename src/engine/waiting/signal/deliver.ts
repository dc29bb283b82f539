// Deliver: a sender with the token of a waitpoint signals it. The token is checked before anything is locked or
// evaluated: a missing waitpoint and a wrong token have the same error.
import { id, unchecked } from '../../../model/field-kinds.ts'
import { checkFields, type RequestOf } from '../../../model/field.ts'
import { limits } from '../../../model/limits.ts'
import { formatWaitpointId, parseWaitpointId } from '../../../model/id.ts'
import { reserved } from '../../../model/signal.ts'
import type { Caller } from '../../kernel/caller.ts'
import { claimedSourceFields, contentFields, contentOf, incoming, type Incoming } from './incoming.ts'

export const deliverFields = {
  waitpointId: id('waitpoint'),
  token: unchecked<string>({
    kind: 'text',
    rule: { minBytes: 1, maxBytes: limits.keyIdBytes + 65, printableAscii: true },
  }),
  ...contentFields,
  ...claimedSourceFields,
}

export interface DeliverRequest extends RequestOf<typeof deliverFields> {}

// Approvals and links use these prefixes for their idempotency keys; other senders may not.
const ownKeys = ['approval:', 'link:']

export function checkDeliverRequest(caller: Caller, request: DeliverRequest): Incoming {
  const waitpoint = parseWaitpointId(request.waitpointId)
  // A waitpoint has one token, so its id names the token.
  const source = { type: 'token', identity: formatWaitpointId(waitpoint.partition, waitpoint.uuid) } as const
  const checked = checkFields('signals.deliver', deliverFields, request)
  const content = contentOf(checked, request, { category: 'external', source })
  const key = content.idempotencyKey ?? ''
  const start = ownKeys.find((own) => key.startsWith(own))
  if (start !== undefined) throw reserved('idempotencyKey', `${start}...`)
  const target = { noun: 'waitpoint', partition: waitpoint.partition, uuid: waitpoint.uuid } as const
  return incoming(caller, content, target, { by: 'token', token: request.token })
}
