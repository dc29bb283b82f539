// The keys of this engine's waitpoint tokens. Which key signs, and which still verify, is read from the database each time,
// so that a rotation holds from its commit on. What a kid stands for never changes, so that is remembered.
import type { SigningKey } from '../../model/signing-key.ts'
import { mintToken, type TokenSubject } from '../../model/token.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { untilSent } from '../kernel/resend.ts'
import { kidTaken } from './keys-of-scope.ts'
import { mintKey, type NewKey } from './new-key.ts'
import { sharedScope } from './scope.ts'
import { isStored, keyByKid, keyName, storedKeyRow, Wrapping, type StoredKey } from './stored-key.ts'

/** What of a waitpoint's row makes its token. */
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

// Of two who are first at once, the second waits for the first and then inserts nothing. A change of keys locks the table,
// so that none gives the id to a namespace meanwhile.
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
  /** Wraps the secrets that are stored, so that the database never sees them. */
  readonly wrappingSecret?: string
  /** Where the database has no key yet; made by chance when left out. */
  readonly firstKey?: NewKey
}

/** What was opened once. Whether it still verifies is the database's to say. */
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

  /** From here on there is a key that signs for every namespace. */
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

  /** Refuses one that our secret does not unwrap. */
  open(stored: StoredKey): SigningKey {
    const { key_scope: scope, key_kid: kid, key_expires_at_ms: expiresAt } = stored
    const name = keyName(scope, kid)
    const { secret } = this.#opened.get(name) ?? this.#remember(name, this.wrapping.open(stored))
    return { kid, secret, expiresAt }
  }

  /** The names of those that were opened: what is signed by one of them can be given a token. */
  openedNames(): string[] {
    return [...this.#opened.keys()]
  }

  /** What was opened of a scope; whether it still verifies is for a statement to ask. */
  openedOf(scope: string, kid: string): OpenedKey | undefined {
    return this.#opened.get(keyName(scope, kid))
  }

  /** The key of this id that verifies for the namespace, if it was opened before. */
  #openedFor(namespace: string, kid: string): OpenedKey | undefined {
    return this.#opened.get(keyName(namespace, kid)) ?? this.#opened.get(keyName(sharedScope, kid))
  }

  /** Has them opened, whoever can: what is left was removed. */
  async openAll(namespace: string, kids: Iterable<string>): Promise<void> {
    for (const kid of new Set(kids)) {
      if (this.#openedFor(namespace, kid) !== undefined) continue
      const [found] = await this.#sql.query(readKey, { namespace, kid })
      if (found !== undefined && isStored(found)) this.open(found)
    }
  }

  /** The token that the waitpoint was given out with, by a key that was opened; null when the key has been removed. */
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
