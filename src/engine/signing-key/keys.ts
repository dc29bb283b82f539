// The keys of this engine's waitpoint tokens. Which key signs, and which still verify, is read from the database each
// time, so that a rotation applies from its commit on. The secret of a kid never changes, so it is cached.
import type { SigningKey } from '../../model/signing-key.ts'
import { mintToken, type TokenSubject } from '../../model/token.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { untilSent } from '../kernel/resend.ts'
import { kidTaken } from './keys-of-scope.ts'
import { mintKey, type NewKey } from './new-key.ts'
import { sharedScope } from './scope.ts'
import { isStored, keyByKid, keyName, storedKeyRow, Wrapping, type StoredKey } from './stored-key.ts'

/** The columns of a waitpoint that make its token. */
export interface SignedWaitpoint extends TokenSubject {
  readonly kid: string
}

const readActiveShared = statement({
  name: 'signing-key.active-shared',
  params: {},
  row: storedKeyRow,
  text: `
select namespace as key_scope, kid as key_kid, expires_at_ms as key_expires_at_ms, is_wrapped as key_is_wrapped,
  secret as key_secret
from flowfabric.ff_waitpoint_hmac
where is_active and namespace = '${sharedScope}'`,
})

// Of two concurrent first calls, the second waits for the first and then inserts nothing. A change of keys locks the
// table, so that no namespace gets the id meanwhile.
const makeFirst = statement({
  name: 'signing-key.make-first',
  params: { kid: 'text', is_wrapped: 'bool', secret: 'bytea' },
  row: {},
  text: `
with made as (
  insert into flowfabric.ff_waitpoint_hmac (namespace, kid, created_at_ms, is_active, is_wrapped, secret)
  select '${sharedScope}', $1, flowfabric.ff_now_ms(), true, $2, $3
  where not exists (select from flowfabric.ff_waitpoint_hmac where kid = $1)
  on conflict do nothing
  returning namespace, kid, created_at_ms
)
insert into flowfabric.ff_event (occurred_at_ms, event_type, partition_key, namespace, actor, details)
select created_at_ms, 'key_rotated', 0, namespace, 'system', jsonb_build_object('kid', kid)
from made`,
})

const readKey = statement({
  name: 'signing-key.by-kid',
  params: { namespace: 'text', kid: 'text' },
  row: storedKeyRow,
  text: `
select k.key_scope, k.key_kid, k.key_expires_at_ms, k.key_is_wrapped, k.key_secret
from (select 1) one${keyByKid('$1::text', '$2::text')}`,
})

const mostRemembered = 1000

export interface SigningKeysOptions {
  /** Wraps the stored secrets, so that the database never has them in plain. */
  readonly wrappingSecret?: string
  /** For a database without a key; random when left out. */
  readonly firstKey?: NewKey
}

/** A key that was unwrapped. The database decides whether it still verifies. */
export type OpenedKey = Pick<SigningKey, 'kid' | 'secret'>

export class SigningKeys {
  readonly #sql: Sql
  readonly #firstKey: NewKey | undefined
  readonly wrapping: Wrapping
  /** By scope and kid. */
  readonly #opened = new Map<string, OpenedKey>()
  #isReady: Promise<void> | null = null

  constructor(sql: Sql, { wrappingSecret, firstKey }: SigningKeysOptions = {}) {
    this.#sql = sql
    this.#firstKey = firstKey
    this.wrapping = new Wrapping(wrappingSecret ?? null)
  }

  /** Afterwards a key that signs exists for every namespace. */
  ready(): Promise<void> {
    this.#isReady ??= this.#makeReady().catch((error: unknown) => {
      this.#isReady = null
      throw error
    })
    return this.#isReady
  }

  async #makeReady(): Promise<void> {
    if (await this.#hasShared()) return
    const { kid, secret } = this.#firstKey ?? mintKey()
    const values = { kid, ...this.wrapping.seal(secret, { namespace: sharedScope, kid }) }
    await untilSent(this.#sql, { again: false }, () => this.#sql.query(makeFirst, values))
    if (!(await this.#hasShared())) throw kidTaken(kid)
  }

  async #hasShared(): Promise<boolean> {
    const [active] = await this.#sql.query(readActiveShared, {})
    if (active === undefined || !isStored(active)) return false
    this.open(active)
    return true
  }

  /** Refuses a key that our secret does not unwrap. */
  open(stored: StoredKey): SigningKey {
    const { key_scope: scope, key_kid: kid, key_expires_at_ms: expiresAt } = stored
    const name = keyName(scope, kid)
    const { secret } = this.#opened.get(name) ?? this.#remember(name, this.wrapping.open(stored))
    return { kid, secret, expiresAt }
  }

  /** The names of the opened keys: this process can compute the tokens that they sign. */
  openedNames(): string[] {
    return [...this.#opened.keys()]
  }

  /** The opened key of a scope; a statement has to check whether it still verifies. */
  openedOf(scope: string, kid: string): OpenedKey | undefined {
    return this.#opened.get(keyName(scope, kid))
  }

  /** The key of this id that verifies for the namespace, if it was opened before. */
  #openedFor(namespace: string, kid: string): OpenedKey | undefined {
    return this.#opened.get(keyName(namespace, kid)) ?? this.#opened.get(keyName(sharedScope, kid))
  }

  /** Opens these keys; those that are still missing afterwards were removed. */
  async openAll(namespace: string, kids: Iterable<string>): Promise<void> {
    for (const kid of new Set(kids)) {
      if (this.#openedFor(namespace, kid) !== undefined) continue
      const [found] = await this.#sql.query(readKey, { namespace, kid })
      if (found !== undefined && isStored(found)) this.open(found)
    }
  }

  /** The token of the waitpoint, by an opened key; null when the key has been removed. */
  tokenOf(namespace: string, waitpoint: SignedWaitpoint): string | null {
    const key = this.#openedFor(namespace, waitpoint.kid)
    return key === undefined ? null : mintToken(key, waitpoint)
  }

  #remember(name: string, key: SigningKey): OpenedKey {
    if (this.#opened.size >= mostRemembered) this.#opened.clear()
    this.#opened.set(name, key)
    return key
  }
}
