// Send: a signal to an execution by name, by a caller with the right to act in its namespace. It is stored until a
// condition with its name takes it, also when it arrives before the wait.
import { parseExecutionId } from '../../../model/id.ts'
import type { Caller } from '../../kernel/caller.ts'
import { checkContent, contentFields, incoming, provedByRight, type Incoming, type SignalContent } from './incoming.ts'

export interface SendRequest extends SignalContent {
  readonly executionId: string
  /** The sender's own claim: recorded as data, which no condition matches or counts. */
  readonly sourceType?: string
  readonly sourceIdentity?: string
}

const fields = [...contentFields, 'executionId', 'sourceType', 'sourceIdentity'] as const

export function checkSendRequest(caller: Caller, request: SendRequest): Incoming {
  const content = checkContent('signals.send', request, fields, {
    category: 'external',
    source: provedByRight('caller', caller),
  })
  const execution = parseExecutionId(request.executionId)
  const target = { noun: 'execution', partition: execution.partition, uuid: execution.uuid } as const
  return incoming(caller, content, target, { by: 'name' })
}
