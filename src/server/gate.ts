// Who may do what: a bearer key becomes an identity, an identity an engine that is bound to its namespace.
import { headers as names } from '../api/headers.ts'
import type { Route } from '../api/route.ts'
import type { Engine } from '../engine/contract.ts'
import { EngineError, refusal } from '../model/errors.ts'
import { show } from '../model/text.ts'
import { RateLimit } from './rate-limit.ts'
import { allows, openIdentity, strangerIdentity, type Identity } from './identity.ts'

/** Null for a key that is unknown, revoked or damaged; which is not told. */
export type Authenticate = (key: string) => Promise<Identity | null>

export interface Admitted {
  readonly engine: Engine
  readonly identity: Identity
}

export interface RateLimits {
  readonly perKey?: number
  readonly perAddress?: number
}

export class Gate {
  readonly #engine: Engine
  readonly #authenticate: Authenticate | null
  readonly #limit = new RateLimit()
  readonly #rates: Required<RateLimits> | null

  /** Without `authenticate`, whoever comes may do everything, and as often as he likes. */
  constructor(engine: Engine, authenticate: Authenticate | null, rates: RateLimits | false = {}) {
    this.#engine = engine
    this.#authenticate = authenticate
    this.#rates = rates === false || authenticate === null ? null : { perKey: 2000, perAddress: 200, ...rates }
  }

  async admit(route: Pick<Route, 'operationId' | 'scopes'>, headers: Headers, address: string): Promise<Admitted> {
    const identity = await this.#identify(route, headers, address)
    if (!allows(identity, route.scopes)) {
      const [needed, has] = [route.scopes.join(' or '), identity.scopes.join(', ')]
      const sentence = `${route.operationId} needs a key with the scope ${needed}, and this one has ${has}; send another key`
      throw new EngineError('forbidden', sentence, { needs: route.scopes, has: identity.scopes })
    }
    return { engine: this.#bind(identity, headers), identity }
  }

  async #identify({ scopes }: Pick<Route, 'scopes'>, headers: Headers, address: string): Promise<Identity> {
    if (this.#authenticate === null) return openIdentity
    const key = bearer(headers.get('authorization'))
    const identity = key === null ? null : await this.#authenticate(key)
    this.#refuseTooMany(identity, address)
    if (identity !== null) return identity
    if (key === null && scopes.length === 0) return strangerIdentity
    const sentence =
      key === null
        ? 'the request carries no API key; send it as `Authorization: Bearer <key>`'
        : 'the API key is not valid, or no longer; ask for another'
    throw new EngineError('unauthenticated', sentence)
  }

  #refuseTooMany(identity: Identity | null, address: string): void {
    if (this.#rates === null) return
    const { perKey, perAddress } = this.#rates
    if (identity === null) this.#limit.take(`address ${address}`, perAddress)
    else this.#limit.take(`key ${identity.keyId}`, identity.requestsPerSecond ?? perKey)
  }

  /** Whether the key of a request that was admitted before still is a key. */
  async admitsStill(headers: Headers): Promise<boolean> {
    const key = bearer(headers.get('authorization'))
    return key !== null && this.#authenticate !== null && (await this.#authenticate(key)) !== null
  }

  #bind(identity: Identity, headers: Headers): Engine {
    const namespace = headers.get(names.namespace)
    const actor = headers.get(names.actor)
    const bound = this.#engine.as({ namespace: identity.namespace, actor: identity.actor, keyId: identity.keyId })
    if (namespace === null && actor === null) return bound
    if (actor !== null && !identity.scopes.includes('admin')) {
      throw new EngineError('forbidden', `only a key with the scope admin may act as another; leave ${names.actor} out`)
    }
    return bound.as({
      ...(namespace !== null && { namespace: decoded(names.namespace, namespace) }),
      ...(actor !== null && { actor: decoded(names.actor, actor) }),
    })
  }
}

function bearer(header: string | null): string | null {
  const [, key] = /^Bearer +(\S+) *$/i.exec(header ?? '') ?? []
  return key ?? null
}

/** Headers hold no more than Latin letters, so these are percent-encoded. */
function decoded(name: string, value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    throw refusal('invalid_input', name, show(value), 'percent-encoded text')
  }
}
