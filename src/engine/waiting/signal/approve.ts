// Approve: an operator signals a waitpoint without its token, by the right to act in its namespace.
import { refusal } from '../../../model/errors.ts'
import { parseWaitpointId } from '../../../model/id.ts'
import { limits } from '../../../model/limits.ts'
import { checkLane } from '../../../model/name.ts'
import { checkText } from '../../../model/text.ts'
import type { Caller } from '../../kernel/caller.ts'
import { checkContent, provedByRight, type Incoming } from './incoming.ts'

export interface ApproveRequest {
  readonly waitpointId: string
  /** Of the signal: `approved`, `rejected`. */
  readonly name: string
  /** Makes the approval idempotent: its key is `approval:<name>:<suffix>`. */
  readonly idempotencySuffix: string
  /** Refused when the execution is in another lane. */
  readonly lane?: string
  /** Plain JSON, in place of `payload`. */
  readonly value?: unknown
  readonly payload?: Uint8Array
  readonly payloadEncoding?: string
}

const fields = ['waitpointId', 'name', 'idempotencySuffix', 'lane', 'value', 'payload', 'payloadEncoding'] as const

export function checkApproveRequest(caller: Caller, request: ApproveRequest): Incoming {
  const content = checkContent('signals.approve', request, fields, {
    category: 'approval',
    source: provedByRight('operator', caller),
  })
  const suffix = checkText('idempotencySuffix', request.idempotencySuffix, {
    minBytes: 1,
    maxBytes: limits.idempotencySuffixBytes,
  })
  const idempotencyKey = `approval:${content.name}:${suffix}`
  if (Buffer.byteLength(idempotencyKey) > limits.idempotencyKeyBytes) {
    throw refusal(
      'invalid_input',
      'name',
      `${content.name.length} characters long`,
      'shorter, because it becomes part of a key',
    )
  }
  const waitpoint = parseWaitpointId(request.waitpointId)
  const lane = request.lane === undefined ? null : checkLane(request.lane)
  const credential = { by: 'right', lane } as const
  return { ...content, ...caller, idempotencyKey, target: { noun: 'waitpoint', ...waitpoint }, credential }
}
