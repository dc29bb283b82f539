// Creates an API key. The key is returned once; only the hash of its secret is stored.
import { checkScopes, mintApiKey, type Scope } from '../../model/api-key.ts'
import { refusal } from '../../model/errors.ts'
import { checkedBy, text, time, whole } from '../../model/field-kinds.ts'
import { checkFields, type RequestOf } from '../../model/field.ts'
import { limits } from '../../model/limits.ts'
import { namespace } from '../../model/named-fields.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { untilSent } from '../kernel/resend.ts'
import { namespaceOf, scopeFor } from '../signing-key/scope.ts'
import { keyWasMade } from './made.ts'

export const createApiKeyFields = {
  /** The actor of its calls in the log. */
  name: text({ minBytes: 1, maxBytes: limits.apiKeyNameBytes, refuseControls: true }),
  scopes: checkedBy<readonly Scope[]>(checkScopes, { kind: 'named', name: 'scopes' }),
  /** Left out: the caller's namespace; of a caller of all, all of them. */
  namespace: namespace.optional(),
  /** Left out: as many as the server allows a key. */
  requestsPerSecond: whole({ min: 1, max: limits.requestsPerSecond }).optional(),
  /** The last millisecond of its validity; left out: it does not expire. */
  expiresAt: time().optional().describe('The last millisecond of its validity.'),
}

export interface CreateApiKeyRequest extends RequestOf<typeof createApiKeyFields> {}

export interface ApiKeyCreated {
  readonly kind: 'created'
  readonly keyId: string
  /** Shown now and never again. */
  readonly key: string
  /** Null: all namespaces. */
  readonly namespace: string | null
  readonly name: string
  readonly scopes: readonly Scope[]
  readonly expiresAt: number | null
}

// Sent again after a lost reply it finds its own row, by the id that was minted before.
const createStatement = statement({
  name: 'api-key.create',
  params: {
    key_id: 'text',
    namespace: 'text',
    name: 'text',
    scopes: 'text[]',
    secret_hash: 'bytea',
    requests_per_second: 'int4?',
    actor: 'text',
    expires_at_ms: 'int8?',
  },
  row: { now_ms: 'int8' },
  text: `
with created as (
  insert into flowfabric.ff_api_key (key_id, namespace, name, scopes, secret_hash, requests_per_second, created_at_ms,
    created_by, expires_at_ms)
  select $1, $2, $3, $4, $5, $6, flowfabric.ff_now_ms(), $7, $8
  where coalesce($8 >= flowfabric.ff_now_ms(), true)
  on conflict do nothing
  returning key_id, namespace, name, scopes, created_at_ms
),
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, event_type, partition_key, namespace, actor, details)
  select created_at_ms, 'api_key_created', 0, namespace, $7,
    jsonb_build_object('keyId', key_id, 'name', name, 'scopes', scopes)
  from created
)
select flowfabric.ff_now_ms() as now_ms`,
})

export async function createApiKey(sql: Sql, caller: Caller, request: CreateApiKeyRequest): Promise<ApiKeyCreated> {
  const { name, scopes, requestsPerSecond, expiresAt } = checkFields('apiKeys.create', createApiKeyFields, request)
  const scope = scopeFor(caller, request.namespace)
  const { key, keyId, secretHash } = mintApiKey()
  const values = {
    key_id: keyId,
    namespace: scope,
    name,
    scopes,
    secret_hash: secretHash,
    requests_per_second: requestsPerSecond,
    actor: caller.actor,
    expires_at_ms: expiresAt,
  }
  const [row] = await untilSent(sql, { again: false }, () => sql.query(createStatement, values))
  if (expiresAt !== null && expiresAt < row!.now_ms) {
    throw refusal('invalid_input', 'expiresAt', new Date(expiresAt).toISOString(), 'a time in the future')
  }
  keyWasMade()
  return { kind: 'created', keyId, key, namespace: namespaceOf(scope), name, scopes, expiresAt }
}
