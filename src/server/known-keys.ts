// Keys that were looked up just now, so that not every request asks the database. A revoked key is refused at once by the server
// that revoked it, and by the others within ten seconds.
import { createHash } from 'node:crypto'
import type { Engine } from '../engine/contract.ts'
import type { Identity } from './identity.ts'

const keptMs = 10_000
const mostKeys = 10_000

export class KnownKeys {
  readonly #engine: Engine
  readonly #known = new Map<string, { readonly identity: Promise<Identity | null>; readonly until: number }>()

  constructor(engine: Engine) {
    this.#engine = engine
  }

  /** By a hash: the keys themselves are kept nowhere. */
  authenticate(key: string): Promise<Identity | null> {
    const name = createHash('sha256').update(key).digest('base64')
    const now = performance.now()
    const known = this.#known.get(name)
    if (known !== undefined && known.until > now) return known.identity
    const identity = this.#lookUp(key)
    this.#known.delete(name)
    if (this.#known.size >= mostKeys) this.#known.delete(this.#known.keys().next().value!)
    this.#known.set(name, { identity, until: now + keptMs })
    identity.catch(() => this.#known.delete(name))
    return identity
  }

  forget(): void {
    this.#known.clear()
  }

  async #lookUp(key: string): Promise<Identity | null> {
    const found = await this.#engine.apiKeys.authenticate({ key })
    if (found === null) return null
    const { keyId, namespace, name, scopes, requestsPerSecond } = found
    return { keyId, namespace: namespace ?? '*', actor: name, scopes, requestsPerSecond }
  }
}
