import type { Scope } from '../model/api-key.ts'

/** Who a request comes from, and what it may. */
export interface Identity {
  /** Null where no key was needed. */
  readonly keyId: string | null
  /** A namespace, or `'*'`. */
  readonly namespace: string
  readonly actor: string
  readonly scopes: readonly Scope[]
  /** Null: as many as any key may send. */
  readonly requestsPerSecond: number | null
}

/** On loopback without keys: whoever can reach the port is whoever could open the database. */
export const openIdentity: Identity = {
  keyId: null,
  namespace: '*',
  actor: 'local',
  scopes: ['admin'],
  requestsPerSecond: null,
}

/** Whoever holds a token or a link, and nothing else. */
export const strangerIdentity: Identity = {
  keyId: null,
  namespace: '*',
  actor: 'external',
  scopes: [],
  requestsPerSecond: null,
}

export function allows(identity: Identity, scopes: readonly Scope[]): boolean {
  return scopes.length === 0 || identity.scopes.some((scope) => scope === 'admin' || scopes.includes(scope))
}
