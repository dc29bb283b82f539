import type { Scope } from '../model/api-key.ts'

/** The sender of a request, and its rights. */
export interface Identity {
  /** Null if no key was needed. */
  readonly keyId: string | null
  /** A namespace, or `'*'`. */
  readonly namespace: string
  readonly actor: string
  readonly scopes: readonly Scope[]
  /** Null: the limit of any key. */
  readonly requestsPerSecond: number | null
}

/** On loopback without keys: any process that can reach the port could open the database as well. */
export const openIdentity: Identity = {
  keyId: null,
  namespace: '*',
  actor: 'local',
  scopes: ['admin'],
  requestsPerSecond: null,
}

/** A caller with a token or a link, and no key. */
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
