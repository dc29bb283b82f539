// The keys with which tokens and links are signed. No error holds any part of a secret.
import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto'
import { parseDuration } from './duration.ts'
import { refusal } from './errors.ts'
import { frame } from './frame.ts'
import { limits } from './limits.ts'
import { checkText, show } from './text.ts'

export interface SigningKey {
  readonly kid: string
  /** Not as bytes: those are made into such an object for every MAC (measured: 8 us with it, 50 without), and would print. */
  readonly secret: KeyObject
  /** The last millisecond in which it verifies; null for the current one. */
  readonly expiresAt: number | null
}

/** A colon ends the key id in a token. */
export function parseKid(value: unknown): string {
  const code = 'invalid_kid'
  const kid = checkText('kid', value, { minBytes: 1, maxBytes: limits.keyIdBytes, printableAscii: true, code })
  if (!kid.includes(':')) return kid
  throw refusal(code, 'kid', show(kid), 'a string without a colon')
}

export function parseSecret(value: unknown): Buffer {
  const [least, most] = [limits.signingSecretMinBytes * 2, limits.signingSecretBytes * 2]
  const allowed = `an even number of hex digits, ${least} to ${most}`
  return readHex(value, (digits) => digits >= least && digits <= most, allowed)
}

/** The first key is exactly as long as the digest that it makes. */
export function parseSeedSecret(value: unknown): Buffer {
  return readHex(value, (digits) => digits === 64, 'exactly 64 hex digits')
}

function readHex(value: unknown, isLongEnough: (digits: number) => boolean, allowed: string): Buffer {
  const found = typeof value === 'string' ? `a string of ${value.length} characters` : `of type ${typeof value}`
  if (typeof value === 'string' && isLongEnough(value.length) && /^(?:[\da-fA-F]{2})+$/.test(value)) {
    return Buffer.from(value, 'hex')
  }
  throw refusal('invalid_secret_hex', 'the secret', found, allowed)
}

/** How long a key goes on verifying after it was rotated out. */
export function parseGraceMs(value: unknown): number {
  return parseDuration('graceMs', value, 'invalid_grace_ms')
}

/** Inclusive: a key verifies in its last millisecond, and only later is it removed. */
export function isLive({ expiresAt }: Pick<SigningKey, 'expiresAt'>, now: number): boolean {
  return expiresAt === null || expiresAt >= now
}

/** The label keeps what is signed for one purpose from standing for another. */
export function sign(secret: KeyObject, label: string, fields: readonly string[]): Buffer {
  return createHmac('sha256', secret)
    .update(frame([label, ...fields]))
    .digest()
}

export const digestBytes = 32
const noSecret = createSecretKey(new Uint8Array(digestBytes))
const noDigest = new Uint8Array(digestBytes)

/** What somebody claims was signed; null where it could not even be read. */
export interface Claimed {
  readonly kid: string
  readonly digest: Uint8Array
}

/** One MAC and one comparison, whether the key is known, live and right, or nothing could be read at all. */
export function verify(
  claimed: Claimed | null,
  keys: readonly SigningKey[],
  now: number,
  label: string,
  fields: readonly string[],
): boolean {
  const key = keys.find(({ kid }) => kid === claimed?.kid)
  const expected = sign(key?.secret ?? noSecret, label, fields)
  const equal = timingSafeEqual(expected, claimed?.digest ?? noDigest)
  return equal && key !== undefined && isLive(key, now)
}
