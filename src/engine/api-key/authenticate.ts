// The rights of a key, if it is valid. Whether it is unknown, revoked, expired or wrong is not disclosed. Its use is
// recorded once a minute.
import { isSameSecret, parseApiKey } from '../../model/api-key.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { apiKeyColumns, apiKeyRow, decodeApiKey, type ApiKey } from './api-key.ts'

export interface AuthenticateRequest {
  readonly key: string
}

const isLive = '(k.revoked_at_ms is null and coalesce(k.expires_at_ms >= flowfabric.ff_now_ms(), true))'

const authenticateStatement = statement({
  name: 'api-key.authenticate',
  params: { key_id: 'text', secret_hash: 'bytea', namespace: 'text?' },
  row: { ...apiKeyRow, secret_hash: 'bytea' },
  text: `
with used as (
  update flowfabric.ff_api_key k
  set last_used_at_ms = flowfabric.ff_now_ms()
  where k.key_id = $1
    and k.secret_hash = $2
    and ${isLive}
    and ($3::text is null or k.namespace = $3)
    and coalesce(k.last_used_at_ms, 0) < flowfabric.ff_now_ms() - 60000
)
select ${apiKeyColumns}, k.secret_hash
from flowfabric.ff_api_key k
where k.key_id = $1 and ${isLive} and ($3::text is null or k.namespace = $3)`,
})

export async function authenticate(sql: Sql, caller: Caller, request: AuthenticateRequest): Promise<ApiKey | null> {
  refuseUnknownFields('apiKeys.authenticate', request, ['key'])
  const parts = parseApiKey(request.key)
  if (parts === null) return null
  const { keyId, secretHash } = parts
  const values = { key_id: keyId, secret_hash: secretHash, namespace: caller.namespace }
  const [row] = await sql.query(authenticateStatement, values)
  return row !== undefined && isSameSecret(row.secret_hash, secretHash) ? decodeApiKey(row) : null
}
