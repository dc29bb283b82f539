// An API key without its secret.
import { describeActor } from '../../model/actor.ts'
import type { Scope } from '../../model/api-key.ts'
import type { RowOf } from '../../sql/statement.ts'
import { namespaceOf } from '../signing-key/scope.ts'

export interface ApiKey {
  readonly keyId: string
  /** Null: all namespaces. */
  readonly namespace: string | null
  /** The actor in the log. */
  readonly name: string
  readonly scopes: readonly Scope[]
  /** Null: the default limit of the server. */
  readonly requestsPerSecond: number | null
  readonly createdAt: number
  readonly createdBy: string
  /** To the minute. */
  readonly lastUsedAt: number | null
  readonly revokedAt: number | null
  /** Its last millisecond; null: it does not expire. */
  readonly expiresAt: number | null
}

export const apiKeyRow = {
  key_id: 'text',
  namespace: 'text',
  name: 'text',
  scopes: 'text[]',
  requests_per_second: 'int4?',
  created_at_ms: 'int8',
  created_by: 'text',
  last_used_at_ms: 'int8?',
  revoked_at_ms: 'int8?',
  expires_at_ms: 'int8?',
} as const

export const apiKeyColumns = `k.key_id, k.namespace, k.name, k.scopes, k.requests_per_second, k.created_at_ms, k.created_by,
  k.last_used_at_ms, k.revoked_at_ms, k.expires_at_ms`

export function decodeApiKey(row: RowOf<typeof apiKeyRow>): ApiKey {
  return {
    keyId: row.key_id,
    namespace: namespaceOf(row.namespace),
    name: row.name,
    scopes: row.scopes as readonly Scope[],
    requestsPerSecond: row.requests_per_second,
    createdAt: row.created_at_ms,
    createdBy: describeActor(row.created_by),
    lastUsedAt: row.last_used_at_ms,
    revokedAt: row.revoked_at_ms,
    expiresAt: row.expires_at_ms,
  }
}
