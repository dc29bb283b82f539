// Seed: the first key of a scope, if the caller provides it. An existing key does not change.
import type { Bytes } from '../../model/bytes.ts'
import { EngineError } from '../../model/errors.ts'
import { checkedBy } from '../../model/field-kinds.ts'
import { checkFields, type RequestOf } from '../../model/field.ts'
import { kid, namespace } from '../../model/named-fields.ts'
import { parseSeedSecret } from '../../model/signing-key.ts'
import type { Sql } from '../../sql/sql.ts'
import type { Caller } from '../kernel/caller.ts'
import { changeKeys, installKey, kidTaken } from './keys-of-scope.ts'
import type { SigningKeys } from './keys.ts'
import { namespaceOf, scopeFor } from './scope.ts'

export const seedFields = {
  /** Left out: the caller's namespace; for a caller of all, the keys that all namespaces share. */
  namespace: namespace.optional(),
  kid,
  /** Exactly 64 hex digits. */
  secret: checkedBy<string, Bytes>(parseSeedSecret, { kind: 'pattern', pattern: /^[0-9a-fA-F]{64}$/ }),
}

export interface SeedRequest extends RequestOf<typeof seedFields> {}

export type SeedResult =
  | { readonly kind: 'seeded'; readonly namespace: string | null; readonly kid: string }
  /** The key that signs has this id; its secret does not change. */
  | {
      readonly kind: 'already_seeded'
      readonly namespace: string | null
      readonly kid: string
      readonly hasSameSecret: boolean
    }

export async function seed(
  sql: Sql,
  { wrapping }: SigningKeys,
  caller: Caller,
  request: SeedRequest,
): Promise<SeedResult> {
  const { kid, secret } = checkFields('signingKeys.seed', seedFields, request)
  const scope = scopeFor(caller, request.namespace)
  const key = { kid, secret }
  const about = { namespace: namespaceOf(scope), kid: key.kid }
  return changeKeys(sql, wrapping, scope, key, async (tx, { now, activeKid, sameKid }) => {
    if (activeKid === key.kid) return { kind: 'already_seeded', ...about, hasSameSecret: sameKid === 'same' }
    if (activeKid !== null) {
      const sentence = `signing key ${activeKid} is already active, so ${key.kid} cannot be the first key; rotate to it instead`
      throw new EngineError('invalid_input', sentence, { kid: key.kid, activeKid })
    }
    if (sameKid !== 'none') throw kidTaken(key.kid)
    await installKey(tx, wrapping, scope, key, { now, actor: caller.actor, previousKid: null })
    return { kind: 'seeded', ...about }
  })
}
