// Revokes a key; the row stays, so that the actors of the log can be distinguished. Other servers may still admit it
// for some seconds.
import { EngineError } from '../../model/errors.ts'
import { text } from '../../model/field-kinds.ts'
import { checkFields, type RequestOf } from '../../model/field.ts'
import { limits } from '../../model/limits.ts'
import { show } from '../../model/text.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { untilSent } from '../kernel/resend.ts'

export const revokeApiKeyFields = { keyId: text({ minBytes: 1, maxBytes: limits.keyIdBytes }) }

export interface RevokeApiKeyRequest extends RequestOf<typeof revokeApiKeyFields> {}

export interface ApiKeyRevoked {
  readonly kind: 'revoked' | 'already_revoked'
  readonly keyId: string
  readonly revokedAt: number
}

const revokeStatement = statement({
  name: 'api-key.revoke',
  params: { key_id: 'text', namespace: 'text?', actor: 'text' },
  row: { was_revoked: 'bool', revoked_at_ms: 'int8' },
  text: `
with found as materialized (
  select k.key_id, k.revoked_at_ms, flowfabric.ff_now_ms() as now_ms
  from flowfabric.ff_api_key k
  where k.key_id = $1 and ($2::text is null or k.namespace = $2)
  for update
),
revoked as (
  update flowfabric.ff_api_key k
  set revoked_at_ms = f.now_ms
  from found f
  where k.key_id = any (array[f.key_id]) and f.revoked_at_ms is null
  returning k.namespace, k.key_id, k.name, k.revoked_at_ms
),
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, event_type, partition_key, namespace, actor, details)
  select revoked_at_ms, 'api_key_revoked', 0, namespace, $3, jsonb_build_object('keyId', key_id, 'name', name)
  from revoked
)
select revoked_at_ms is not null as was_revoked, coalesce(revoked_at_ms, now_ms) as revoked_at_ms
from found`,
})

export async function revokeApiKey(sql: Sql, caller: Caller, request: RevokeApiKeyRequest): Promise<ApiKeyRevoked> {
  const { keyId } = checkFields('apiKeys.revoke', revokeApiKeyFields, request)
  const values = { key_id: keyId, namespace: caller.namespace, actor: caller.actor }
  const [row] = await untilSent(sql, { again: false }, () => sql.query(revokeStatement, values))
  if (row === undefined) throw new EngineError('api_key_not_found', `no API key has the id ${show(keyId)}`, { keyId })
  return { kind: row.was_revoked ? 'already_revoked' : 'revoked', keyId, revokedAt: row.revoked_at_ms }
}
