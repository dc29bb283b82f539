// Deliver: somebody who holds the token of a waitpoint answers it. The token is checked before anything is locked, judged or
// told: a waitpoint that does not exist and a wrong token are answered alike.
import { EngineError } from '../../model/errors.ts'
import { parseWaitpointId, type WaitpointId } from '../../model/id.ts'
import type { Caller } from '../caller.ts'
import { checkContent, contentFields, incoming, type Incoming, type SignalContent } from './incoming.ts'

export interface DeliverRequest extends SignalContent {
  readonly waitpointId: WaitpointId
  readonly token: string
  /** Who says so: part of what conditions match and count. Defaults to `external`, without an identity. */
  readonly sourceType?: string
  readonly sourceIdentity?: string
}

const fields = [...contentFields, 'waitpointId', 'token', 'sourceType', 'sourceIdentity'] as const

// A stranger may not claim to be one of them; conditions may rely on that.
const ownSources: readonly unknown[] = ['operator', 'system', 'link']
const ownKeys = ['approval:', 'link:']

export function checkDeliverRequest(caller: Caller, request: DeliverRequest): Incoming {
  const content = checkContent('signals.deliver', request, fields, {
    category: 'external',
    source: { type: 'external', identity: '' },
  })
  if (ownSources.includes(content.source.type)) throw reserved('sourceType', content.source.type)
  const key = content.idempotencyKey ?? ''
  const start = ownKeys.find((own) => key.startsWith(own))
  if (start !== undefined) throw reserved('idempotencyKey', `${start}...`)
  const waitpoint = parseWaitpointId(request.waitpointId)
  const target = { noun: 'waitpoint', partition: waitpoint.partition, uuid: waitpoint.uuid } as const
  return incoming(caller, content, target, { by: 'token', token: request.token })
}

function reserved(field: string, found: string): EngineError {
  const sentence = `${field} is '${found}', which the engine gives to signals of its own; choose another`
  return new EngineError('invalid_input', sentence, { field })
}
