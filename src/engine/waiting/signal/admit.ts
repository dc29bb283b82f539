// Authorizes senders. Whatever was found about the target, a sender without the right token receives the same refusal.
// The check runs twice: in `answerable.ts`, before anything is locked, so that a forger blocks no other sender; and
// again under the lock, because a key may have expired in between. A missing waitpoint costs the same read and the same
// MAC as a wrong token, against a key of zeros. The read still takes some microseconds less when it finds no row. That
// is no way to find waitpoints: an id has 74 random bits, and a waitpoint of another namespace is a missing one.
import { invalidLink, verifyLink } from '../../../model/approval-link.ts'
import { EngineError } from '../../../model/errors.ts'
import { formatExecutionId, formatWaitpointId } from '../../../model/id.ts'
import { checkToken } from '../../../model/token.ts'
import type { SigningKeys } from '../../signing-key/keys.ts'
import { isStored, type MaybeStoredKey } from '../../signing-key/stored-key.ts'
import type { Credential, Incoming } from './incoming.ts'
import { waitpointUuidOf, type FoundTarget } from './read-locked.ts'

/** An authorized signal, and its target. */
export interface Arrival {
  readonly item: Incoming
  readonly found: FoundTarget
}

export function admit(signingKeys: SigningKeys, item: Incoming, found: FoundTarget | undefined): Arrival | EngineError {
  const refusal = refusalOf(signingKeys, item, found)
  if (refusal !== null) return refusal
  if (found === undefined) return notFound(item)
  return otherLane(item.credential, found) ?? { item, found }
}

/** The row that a token or a link is checked against. Only time can change the result, by the expiry of the key. */
export interface Claimable extends MaybeStoredKey {
  readonly now_ms: number
  readonly execution_id: string
  readonly waitpoint_key: string | null
  readonly waitpoint_created_at_ms: number | null
}

/** Why the sender is refused. A missing target is refused as a wrong token is, after a MAC as well. */
export function refusalOf(signingKeys: SigningKeys, item: Incoming, found: Claimable | undefined): EngineError | null {
  try {
    checkCredential(signingKeys, item, found)
    return null
  } catch (error) {
    if (EngineError.is(error)) return error
    throw error
  }
}

function checkCredential(signingKeys: SigningKeys, item: Incoming, found: Claimable | undefined): void {
  const { credential } = item
  if (credential.by === 'name' || credential.by === 'right') return
  const keys = found !== undefined && isStored(found) ? [signingKeys.open(found)] : []
  const now = found?.now_ms ?? 0
  if (credential.by === 'token') return checkToken(credential.token, subjectOf(item, found), keys, now)
  if (verifyLink(credential.link, keys, now) === null) throw invalidLink()
}

function subjectOf({ target: { partition, uuid } }: Incoming, found: Claimable | undefined) {
  if (found === undefined) return null
  return {
    executionId: formatExecutionId(partition, found.execution_id),
    waitpointId: formatWaitpointId(partition, uuid),
    waitpointKey: found.waitpoint_key!,
    createdAt: found.waitpoint_created_at_ms!,
  }
}

function otherLane(credential: Credential, { lane_id: lane }: FoundTarget): EngineError | null {
  if (credential.by !== 'right' || credential.lane === null || credential.lane === lane) return null
  const sentence = `lane_mismatch: the execution is in lane '${lane}', not in '${credential.lane}'; check the execution id`
  return new EngineError('invalid_input', sentence, { field: 'lane', lane })
}

function notFound(item: Incoming): EngineError {
  const { partition, uuid } = item.target
  if (waitpointUuidOf(item) !== null) {
    const waitpointId = formatWaitpointId(partition, uuid)
    return new EngineError('waitpoint_not_found', `waitpoint ${waitpointId} does not exist`, { waitpointId })
  }
  const executionId = formatExecutionId(partition, uuid)
  return new EngineError('execution_not_found', `execution ${executionId} does not exist`, { executionId })
}

/**
 * The readable token or link of a signal: two signals with the same one are both authorized, or neither is. Null
 * without one.
 */
export function proofOf({ credential, target: { partition, uuid }, namespace }: Incoming): string | null {
  if (credential.by === 'name' || credential.by === 'right') return null
  // No readable token or link has a line break.
  return `${partition} ${uuid} ${credential.by === 'link' ? credential.link : (credential.token as string)}\n${namespace ?? ''}`
}

const mostRemembered = 10_000

/**
 * A cache of valid tokens, so that a stream of signals through one waitpoint is not looked up each time. The fields
 * that a token is bound to never change; whether its key still verifies is checked under the lock.
 */
export class ProvedTokens {
  readonly #proofs = new Set<string>()

  has(proof: string): boolean {
    return this.#proofs.has(proof)
  }

  /** A link is used once, so it is not cached. */
  remember(item: Incoming): void {
    if (item.credential.by !== 'token') return
    this.#proofs.add(proofOf(item)!)
    if (this.#proofs.size <= mostRemembered) return
    const [oldest] = this.#proofs
    this.#proofs.delete(oldest!)
  }

  forget(item: Incoming): void {
    const proof = proofOf(item)
    if (proof !== null) this.#proofs.delete(proof)
  }
}
