// Rotation: a new key signs from now on, the old one verifies until its grace is over. Several may be in grace at once,
// each until its own end.
import type { Bytes } from '../../model/bytes.ts'
import { parseDuration, type Duration } from '../../model/duration.ts'
import { EngineError } from '../../model/errors.ts'
import { checkedBy } from '../../model/field-kinds.ts'
import { checkFields, type RequestOf } from '../../model/field.ts'
import { limits } from '../../model/limits.ts'
import { kid, namespace } from '../../model/named-fields.ts'
import { parseGraceMs, parseSecret } from '../../model/signing-key.ts'
import type { Queries, Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { changeKeys, installKey, kidTaken } from './keys-of-scope.ts'
import type { SigningKeys } from './keys.ts'
import { mintKey, type NewKey } from './new-key.ts'
import { namespaceOf, scopeFor } from './scope.ts'

export const rotateFields = {
  /** Left out: the caller's namespace; for a caller of all, the keys that all namespaces share. */
  namespace: namespace.optional(),
  /** Both or neither; random when left out. The secret is in hex digits. */
  kid: kid.optional(),
  secret: checkedBy<string, Bytes>(parseSecret, {
    kind: 'pattern',
    pattern: /^(?:[0-9a-fA-F]{2})+$/,
    min: limits.signingSecretMinBytes * 2,
    max: limits.signingSecretBytes * 2,
  }).optional(),
  /** How long the old key continues to verify; defaults to a day. */
  grace: checkedBy<Duration, number>(parseGraceMs, { kind: 'duration' }).optional(),
}

export interface RotateRequest extends RequestOf<typeof rotateFields> {}

export type RotateResult =
  | {
      readonly kind: 'rotated'
      /** Null: shared by all. */
      readonly namespace: string | null
      readonly kid: string
      readonly previousKid: string | null
      /** The last millisecond in which the old key verifies. */
      readonly previousExpiresAt: number | null
      /** Keys whose grace was over and whose secrets are now deleted. */
      readonly removedCount: number
    }
  /** This key with this secret signs already. */
  | { readonly kind: 'unchanged'; readonly namespace: string | null; readonly kid: string }

const defaultGraceMs = parseDuration('grace', '1d')

const retireStatement = statement({
  name: 'signing-key.retire',
  params: { namespace: 'text', expires_at_ms: 'int8', now_ms: 'int8' },
  row: { removed_count: 'int8' },
  text: `
with retired as (
  update flowfabric.ff_waitpoint_hmac
  set is_active = false, expires_at_ms = $2
  where namespace = $1 and is_active
),
removed as (
  update flowfabric.ff_waitpoint_hmac
  set secret = null, is_wrapped = false
  where namespace = $1 and expires_at_ms < $3 and secret is not null
  returning kid
)
select count(*) as removed_count
from removed`,
})

export async function rotate(
  sql: Sql,
  { wrapping }: SigningKeys,
  caller: Caller,
  request: RotateRequest,
): Promise<RotateResult> {
  const { kid, secret, grace } = checkFields('signingKeys.rotate', rotateFields, request)
  const scope = scopeFor(caller, request.namespace)
  const key = keyOf(kid, secret)
  const graceMs = grace ?? defaultGraceMs
  const about = { namespace: namespaceOf(scope), kid: key.kid }
  return changeKeys(sql, wrapping, scope, key, async (tx, { now, activeKid, sameKid }) => {
    if (sameKid === 'same' && activeKid === key.kid) return { kind: 'unchanged', ...about }
    if (sameKid !== 'none') throw kidTaken(key.kid)
    const by = { now, actor: caller.actor, previousKid: activeKid }
    const [removedCount] = await Promise.all([
      retire(tx, scope, now, graceMs),
      installKey(tx, wrapping, scope, key, by),
    ])
    const previousExpiresAt = activeKid === null ? null : now + graceMs
    return { kind: 'rotated', ...about, previousKid: activeKid, previousExpiresAt, removedCount }
  })
}

function keyOf(kid: string | null, secret: Bytes | null): NewKey {
  if (kid === null && secret === null) return mintKey()
  if (kid !== null && secret !== null) return { kid, secret }
  const [given, field] = kid === null ? ['secret', 'kid'] : ['kid', 'secret']
  throw new EngineError('invalid_input', `${given} is given without ${field}; pass both or neither`, { field })
}

async function retire(tx: Queries, scope: string, now: number, graceMs: number): Promise<number> {
  const [row] = await tx.query(retireStatement, { namespace: scope, expires_at_ms: now + graceMs, now_ms: now })
  return row!.removed_count
}
