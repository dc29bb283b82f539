// A cache of keys, so that not every request queries the database. A revoked key is refused at once by the server that
// revoked it, and by the others within ten seconds. An expiring key is cached no longer than it is valid. Unknown keys
// are cached separately, so that they evict no valid one.
import { createHash } from 'node:crypto'
import type { Engine } from '../engine/contract.ts'
import type { Identity } from './identity.ts'

const keptMs = 10_000
const mostValid = 10_000
const mostUnknown = 1_000

interface FoundKey {
  readonly identity: Identity | null
  /** How much longer it is valid. */
  readonly leftMs: number
}

interface KeyLookup {
  readonly identity: Identity | null
  readonly until: number
}

export class KnownKeys {
  readonly #engine: Engine
  readonly #now: () => number
  readonly #valid = new Map<string, KeyLookup>()
  readonly #unknown = new Map<string, KeyLookup>()
  readonly #pending = new Map<string, Promise<Identity | null>>()

  constructor(engine: Engine, now: () => number = () => performance.now()) {
    this.#engine = engine
    this.#now = now
  }

  /** By a hash: the keys themselves are stored nowhere. */
  async authenticate(key: string): Promise<Identity | null> {
    const name = createHash('sha256').update(key).digest('base64')
    const known = this.#valid.get(name) ?? this.#unknown.get(name)
    if (known !== undefined && known.until > this.#now()) return known.identity
    const before = this.#pending.get(name)
    if (before !== undefined) return before
    const pending: Promise<Identity | null> = this.#lookUpAndKeep(name, key, () => this.#pending.get(name) === pending)
    this.#pending.set(name, pending)
    return pending
  }

  forget(): void {
    this.#valid.clear()
    this.#unknown.clear()
    this.#pending.clear()
  }

  /** `isLatest`: no key was revoked since the query, and the cache was not cleared. */
  async #lookUpAndKeep(name: string, key: string, isLatest: () => boolean): Promise<Identity | null> {
    const queriedAt = this.#now()
    try {
      const { identity, leftMs } = await this.#lookUp(key)
      if (isLatest()) this.#keep(name, { identity, until: queriedAt + Math.min(keptMs, leftMs) })
      return identity
    } finally {
      if (isLatest()) this.#pending.delete(name)
    }
  }

  #keep(name: string, lookup: KeyLookup): void {
    this.#valid.delete(name)
    this.#unknown.delete(name)
    const [kept, most] = lookup.identity === null ? [this.#unknown, mostUnknown] : [this.#valid, mostValid]
    if (kept.size >= most) kept.delete(kept.keys().next().value!)
    kept.set(name, lookup)
  }

  async #lookUp(key: string): Promise<FoundKey> {
    const found = await this.#engine.apiKeys.authenticate({ key })
    if (found === null) return { identity: null, leftMs: Infinity }
    const { keyId, namespace, name, scopes, requestsPerSecond, expiresAt } = found
    const leftMs = expiresAt === null ? Infinity : expiresAt - (await this.#engine.serverTime())
    return { identity: { keyId, namespace: namespace ?? '*', actor: name, scopes, requestsPerSecond }, leftMs }
  }
}
