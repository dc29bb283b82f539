// A waitpoint token, `kid:<64 hex digits>`, permits a stranger to signal one waitpoint and nothing else. It is checked
// before the waitpoint is used, in the same time and with the same error for every mistake.
import { createHash } from 'node:crypto'
import { EngineError } from './errors.ts'
import { limits } from './limits.ts'
import { digestBytes, sign, verify } from './signing-key.ts'
import type { Claimed, SigningKey } from './signing-key.ts'

const label = 'flowfabric waitpoint token v1'

/** The fields that a token is bound to. */
export interface TokenSubject {
  readonly executionId: string
  readonly waitpointId: string
  readonly waitpointKey: string
  readonly createdAt: number
}

export function mintToken({ kid, secret }: Pick<SigningKey, 'kid' | 'secret'>, subject: TokenSubject): string {
  return `${kid}:${sign(secret, label, fieldsOf(subject)).toString('hex')}`
}

/** Refuses every token except that of this subject; null means that the waitpoint does not exist. */
export function checkToken(
  token: unknown,
  subject: TokenSubject | null,
  keys: readonly SigningKey[],
  now: number,
): void {
  if (token === undefined || token === null || token === '') {
    throw new EngineError('missing_token', 'the signal has no token; send the token of its waitpoint')
  }
  const isRight = verify(readToken(token), keys, now, label, fieldsOf(subject ?? noSubject))
  if (isRight && subject !== null) return
  throw new EngineError(
    'invalid_token',
    'the token is not valid for this waitpoint; send the token that was issued with it',
  )
}

/** Whether this key gives the subject this token; not whether the key still verifies. In constant time. */
export function isTokenOf(
  { kid, secret }: Pick<SigningKey, 'kid' | 'secret'>,
  subject: TokenSubject,
  token: string,
): boolean {
  return verify(readToken(token), [{ kid, secret, expiresAt: null }], 0, label, fieldsOf(subject))
}

// As long as a usual one, so that its MAC takes as long.
const noSubject: TokenSubject = {
  executionId: '{fp:00}:00000000-0000-0000-0000-000000000000',
  waitpointId: '{fp:00}:00000000-0000-0000-0000-000000000000',
  waitpointKey: 'approval',
  createdAt: 1_000_000_000_000,
}

function fieldsOf({ executionId, waitpointId, waitpointKey, createdAt }: TokenSubject): string[] {
  return [executionId, waitpointId, waitpointKey, `${createdAt}`]
}

// One spelling: lower-case hex digits, nothing before or after.
const maxLength = limits.keyIdBytes + 1 + digestBytes * 2
const form = /^([\x20-\x39\x3b-\x7e]+):([\da-f]{64})$/

function readToken(token: unknown): Claimed | null {
  const match = typeof token === 'string' && token.length <= maxLength ? form.exec(token) : null
  return match === null ? null : { kid: match[1]!, digest: Buffer.from(match[2]!, 'hex') }
}

/** The id of the key that signed it, for lists; null for a text that is no token. */
export function kidOf(token: string): string | null {
  return readToken(token)?.kid ?? null
}

/** Names a token in lists and logs without revealing it. */
export function tokenFingerprint(token: string): string {
  return createHash('sha256').update(token).digest('hex').slice(0, 16)
}
