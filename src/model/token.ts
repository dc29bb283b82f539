// A waitpoint token, `kid:<64 hex digits>`, lets a stranger answer one waitpoint and nothing else. It is checked before
// anything is told about the waitpoint, in the same time and with the same answer for whatever is wrong.
import { createHash } from 'node:crypto'
import { EngineError } from './errors.ts'
import { limits } from './limits.ts'
import { digestBytes, sign, verify } from './signing-key.ts'
import type { Claimed, SigningKey } from './signing-key.ts'

const label = 'flowfabric waitpoint token v1'

/** What a token is bound to. */
export interface TokenSubject {
  readonly executionId: string
  readonly waitpointId: string
  readonly waitpointKey: string
  readonly createdAt: number
}

export function mintToken({ kid, secret }: Pick<SigningKey, 'kid' | 'secret'>, subject: TokenSubject): string {
  return `${kid}:${sign(secret, label, fieldsOf(subject)).toString('hex')}`
}

/** Refuses all but the token of this subject; null stands for a waitpoint that does not exist. */
export function checkToken(
  token: unknown,
  subject: TokenSubject | null,
  keys: readonly SigningKey[],
  now: number,
): void {
  if (token === undefined || token === null || token === '') {
    throw new EngineError('missing_token', 'the signal has no token; send the token of its waitpoint')
  }
  const isRight = verify(readToken(token), keys, now, label, fieldsOf(subject ?? nobody))
  if (isRight && subject !== null) return
  throw new EngineError(
    'invalid_token',
    'the token is not valid for this waitpoint; send the token that was issued with it',
  )
}

/** Whether it is the token that this key gives the subject; not whether the key still verifies. In constant time. */
export function isTokenOf(
  { kid, secret }: Pick<SigningKey, 'kid' | 'secret'>,
  subject: TokenSubject,
  token: string,
): boolean {
  return verify(readToken(token), [{ kid, secret, expiresAt: null }], 0, label, fieldsOf(subject))
}

// As long as a usual one, so that its MAC takes as long.
const nobody: TokenSubject = {
  executionId: '{fp:00}:00000000-0000-0000-0000-000000000000',
  waitpointId: '{fp:00}:00000000-0000-0000-0000-000000000000',
  waitpointKey: 'approval',
  createdAt: 1_000_000_000_000,
}

function fieldsOf({ executionId, waitpointId, waitpointKey, createdAt }: TokenSubject): string[] {
  return [executionId, waitpointId, waitpointKey, `${createdAt}`]
}

// One spelling: small hex digits, nothing before or after.
const maxLength = limits.keyIdBytes + 1 + digestBytes * 2
const form = /^([\x20-\x39\x3b-\x7e]+):([\da-f]{64})$/

function readToken(token: unknown): Claimed | null {
  const match = typeof token === 'string' && token.length <= maxLength ? form.exec(token) : null
  return match === null ? null : { kid: match[1]!, digest: Buffer.from(match[2]!, 'hex') }
}

/** The id of the key that signed it, for lists; null for what is no token. */
export function kidOf(token: string): string | null {
  return readToken(token)?.kid ?? null
}

/** Names a token in lists and logs without giving it away. */
export function tokenFingerprint(token: string): string {
  return createHash('sha256').update(token).digest('hex').slice(0, 16)
}
