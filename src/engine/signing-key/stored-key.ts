// A stored key: plain, or wrapped by a secret that the database never has.
import { createSecretKey } from 'node:crypto'
import { EngineError } from '../../model/errors.ts'
import type { SigningKey } from '../../model/signing-key.ts'
import { unwrapSecret, wrapSecret, type KeyOwner } from '../../model/wrapped-secret.ts'
import { sharedScope } from './scope.ts'

export interface StoredKey {
  readonly key_scope: string
  readonly key_kid: string
  readonly key_expires_at_ms: number | null
  readonly key_is_wrapped: boolean
  readonly key_secret: Uint8Array
}

/** The columns of a key that may be missing or removed; then all are null. */
export const storedKeyRow = {
  key_scope: 'text?',
  key_kid: 'text?',
  key_expires_at_ms: 'int8?',
  key_is_wrapped: 'bool?',
  key_secret: 'bytea?',
} as const

export type MaybeStoredKey = { readonly [Column in keyof StoredKey]: StoredKey[Column] | null }

export function isStored(found: MaybeStoredKey): found is StoredKey {
  return found.key_secret !== null
}

/** Unique over all scopes: no kid has a colon. */
export function keyName(scope: string, kid: string): string {
  return `${scope}:${kid}`
}

/** The same in SQL, for a row with the columns of `storedKeyRow`. */
export const keyNameSql = (key: string): string => `${key}.key_scope || ':' || ${key}.key_kid`

const storedKeyColumns = `k.namespace as key_scope, k.kid as key_kid, k.expires_at_ms as key_expires_at_ms,
    k.is_wrapped as key_is_wrapped, k.secret as key_secret`

/** Follows a `from`; yields, as `signing`, the key that signs now: the namespace's own, otherwise the shared one. */
export function signingKeyOf(namespace: string): string {
  return `
left join lateral (
  select ${storedKeyColumns}
  from flowfabric.ff_waitpoint_hmac k
  where k.namespace = any (array[${namespace}, '${sharedScope}']) and k.is_active
  order by k.namespace desc
  limit 1
) signing on true`
}

/** Follows a `from`; yields, as `k`, the key of this id that verifies for the namespace. */
export function keyByKid(namespace: string, kid: string): string {
  return `
left join lateral (
  select ${storedKeyColumns}
  from flowfabric.ff_waitpoint_hmac k
  where k.namespace = any (array[${namespace}, '${sharedScope}']) and k.kid = ${kid} and k.secret is not null
  limit 1
) k on true`
}

/** SQL for `isLive`, for a row of `ff_waitpoint_hmac`. */
export function isLiveSql(key: string, now: string): string {
  return `${key}.secret is not null and (${key}.expires_at_ms is null or ${key}.expires_at_ms >= ${now})`
}

/**
 * Wraps secrets before they are stored and unwraps them after they are read. The secret is private, so that printing an
 * engine does not print it.
 */
export class Wrapping {
  readonly #secret: string | null

  constructor(secret: string | null) {
    this.#secret = secret
  }

  open(stored: StoredKey): SigningKey {
    const { key_kid: kid, key_expires_at_ms: expiresAt, key_secret: bytes } = stored
    const owner = { namespace: stored.key_scope, kid }
    return { kid, expiresAt, secret: createSecretKey(stored.key_is_wrapped ? this.#unwrap(bytes, owner) : bytes) }
  }

  seal(secret: Uint8Array, owner: KeyOwner): { readonly secret: Uint8Array; readonly is_wrapped: boolean } {
    if (this.#secret === null) return { secret, is_wrapped: false }
    return { secret: wrapSecret(secret, this.#secret, owner), is_wrapped: true }
  }

  #unwrap(bytes: Uint8Array, owner: KeyOwner): Uint8Array {
    if (this.#secret !== null) return unwrapSecret(bytes, this.#secret, owner)
    const sentence = `signing key ${owner.kid} is wrapped, and this connection has no wrapping secret; connect with signing.wrappingSecret`
    throw new EngineError('wrong_wrapping_secret', sentence, { ...owner })
  }
}
