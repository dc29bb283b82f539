// Approve: an operator signals a waitpoint without its token, by the right to act in its namespace.
import { refusal } from '../../../model/errors.ts'
import { id, text } from '../../../model/field-kinds.ts'
import { checkFields, type RequestOf } from '../../../model/field.ts'
import { parseWaitpointId } from '../../../model/id.ts'
import { limits } from '../../../model/limits.ts'
import { lane, signalName } from '../../../model/named-fields.ts'
import type { Caller } from '../../kernel/caller.ts'
import { contentOf, provedByRight, signalPayloadFields, type Incoming } from './incoming.ts'

export const approveFields = {
  waitpointId: id('waitpoint'),
  /** Of the signal: `approved`, `rejected`. */
  name: signalName,
  /** Makes the approval idempotent: its key is `approval:<name>:<suffix>`. */
  idempotencySuffix: text({ minBytes: 1, maxBytes: limits.idempotencySuffixBytes }),
  /** Refused when the execution is in another lane. */
  lane: lane.optional(),
  ...signalPayloadFields,
}

export interface ApproveRequest extends RequestOf<typeof approveFields> {}

export function checkApproveRequest(caller: Caller, request: ApproveRequest): Incoming {
  const checked = checkFields('signals.approve', approveFields, request)
  const content = contentOf(checked, request, { category: 'approval', source: provedByRight('operator', caller) })
  const idempotencyKey = `approval:${content.name}:${checked.idempotencySuffix}`
  if (Buffer.byteLength(idempotencyKey) > limits.idempotencyKeyBytes) {
    throw refusal(
      'invalid_input',
      'name',
      `${content.name.length} characters long`,
      'shorter, because it becomes part of a key',
    )
  }
  const waitpoint = parseWaitpointId(request.waitpointId)
  const credential = { by: 'right', lane: checked.lane } as const
  return { ...content, ...caller, idempotencyKey, target: { noun: 'waitpoint', ...waitpoint }, credential }
}
