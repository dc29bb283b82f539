// API keys: `ff_<id>_<secret>`. The id is looked up and the secret is compared by its hash. Only the hash is stored:
// the secret is random and long, so a plain hash reveals nothing.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { refusal } from './errors.ts'
import { oneOf, show } from './text.ts'
import { mintUuid } from './uuid.ts'

export const scopes = ['read', 'submit', 'worker', 'signal', 'operate', 'admin'] as const

/** The right of an API key. `admin` allows everything. */
export type Scope = (typeof scopes)[number]

export interface KeyParts {
  readonly keyId: string
  readonly secretHash: Uint8Array
}

export interface MintedKey extends KeyParts {
  /** The only place that has the whole key. */
  readonly key: string
}

export function mintApiKey(): MintedKey {
  // Ids ascend in the order of creation.
  const keyId = mintUuid().replaceAll('-', '')
  const secret = randomBytes(32).toString('base64url')
  return { key: `ff_${keyId}_${secret}`, keyId, secretHash: hash(secret) }
}

const form = /^ff_([\da-f]{32})_([\w-]{43})$/

/** Null for a text that is no key of ours. */
export function parseApiKey(key: unknown): KeyParts | null {
  const [, keyId, secret] = (typeof key === 'string' && form.exec(key)) || []
  return keyId === undefined ? null : { keyId, secretHash: hash(secret!) }
}

export function isSameSecret(one: Uint8Array, other: Uint8Array): boolean {
  return one.length === other.length && timingSafeEqual(one, other)
}

/** In the order of the list of scopes, each once. */
export function checkScopes(given: unknown): readonly Scope[] {
  if (!Array.isArray(given) || given.length === 0) {
    throw refusal('invalid_input', 'scopes', show(given), `one or more of ${scopes.join(', ')}`)
  }
  for (const scope of given as unknown[]) {
    if ((scopes as readonly unknown[]).includes(scope)) continue
    throw refusal('invalid_input', 'scopes', show(scope), oneOf(scope, scopes))
  }
  return scopes.filter((scope) => given.includes(scope))
}

function hash(secret: string): Uint8Array {
  return createHash('sha256').update(secret).digest()
}
