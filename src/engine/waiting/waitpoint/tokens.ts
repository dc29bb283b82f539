// Waitpoints with their tokens. A token is not stored: it is computed from the waitpoint's row and its key.
import { formatWaitpointId, type WaitpointId } from '../../../model/id.ts'
import type { Target } from '../../transition/operator-set.ts'
import type { SigningKeys } from '../../signing-key/keys.ts'

export interface BoundWaitpoint {
  readonly waitpointId: WaitpointId
  readonly key: string
  /** Null when the key that signed it has been removed. */
  readonly token: string | null
}

/** The columns that make the token. */
export interface UnsignedWaitpoint {
  readonly uuid: string
  readonly key: string
  readonly kid: string
  readonly createdAt: number
}

/** Call it after its key was opened. */
export function withToken(
  keys: SigningKeys,
  namespace: string,
  { executionId, partition }: Pick<Target, 'executionId' | 'partition'>,
  { uuid, key, kid, createdAt }: UnsignedWaitpoint,
): BoundWaitpoint {
  const waitpointId = formatWaitpointId(partition, uuid)
  const token = keys.tokenOf(namespace, { kid, executionId, waitpointId, waitpointKey: key, createdAt })
  return { waitpointId, key, token }
}
