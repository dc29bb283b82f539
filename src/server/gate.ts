// Authorization: a bearer key becomes an identity, an identity an engine that is bound to its namespace.
import { createHash } from 'node:crypto'
import { headers as names } from '../api/headers.ts'
import type { Route } from '../api/route.ts'
import type { Engine } from '../engine/contract.ts'
import { EngineError, refusal } from '../model/errors.ts'
import { show } from '../model/text.ts'
import { RateLimit } from './rate-limit.ts'
import { allows, openIdentity, strangerIdentity, type Identity } from './identity.ts'

/** Null for a key that is unknown, revoked or damaged; the reason is not disclosed. */
export type Authenticate = (key: string) => Promise<Identity | null>

export interface Admitted {
  readonly engine: Engine
  readonly identity: Identity
}

export interface RateLimits {
  readonly perKey?: number
  readonly perAddress?: number
}

/** When requests are admitted without a key, and whether that includes requests that a proxy forwarded. */
export interface Opening {
  isOpen(): Promise<boolean>
  readonly admitsProxied: boolean
}

/** The part of a request that authorization reads. */
export interface RequestFacts {
  readonly headers: Headers
  readonly address: string
  /** How it shows that a proxy forwarded it; null: it does not. */
  proxiedBy(): string | null
}

const mostAccepted = 10_000

export class Gate {
  readonly #engine: Engine
  readonly #authenticate: Authenticate
  readonly #opening: Opening
  readonly #limit = new RateLimit()
  readonly #rates: Required<RateLimits> | null
  /** Hashes of keys that were valid recently. Other keys are counted by address before they are looked up. */
  readonly #accepted = new Set<string>()

  constructor(engine: Engine, authenticate: Authenticate, opening: Opening, rates: RateLimits | false = {}) {
    this.#engine = engine
    this.#authenticate = authenticate
    this.#opening = opening
    this.#rates = rates === false ? null : { perKey: 2000, perAddress: 200, ...rates }
  }

  async admit(route: Pick<Route, 'operationId' | 'scopes'>, request: RequestFacts): Promise<Admitted> {
    const identity = await this.#identify(route, request)
    if (!allows(identity, route.scopes)) {
      const [needed, has] = [route.scopes.join(' or '), identity.scopes.join(', ')]
      const sentence = `${route.operationId} needs a key with the scope ${needed}, and this one has ${has}; send another key`
      throw new EngineError('forbidden', sentence, { needs: route.scopes, has: identity.scopes })
    }
    return { engine: this.#bind(identity, request.headers), identity }
  }

  async #identify({ scopes }: Pick<Route, 'scopes'>, request: RequestFacts): Promise<Identity> {
    if (await this.#isOpenTo(request)) return openIdentity
    const key = bearer(request.headers.get('authorization'))
    if (key !== null) return this.#identityOf(key, request.address)
    this.#take(`address ${request.address}`, this.#rates?.perAddress)
    if (scopes.length === 0) return strangerIdentity
    throw new EngineError('unauthenticated', await this.#needsKey(request))
  }

  async #isOpenTo(request: RequestFacts): Promise<boolean> {
    if (!(await this.#opening.isOpen())) return false
    return this.#opening.admitsProxied || request.proxiedBy() === null
  }

  async #needsKey(request: RequestFacts): Promise<string> {
    const how = 'send it as `Authorization: Bearer <key>`'
    const proxiedBy = (await this.#opening.isOpen()) ? request.proxiedBy() : null
    if (proxiedBy === null) return `the request carries no API key; ${how}`
    return `the request came through a proxy (${proxiedBy}), so it needs an API key; make one with apiKeys.create and ${how}`
  }

  async #identityOf(key: string, address: string): Promise<Identity> {
    const name = createHash('sha256').update(key).digest('base64')
    const isAccepted = this.#accepted.has(name)
    if (!isAccepted) this.#take(`address ${address}`, this.#rates?.perAddress)
    const identity = await this.#authenticate(key)
    this.#accepted.delete(name)
    if (identity === null)
      throw new EngineError('unauthenticated', 'the API key is not valid, or no longer; ask for another')
    if (this.#accepted.size >= mostAccepted) this.#accepted.delete(this.#accepted.values().next().value!)
    this.#accepted.add(name)
    if (!isAccepted) this.#limit.giveBack(`address ${address}`)
    this.#take(`key ${identity.keyId}`, identity.requestsPerSecond ?? this.#rates?.perKey)
    return identity
  }

  #take(who: string, perSecond: number | undefined): void {
    if (this.#rates !== null && perSecond !== undefined) this.#limit.take(who, perSecond)
  }

  /** Whether a request that was admitted as `identity` would be admitted as the same one now. */
  async admitsStill(identity: Identity, request: RequestFacts): Promise<boolean> {
    if (identity === openIdentity) return this.#isOpenTo(request)
    const key = bearer(request.headers.get('authorization'))
    return key !== null && (await this.#authenticate(key)) !== null
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

/** Headers contain only Latin letters, so names are percent-encoded. */
function decoded(name: string, value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    throw refusal('invalid_input', name, show(value), 'percent-encoded text')
  }
}
