// Approve: an operator answers a waitpoint without its token.
import type { WaitpointId } from '../../model/id.ts'

export interface ApproveRequest {
  readonly waitpointId: WaitpointId
  /** Of the signal: `approved`, `rejected`. */
  readonly name: string
  /** Makes the approval idempotent: its key is `approval:<name>:<suffix>`. */
  readonly idempotencySuffix: string
  /** Refused when the execution is in another lane. */
  readonly lane?: string
  readonly payload?: Uint8Array
  readonly payloadEncoding?: string
}
