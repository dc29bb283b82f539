// Send: a signal to an execution by name, by a caller with the right to act in its namespace. It is stored until a
// condition with its name takes it, also when it arrives before the wait.
import { id } from '../../../model/field-kinds.ts'
import { checkFields, type RequestOf } from '../../../model/field.ts'
import { parseExecutionId } from '../../../model/id.ts'
import type { Caller } from '../../kernel/caller.ts'
import { claimedSourceFields, contentFields, contentOf, incoming, provedByRight, type Incoming } from './incoming.ts'

export const sendFields = {
  executionId: id('execution'),
  ...contentFields,
  ...claimedSourceFields,
}

export interface SendRequest extends RequestOf<typeof sendFields> {}

export function checkSendRequest(caller: Caller, request: SendRequest): Incoming {
  const content = contentOf(checkFields('signals.send', sendFields, request), request, {
    category: 'external',
    source: provedByRight('caller', caller),
  })
  const execution = parseExecutionId(request.executionId)
  const target = { noun: 'execution', partition: execution.partition, uuid: execution.uuid } as const
  return incoming(caller, content, target, { by: 'name' })
}
