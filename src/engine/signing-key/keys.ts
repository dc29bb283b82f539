// The keys of this engine's waitpoint tokens. Which key signs, and which still verify, is read from the database each time,
// so that a rotation holds from its commit on. What a kid stands for never changes, so that is remembered.
import type { SigningKey } from '../../model/signing-key.ts'
import { mintToken, type TokenSubject } from '../../model/token.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { untilSent } from '../resend.ts'
import { mintKey, type NewKey } from './new-key.ts'
import { sharedScope } from './scope.ts'
import { isStored, keyByKid, storedKeyRow, Wrapping } from './stored-key.ts'

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

// Of two who are first at once, the second waits for the first and then inserts nothing.
const makeFirst = statement({
  name: 'signing-key.make-first',
  params: { kid: 'text', is_wrapped: 'bool', secret: 'bytea' },
  row: {},
  text: `
with made as (
  insert into flowfabric.ff_waitpoint_hmac (namespace, kid, created_at_ms, is_active, is_wrapped, secret)
  values ('${sharedScope}', $1, flowfabric.ff_now_ms(), true, $2, $3)
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

export class SigningKeys {
  readonly #sql: Sql
  readonly #firstKey: NewKey | undefined
  readonly wrapping: Wrapping
  readonly #known = new Map<string, Promise<SigningKey | null>>()
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
    const [active] = await this.#sql.query(readActiveShared, {})
    if (active !== undefined && isStored(active)) return void this.wrapping.open(active)
    const { kid, secret } = this.#firstKey ?? mintKey()
    const values = { kid, ...this.wrapping.seal(secret, { namespace: sharedScope, kid }) }
    await untilSent(this.#sql, { again: false }, () => this.#sql.query(makeFirst, values))
  }

  /** The token that the waitpoint was given out with; null when its key has been removed. */
  async tokenOf(namespace: string, { kid, ...subject }: SignedWaitpoint): Promise<string | null> {
    const key = await this.#keyOf(namespace, kid)
    return key === null ? null : mintToken(key, subject)
  }

  #keyOf(namespace: string, kid: string): Promise<SigningKey | null> {
    const name = `${namespace}\0${kid}`
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const reading = this.#readKey(namespace, kid)
    if (this.#known.size >= mostRemembered) this.#known.clear()
    this.#known.set(name, reading)
    reading.then(
      (key) => key ?? this.#known.delete(name),
      () => this.#known.delete(name),
    )
    return reading
  }

  async #readKey(namespace: string, kid: string): Promise<SigningKey | null> {
    const [found] = await this.#sql.query(readKey, { namespace, kid })
    return found !== undefined && isStored(found) ? this.wrapping.open(found) : null
  }
}
