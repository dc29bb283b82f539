// Keys that were looked up just now, so that not every request asks the database. A revoked key is refused at once by the server
// that revoked it, and by the others within ten seconds; one that expires is kept no longer than it is valid. Unknown keys are kept
// apart, so that they drive out no valid one.
import { createHash } from 'node:crypto'
import type { Engine } from '../engine/contract.ts'
import type { Identity } from './identity.ts'

const keptMs = 10_000
const mostValid = 10_000
const mostUnknown = 1_000

interface FoundKey {
  readonly identity: Identity | null
  /** For how long it stays valid. */
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
  readonly #asking = new Map<string, Promise<Identity | null>>()

  constructor(engine: Engine, now: () => number = () => performance.now()) {
    this.#engine = engine
    this.#now = now
  }

  /** By a hash: the keys themselves are kept nowhere. */
  async authenticate(key: string): Promise<Identity | null> {
    const name = createHash('sha256').update(key).digest('base64')
    const known = this.#valid.get(name) ?? this.#unknown.get(name)
    if (known !== undefined && known.until > this.#now()) return known.identity
    const before = this.#asking.get(name)
    if (before !== undefined) return before
    const asking: Promise<Identity | null> = this.#ask(name, key, () => this.#asking.get(name) === asking)
    this.#asking.set(name, asking)
    return asking
  }

  forget(): void {
    this.#valid.clear()
    this.#unknown.clear()
    this.#asking.clear()
  }

  /** `isLatest`: no key was revoked since it was asked, and nothing was forgotten. */
  async #ask(name: string, key: string, isLatest: () => boolean): Promise<Identity | null> {
    const askedAt = this.#now()
    try {
      const { identity, leftMs } = await this.#lookUp(key)
      if (isLatest()) this.#keep(name, { identity, until: askedAt + Math.min(keptMs, leftMs) })
      return identity
    } finally {
      if (isLatest()) this.#asking.delete(name)
    }
  }

  #keep(name: string, looked: KeyLookup): void {
    this.#valid.delete(name)
    this.#unknown.delete(name)
    const [kept, most] = looked.identity === null ? [this.#unknown, mostUnknown] : [this.#valid, mostValid]
    if (kept.size >= most) kept.delete(kept.keys().next().value!)
    kept.set(name, looked)
  }

  async #lookUp(key: string): Promise<FoundKey> {
    const found = await this.#engine.apiKeys.authenticate({ key })
    if (found === null) return { identity: null, leftMs: Infinity }
    const { keyId, namespace, name, scopes, requestsPerSecond, expiresAt } = found
    const leftMs = expiresAt === null ? Infinity : expiresAt - (await this.#engine.serverTime())
    return { identity: { keyId, namespace: namespace ?? '*', actor: name, scopes, requestsPerSecond }, leftMs }
  }
}
