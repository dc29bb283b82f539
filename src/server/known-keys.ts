// Keys that were looked up just now, so that not every request asks the database. A revoked key is refused at once by the server
// that revoked it, and by the others within ten seconds. Unknown keys are kept apart, so that they drive out no valid one.
import { createHash } from 'node:crypto'
import type { Engine } from '../engine/contract.ts'
import type { Identity } from './identity.ts'

const keptMs = 10_000
const mostValid = 10_000
const mostUnknown = 1_000

interface Looked {
  readonly identity: Identity | null
  readonly until: number
}

export class KnownKeys {
  readonly #engine: Engine
  readonly #valid = new Map<string, Looked>()
  readonly #unknown = new Map<string, Looked>()
  readonly #asking = new Map<string, Promise<Identity | null>>()

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** By a hash: the keys themselves are kept nowhere. */
  async authenticate(key: string): Promise<Identity | null> {
    const name = createHash('sha256').update(key).digest('base64')
    const known = this.#valid.get(name) ?? this.#unknown.get(name)
    if (known !== undefined && known.until > performance.now()) return known.identity
    const before = this.#asking.get(name)
    if (before !== undefined) return before
    const asking = this.#ask(name, key)
    this.#asking.set(name, asking)
    return asking
  }

  forget(): void {
    this.#valid.clear()
    this.#unknown.clear()
    this.#asking.clear()
  }

  async #ask(name: string, key: string): Promise<Identity | null> {
    const until = performance.now() + keptMs
    try {
      const identity = await this.#lookUp(key)
      // It may have been revoked while it was looked up.
      if (this.#asking.has(name)) this.#keep(name, { identity, until })
      return identity
    } finally {
      this.#asking.delete(name)
    }
  }

  #keep(name: string, looked: Looked): void {
    this.#valid.delete(name)
    this.#unknown.delete(name)
    const [kept, most] = looked.identity === null ? [this.#unknown, mostUnknown] : [this.#valid, mostValid]
    if (kept.size >= most) kept.delete(kept.keys().next().value!)
    kept.set(name, looked)
  }

  async #lookUp(key: string): Promise<Identity | null> {
    const found = await this.#engine.apiKeys.authenticate({ key })
    if (found === null) return null
    const { keyId, namespace, name, scopes, requestsPerSecond } = found
    return { keyId, namespace: namespace ?? '*', actor: name, scopes, requestsPerSecond }
  }
}
