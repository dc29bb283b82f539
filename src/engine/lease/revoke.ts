// Revoke: an operator takes a lease away. The execution goes back to the queue with the same attempt; the holder's next
// write hears that its lease was revoked.
import type { ExecutionId } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import { isEnded, type Interruption, type PublicState } from '../../model/state.ts'
import { checkText } from '../../model/text.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { oneOf, statement, type RowOf } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { clockAfter } from '../kernel/after-lock.ts'
import {
  checkTarget,
  lockedTarget,
  operatorSet,
  readyAgain,
  targetAnswer,
  targetInput,
  targetParams,
  targetValues,
  type Target,
} from '../transition/operator-set.ts'
import {
  checkRequestId,
  isRepeated,
  rememberRequests,
  repeatedAnswer,
  repeatedRequests,
  requestInput,
  requestParams,
  requestValues,
  type Repeatable,
} from '../execution/request-memory.ts'
import { pendingDispatchSql } from '../kernel/pending-dispatch.ts'
import { hasRecordedSql } from '../transition/expiry-count.ts'
import { endsWhenLeftSql } from '../transition/ask-to-stop.ts'
import { leaveHolderWhole } from '../transition/requeue.ts'
import type { Effects } from '../kernel/effects.ts'
import type { SetOperation } from '../kernel/merge.ts'

export interface RevokeRequest {
  readonly executionId: string
  /** Only from this holder; left out: whoever it is. */
  readonly workerInstanceId?: string
  /** Only this lease. */
  readonly leaseId?: string
  readonly reason?: string
  /** A call with the id of an earlier one answers as that did; left out: each call is one of its own. */
  readonly requestId?: string
}

export type RevokeResult =
  | {
      readonly kind: 'revoked'
      readonly executionId: ExecutionId
      readonly leaseId: string
      readonly leaseEpoch: number
    }
  /** A cancel had been asked for, so that it ended instead. */
  | { readonly kind: 'cancelled'; readonly executionId: ExecutionId }
  | {
      readonly kind: 'not_held'
      readonly executionId: ExecutionId
      readonly why: NotHeld
    }

/**
 * `already_revoked`: the last lease was revoked, and no worker has claimed since. `ended`: the execution has. `never_claimed`: no
 * worker ever held it. `no_active_lease`: the holder gave it back, lost it, or waits in a suspension or delay.
 */
export type NotHeld =
  | 'already_revoked'
  | 'ended'
  | 'never_claimed'
  | 'no_active_lease'
  | 'different_worker_instance_id'
  | 'lease_id_mismatch'

export interface Revocation extends Target, Repeatable {
  readonly workerInstanceId: string | null
  readonly leaseId: string | null
  readonly reason: string | null
}

export function checkRevokeRequest(caller: Caller, request: RevokeRequest): Revocation {
  refuseUnknownFields('revoke', request, ['executionId', 'workerInstanceId', 'leaseId', 'reason', 'requestId'])
  const { executionId, workerInstanceId, leaseId, reason, requestId } = request
  return {
    ...checkTarget(caller, executionId),
    ...checkRequestId(requestId),
    workerInstanceId:
      workerInstanceId === undefined
        ? null
        : checkText('workerInstanceId', workerInstanceId, { maxBytes: limits.workerNameBytes }),
    leaseId: leaseId === undefined ? null : checkText('leaseId', leaseId, { maxBytes: limits.leaseIdBytes }),
    reason: reason === undefined ? null : checkText('reason', reason, { maxBytes: limits.reasonBytes }),
  }
}

const own = {
  is_active: 'bool',
  public_state: 'flowfabric.ff_public_state',
  interruption: 'flowfabric.ff_interruption',
  lease_id: 'uuid',
  lease_epoch: 'int8',
  holder: 'text',
  is_cancelled: 'bool',
  owes: 'int4',
  repeated: 'jsonb',
} as const
const row = {
  ordinal: 'int8',
  is_locked: 'bool',
  queue_id: 'int4',
  is_active: 'bool?',
  public_state: oneOf<PublicState | null>(),
  interruption: oneOf<Interruption | null>(),
  lease_id: 'uuid?',
  lease_epoch: 'int8?',
  holder: 'text?',
  is_cancelled: 'bool?',
  owes: 'int4?',
  repeated: 'jsonb?',
} as const

// The lease's holder never changes while the execution is locked, so its row needs no lock to be read.
const revokeStatement = statement({
  name: 'lease.revoke',
  params: { ...targetParams, instances: 'text?[]', lease_ids: 'text?[]', reasons: 'text?[]', ...requestParams },
  row,
  text: `
with input as materialized (
  select *
  from unnest($1::uuid[], $2::int2[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::bool[])
    with ordinality as i (${targetInput}, only_instance, only_lease, reason, ${requestInput.join(', ')}, ordinal)
),
${lockedTarget('only_instance', 'only_lease', 'reason', ...requestInput)},
${repeatedRequests},
${clockAfter('target')},
judged as materialized (
  select t.*, t.lifecycle_phase = 'active' as is_active, l.worker_instance_id as holder,
    c.now_ms as left_at_ms, t.actor as left_actor, t.reason as left_reason,
    'revoked'::flowfabric.ff_event_type as leave_event,
    'revoked'::flowfabric.ff_lease_effect as leave_effect,
    'attempt_interrupted'::flowfabric.ff_attempt_state as next_attempt_state,
    'revoked'::flowfabric.ff_interruption as next_interruption,
    null::int8 as next_at_ms,
    case when ${hasRecordedSql('t')} then 0 end as next_expiry_count,
    'revoked' as attempt_outcome,
    null::text as failure_category,
    null::bytea as error,
    null::text as error_encoding,
    'none'::flowfabric.ff_terminal_outcome as forced_outcome,
    ${endsWhenLeftSql('t')} as is_cancelled, ${pendingDispatchSql('t.attached')} as owes,
    ${repeatedAnswer}
  from target t
  cross join clock c
  left join flowfabric.ff_lease l on l.execution_id = any (array[t.execution_id])
),
leaving as materialized (
  select *
  from judged t
  where is_active and not ${isRepeated}
    and (only_instance is null or only_instance = '' or only_instance = holder)
    and (only_lease is null or only_lease = lease_id::text)
),
${leaveHolderWhole},
${rememberRequests(
  'leaving t',
  `case when ${endsWhenLeftSql('t')} then jsonb_build_object('kind', 'cancelled')
    else jsonb_build_object('kind', 'revoked', 'leaseId', t.lease_id, 'leaseEpoch', t.lease_epoch) end`,
  't.left_at_ms',
)}
${targetAnswer('judged', own)}`,
})

type Kept =
  | { readonly kind: 'revoked'; readonly leaseId: string; readonly leaseEpoch: number }
  | { readonly kind: 'cancelled' }

function whyNotActive({ leaseId }: Revocation, found: RowOf<typeof row>): NotHeld {
  if (found.lease_id === null || found.lease_epoch === 0) return 'never_claimed'
  if (leaseId !== null && leaseId !== found.lease_id) return 'lease_id_mismatch'
  if (isEnded(found.public_state!)) return 'ended'
  return found.interruption === 'revoked' ? 'already_revoked' : 'no_active_lease'
}

/** Null when the revocation has ended the lease. */
function whyNotHeld(item: Revocation, found: RowOf<typeof row>): NotHeld | null {
  const { workerInstanceId, leaseId } = item
  if (found.is_active !== true) return whyNotActive(item, found)
  if (workerInstanceId !== null && workerInstanceId !== '' && workerInstanceId !== found.holder) {
    return 'different_worker_instance_id'
  }
  return leaseId !== null && leaseId !== found.lease_id ? 'lease_id_mismatch' : null
}

function effectsOf(items: readonly Revocation[], rows: readonly RowOf<typeof row>[]): Effects {
  const itemOf = (found: RowOf<typeof row>): Revocation => items[found.ordinal - 1]!
  const revoked = rows.filter((found) => found.repeated === null && whyNotHeld(itemOf(found), found) === null)
  return {
    ...readyAgain(rows),
    pendingDispatch: revoked.reduce((bits, found) => (found.is_cancelled === true ? bits | found.owes! : bits), 0),
    stoppedRunIds: revoked.map((found) => itemOf(found).uuid),
  }
}

export function revokeOperation(sql: Sql): SetOperation<Revocation, RevokeResult> {
  return operatorSet(
    sql,
    (items, again) =>
      call(revokeStatement, {
        ...targetValues(items),
        instances: items.map((item) => item.workerInstanceId),
        lease_ids: items.map((item) => item.leaseId),
        reasons: items.map((item) => item.reason),
        ...requestValues(items, again),
      }),
    (item, found) => {
      const { executionId } = item
      if (found.repeated !== null) return { ...(found.repeated as Kept), executionId }
      const why = whyNotHeld(item, found)
      if (why !== null) return { kind: 'not_held', executionId, why }
      if (found.is_cancelled === true) return { kind: 'cancelled', executionId }
      return { kind: 'revoked', executionId, leaseId: found.lease_id!, leaseEpoch: found.lease_epoch! }
    },
    effectsOf,
  )
}
