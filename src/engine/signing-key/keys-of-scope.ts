// The facts for a change of keys: the key of its scope that signs, and the existing key with the new id. The table is
// locked, because "no other scope has the id" is not a row that could be locked; signing and verifying only read, and
// are not blocked.
import { createSecretKey } from 'node:crypto'
import { EngineError } from '../../model/errors.ts'
import type { Queries, Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { untilSent } from '../kernel/resend.ts'
import type { NewKey } from './new-key.ts'
import { sharedScope } from './scope.ts'
import { isStored, storedKeyRow, type MaybeStoredKey, type Wrapping } from './stored-key.ts'

/** The keys in the database, under the lock. */
export interface KeysOfScope {
  readonly now: number
  readonly activeKid: string | null
  /** The secret of the key that has the new id; `other` also when it was removed, or belongs to another scope. */
  readonly sameKid: 'none' | 'same' | 'other'
}

const lockKeys = `set local lock_timeout = '10s';
lock table flowfabric.ff_waitpoint_hmac in share row exclusive mode`

const readActiveKid = statement({
  name: 'signing-key.active-kid',
  params: { namespace: 'text' },
  row: { now_ms: 'int8', kid: 'text?' },
  text: `
select c.now_ms, k.kid
from (select flowfabric.ff_now_ms() as now_ms) c
left join flowfabric.ff_waitpoint_hmac k on k.is_active and k.namespace = $1`,
})

const readSameKid = statement({
  name: 'signing-key.same-kid',
  params: { namespace: 'text', kid: 'text' },
  row: storedKeyRow,
  text: `
select namespace as key_scope, kid as key_kid, expires_at_ms as key_expires_at_ms, is_wrapped as key_is_wrapped,
  secret as key_secret
from flowfabric.ff_waitpoint_hmac
where kid = $2 and (namespace = $1 or namespace = '${sharedScope}' or $1 = '${sharedScope}')`,
})

/**
 * One change at a time in the whole database. A commit whose reply was lost is recognized by the new key, by its id and
 * its secret: the repeat returns the result of that change, whatever happened to the key since.
 */
export function changeKeys<T>(
  sql: Sql,
  wrapping: Wrapping,
  scope: string,
  key: NewKey,
  change: (tx: Queries, found: KeysOfScope) => Promise<T>,
): Promise<T> {
  const { kid } = key
  const secret = createSecretKey(key.secret)
  let lost: { readonly answer: T } | null = null
  return untilSent(sql, { again: false }, (again) =>
    sql.transaction(async (tx) => {
      const [, active, sameKid] = await Promise.all([
        tx.script(lockKeys),
        tx.query(readActiveKid, { namespace: scope }),
        tx.query(readSameKid, { namespace: scope, kid }),
      ])
      const { now_ms: now, kid: activeKid } = active[0]!
      const isSame = (found: MaybeStoredKey): boolean =>
        found.key_scope === scope && isStored(found) && wrapping.open(found).secret.equals(secret)
      const found = sameKid.length === 0 ? 'none' : sameKid.every(isSame) ? 'same' : 'other'
      if (again && lost !== null && found === 'same') return lost.answer
      const answer = await change(tx, { now, activeKid, sameKid: found })
      lost = { answer }
      return answer
    }),
  )
}

const insertKey = statement({
  name: 'signing-key.install',
  params: {
    namespace: 'text',
    kid: 'text',
    now_ms: 'int8',
    is_wrapped: 'bool',
    secret: 'bytea',
    actor: 'text',
    previous_kid: 'text?',
  },
  row: {},
  text: `
with installed as (
  insert into flowfabric.ff_waitpoint_hmac (namespace, kid, created_at_ms, is_active, is_wrapped, secret)
  values ($1, $2, $3, true, $4, $5)
  returning namespace, kid, created_at_ms
)
insert into flowfabric.ff_event (occurred_at_ms, event_type, partition_key, namespace, actor, details)
select created_at_ms, 'key_rotated', 0, namespace, $6,
  jsonb_strip_nulls(jsonb_build_object('kid', kid, 'previousKid', $7::text))
from installed`,
})

/** Makes it the key that signs, for a scope without one. */
export async function installKey(
  tx: Queries,
  wrapping: Wrapping,
  scope: string,
  { kid, secret }: NewKey,
  by: { readonly now: number; readonly actor: string; readonly previousKid: string | null },
): Promise<void> {
  await tx.query(insertKey, {
    namespace: scope,
    kid,
    now_ms: by.now,
    ...wrapping.seal(secret, { namespace: scope, kid }),
    actor: by.actor,
    previous_kid: by.previousKid,
  })
}

export function kidTaken(kid: string): EngineError {
  const sentence = `signing key id ${kid} is or was in use, and ids cannot be reused; choose a new one`
  return new EngineError('rotation_conflict', sentence, { kid })
}
