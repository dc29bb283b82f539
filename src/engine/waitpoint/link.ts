// An approval link: whoever opens it asks for one action on one waitpoint, once and until it expires. Made by whoever has the
// right to act in the namespace, and told of by an event.
import { checkAction, signLink } from '../../model/approval-link.ts'
import { parseDuration, type Duration } from '../../model/duration.ts'
import { EngineError, refusal } from '../../model/errors.ts'
import { formatWaitpointId, parseWaitpointId, type WaitpointId } from '../../model/id.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import type { WaitpointState } from '../../model/suspension.ts'
import { show } from '../../model/text.ts'
import type { Sql } from '../../sql/sql.ts'
import { oneOf, statement } from '../../sql/statement.ts'
import type { Caller } from '../caller.ts'
import { untilSent } from '../resend.ts'
import type { SigningKeys } from '../signing-key/keys.ts'
import { sharedScope } from '../signing-key/scope.ts'
import { isStored, storedKeyRow } from '../signing-key/stored-key.ts'

export interface LinkRequest {
  readonly waitpointId: WaitpointId
  /** Where the page is that opens it. */
  readonly base: string
  /** The name of the signal that it sends: `approved`, `rejected`. */
  readonly action: string
  readonly expiresIn: Duration
}

export interface ApprovalUrl {
  /** The base with a parameter `link`, which is what `signals.redeem` takes. */
  readonly url: string
  readonly expiresAt: number
}

// Signed by the namespace's own active key, else by the shared one.
const linkStatement = statement({
  name: 'waitpoint.link',
  params: {
    waitpoint_id: 'uuid',
    partition_key: 'int2',
    namespace: 'text?',
    actor: 'text',
    wire_waitpoint_id: 'text',
    action: 'text',
    expires_in_ms: 'int8',
  },
  row: { state: oneOf<WaitpointState>(), expires_at_ms: 'int8', ...storedKeyRow },
  text: `
with found as materialized (
  select e.execution_id, e.flow_id, e.generation, e.namespace, e.partition_key, p.state, flowfabric.ff_now_ms() as now_ms
  from flowfabric.ff_waitpoint_pending p
  join flowfabric.ff_exec_core e on e.execution_id = any (array[p.execution_id])
  where p.waitpoint_id = $1 and p.partition_key = $2 and ($3::text is null or e.namespace = $3)
  for key share of e
),
told as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key,
    namespace, actor, details)
  select now_ms, execution_id, flow_id, generation, 'token_read', partition_key, namespace, $4,
    jsonb_build_object('waitpointId', $5::text, 'action', $6::text, 'expiresAt', now_ms + $7)
  from found
  where state <> 'closed'
)
select f.state, f.now_ms + $7 as expires_at_ms, k.key_scope, k.key_kid, k.key_expires_at_ms, k.key_is_wrapped,
  k.key_secret
from found f
left join lateral (
  select k.namespace as key_scope, k.kid as key_kid, k.expires_at_ms as key_expires_at_ms,
    k.is_wrapped as key_is_wrapped, k.secret as key_secret
  from flowfabric.ff_waitpoint_hmac k
  where k.is_active and k.namespace = any (array[f.namespace, '${sharedScope}'])
  order by k.namespace desc
  limit 1
) k on true`,
})

export async function link(sql: Sql, keys: SigningKeys, caller: Caller, request: LinkRequest): Promise<ApprovalUrl> {
  refuseUnknownFields('waitpoints.link', request, ['waitpointId', 'base', 'action', 'expiresIn'])
  const { partition, uuid } = parseWaitpointId(request.waitpointId)
  const waitpointId = formatWaitpointId(partition, uuid)
  const url = checkBase(request.base)
  const action = checkAction(request.action)
  const expiresInMs = parseDuration('expiresIn', request.expiresIn)
  await keys.ready()
  const values = {
    waitpoint_id: uuid,
    partition_key: partition,
    namespace: caller.namespace,
    actor: caller.actor,
    wire_waitpoint_id: waitpointId,
    action,
    expires_in_ms: expiresInMs,
  }
  const [found] = await untilSent(sql, { again: false }, () => sql.query(linkStatement, values))
  if (found === undefined || !isStored(found)) {
    throw new EngineError('waitpoint_not_found', `waitpoint ${waitpointId} does not exist`, { waitpointId })
  }
  if (found.state === 'closed') {
    throw new EngineError('waitpoint_closed', `waitpoint ${waitpointId} is closed; a link to it would open nothing`, {
      waitpointId,
    })
  }
  const expiresAt = found.expires_at_ms
  url.searchParams.set('link', signLink(keys.wrapping.open(found), { waitpointId, action, expiresAt }))
  return { url: url.href, expiresAt }
}

function checkBase(base: unknown): URL {
  const url = typeof base === 'string' && URL.canParse(base) ? new URL(base) : null
  if (url !== null && ['http:', 'https:'].includes(url.protocol)) return url
  throw refusal('invalid_input', 'base', show(base), 'an http:// or https:// URL')
}
