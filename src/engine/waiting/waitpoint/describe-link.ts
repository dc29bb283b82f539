// The question of an approval link, for its page: opening it decides nothing, and an invalid link discloses nothing.
import { claimedByLink, invalidLink, verifyLink } from '../../../model/approval-link.ts'
import { formatExecutionId, formatWaitpointId, type ExecutionId, type WaitpointId } from '../../../model/id.ts'
import { checkFields, type RequestOf } from '../../../model/field.ts'
import { signedLink } from '../../../model/named-fields.ts'
import type { SuspensionReason, WaitpointState } from '../../../model/suspension.ts'
import { tokenFingerprint } from '../../../model/token.ts'
import type { Sql } from '../../../sql/sql.ts'
import { oneOf, statement } from '../../../sql/statement.ts'
import type { Caller } from '../../kernel/caller.ts'
import type { SigningKeys } from '../../signing-key/keys.ts'
import { isStored, keyByKid, storedKeyRow } from '../../signing-key/stored-key.ts'
import { stateNowSql } from './state-now.ts'

export const describeLinkFields = {
  /** The signed part of the link. */
  link: signedLink,
}

export interface DescribeLinkRequest extends RequestOf<typeof describeLinkFields> {}

export interface LinkDetail {
  readonly executionId: ExecutionId
  readonly waitpointId: WaitpointId
  readonly waitpointKey: string
  /** The possible decisions: one action, or an action and its opposite. */
  readonly actions: readonly string[]
  /** The person whom it was issued for; null without one. */
  readonly person: string | null
  readonly expiresAt: number
  /** `used`: this link was used; `closed`: another signal was accepted, or it is over. */
  readonly state: 'open' | 'used' | 'closed'
  /** The action that was sent. */
  readonly usedAction: string | null
  readonly namespace: string
  readonly lane: string
  readonly kind: string
  /** The creator of the execution. */
  readonly creator: string
  /** The reason of the suspension, while it is open. */
  readonly reason: SuspensionReason | null
  readonly suspendedAt: number | null
  readonly timeoutAt: number | null
  readonly payload: Uint8Array | null
  readonly payloadEncoding: string | null
}

const describeStatement = statement({
  name: 'waitpoint.describe-link',
  params: { waitpoint_id: 'uuid', partition_key: 'int2', namespace: 'text?', kid: 'text', idempotency_key: 'text' },
  row: {
    now_ms: 'int8',
    execution_id: 'uuid',
    namespace: 'text',
    lane_id: 'text',
    execution_kind: 'text',
    waitpoint_key: 'text',
    state: oneOf<WaitpointState>(),
    creator_identity: 'text',
    payload: 'bytea?',
    payload_encoding: 'text?',
    reason_code: oneOf<SuspensionReason | null>(),
    suspended_at_ms: 'int8?',
    timeout_at_ms: 'int8?',
    used_name: 'text?',
    ...storedKeyRow,
  },
  text: `
select flowfabric.ff_now_ms() as now_ms, e.execution_id, e.namespace, q.lane_id, q.execution_kind, p.waitpoint_key,
  ${stateNowSql('p')} as state,
  n.creator_identity, n.payload, n.payload_encoding, s.reason_code, s.suspended_at_ms, s.timeout_at_ms,
  g.signal_name as used_name, k.key_scope, k.key_kid, k.key_expires_at_ms, k.key_is_wrapped, k.key_secret
from flowfabric.ff_waitpoint_pending p
join flowfabric.ff_exec_core e on e.execution_id = any (array[p.execution_id])
join flowfabric.ff_exec_input n
  on n.partition_key = any (array[e.partition_key]) and n.execution_id = any (array[e.execution_id])
join flowfabric.ff_queue q on q.queue_id = any (array[e.queue_id])${keyByKid('e.namespace', '$4')}
left join flowfabric.ff_suspension_current s
  on s.execution_id = any (array[e.execution_id]) and s.suspension_id = p.suspension_id and s.closed_at_ms is null
left join lateral (
  select g.signal_name
  from flowfabric.ff_signal g
  where g.execution_id = e.execution_id and g.idempotency_key = $5 and g.waitpoint_id = p.waitpoint_id
  offset 0
) g on true
where p.waitpoint_id = $1 and p.partition_key = $2 and ($3::text is null or e.namespace = $3)`,
})

export async function describeLink(
  sql: Sql,
  signingKeys: SigningKeys,
  caller: Caller,
  request: DescribeLinkRequest,
): Promise<LinkDetail> {
  checkFields('waitpoints.describeLink', describeLinkFields, request)
  const claimed = claimedByLink(request.link)
  if (claimed === null) throw invalidLink()
  const { partition, uuid } = claimed.waitpoint
  const [found] = await sql.query(describeStatement, {
    waitpoint_id: uuid,
    partition_key: partition,
    namespace: caller.namespace,
    kid: claimed.kid,
    idempotency_key: `link:${tokenFingerprint(request.link)}`,
  })
  const keys = found !== undefined && isStored(found) ? [signingKeys.open(found)] : []
  const link = verifyLink(request.link, keys, found?.now_ms ?? 0)
  if (found === undefined || link === null) throw invalidLink()
  return {
    executionId: formatExecutionId(partition, found.execution_id),
    waitpointId: formatWaitpointId(partition, uuid),
    waitpointKey: found.waitpoint_key,
    actions: link.actions,
    person: link.person === '' ? null : link.person,
    expiresAt: link.expiresAt,
    state: found.used_name !== null ? 'used' : found.state === 'closed' ? 'closed' : 'open',
    usedAction: found.used_name,
    namespace: found.namespace,
    lane: found.lane_id,
    kind: found.execution_kind,
    creator: found.creator_identity,
    reason: found.reason_code,
    suspendedAt: found.suspended_at_ms,
    timeoutAt: found.timeout_at_ms,
    payload: found.payload,
    payloadEncoding: found.payload_encoding,
  }
}
