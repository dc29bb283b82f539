// Who may come in. Whatever was found about the target, a sender without the right token hears only that.
import { invalidLink, verifyLink } from '../../model/approval-link.ts'
import { EngineError } from '../../model/errors.ts'
import { formatExecutionId, formatWaitpointId } from '../../model/id.ts'
import { checkToken } from '../../model/token.ts'
import type { SigningKeys } from '../signing-key/keys.ts'
import { isStored } from '../signing-key/stored-key.ts'
import type { Incoming } from './incoming.ts'
import { waitpointUuidOf, type FoundTarget } from './look.ts'

/** A signal whose sender may send it, and what was found. */
export interface Arrival {
  readonly item: Incoming
  readonly found: FoundTarget
}

export function admit(signingKeys: SigningKeys, item: Incoming, found: FoundTarget | undefined): Arrival | EngineError {
  try {
    checkDoor(signingKeys, item, found)
  } catch (error) {
    if (EngineError.is(error)) return error
    throw error
  }
  return found === undefined ? notFound(item) : { item, found }
}

function checkDoor(signingKeys: SigningKeys, item: Incoming, found: FoundTarget | undefined): void {
  const { door } = item
  if (door.by === 'name') return
  if (door.by === 'right') return checkSameLane(door.lane, found)
  const keys = found !== undefined && isStored(found) ? [signingKeys.open(found)] : []
  const now = found?.now_ms ?? 0
  if (door.by === 'token') return checkToken(door.token, subjectOf(item, found), keys, now)
  if (verifyLink(door.link, keys, now) === null) throw invalidLink()
}

function subjectOf({ target: { partition, uuid } }: Incoming, found: FoundTarget | undefined) {
  if (found === undefined) return null
  return {
    executionId: formatExecutionId(partition, found.execution_id),
    waitpointId: formatWaitpointId(partition, uuid),
    waitpointKey: found.waitpoint_key!,
    createdAt: found.waitpoint_created_at_ms!,
  }
}

function checkSameLane(lane: string | null, found: FoundTarget | undefined): void {
  if (lane === null || found === undefined || lane === found.lane_id) return
  const sentence = `lane_mismatch: the execution is in lane '${found.lane_id}', not in '${lane}'; look again what it is`
  throw new EngineError('invalid_input', sentence, { field: 'lane', lane: found.lane_id })
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
