// The keys that verify, without their secrets. There are few: one that signs, and those in grace.
import { checkFields, type RequestOf } from '../../model/field.ts'
import { namespace } from '../../model/named-fields.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { namespaceOf, scopeFor, sharedScope } from './scope.ts'

export const listSigningKeysFields = {
  /** Its keys and the shared ones. Left out: the caller's namespace; for a caller of all, the shared ones. */
  namespace: namespace.optional(),
}

export interface ListSigningKeysRequest extends RequestOf<typeof listSigningKeysFields> {}

export interface ListedSigningKey {
  /** Null: shared by all. */
  readonly namespace: string | null
  readonly kid: string
  /** It signs; the others verify. */
  readonly isActive: boolean
  readonly createdAt: number
  /** The last millisecond in which it verifies; null for the one that signs. */
  readonly expiresAt: number | null
}

const listStatement = statement({
  name: 'signing-key.list',
  params: { namespace: 'text' },
  row: { namespace: 'text', kid: 'text', is_active: 'bool', created_at_ms: 'int8', expires_at_ms: 'int8?' },
  text: `
select namespace, kid, is_active, created_at_ms, expires_at_ms
from flowfabric.ff_waitpoint_hmac
where namespace = any (array[$1, '${sharedScope}'])
  and secret is not null
  and (is_active or expires_at_ms >= flowfabric.ff_now_ms())
order by namespace desc, is_active desc, created_at_ms desc, kid`,
})

/** Those of the namespace first; for each scope the one that signs, then the newest. */
export async function listSigningKeys(
  sql: Sql,
  caller: Caller,
  request: ListSigningKeysRequest,
): Promise<readonly ListedSigningKey[]> {
  checkFields('signingKeys.list', listSigningKeysFields, request)
  const rows = await sql.query(listStatement, { namespace: scopeFor(caller, request.namespace) })
  return rows.map((row) => ({
    namespace: namespaceOf(row.namespace),
    kid: row.kid,
    isActive: row.is_active,
    createdAt: row.created_at_ms,
    expiresAt: row.expires_at_ms,
  }))
}
