// The keys that sign tokens and links. No error contains any part of a secret.
import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto'
import type { Bytes } from './bytes.ts'
import { parseDuration } from './duration.ts'
import { refusal } from './errors.ts'
import { frame } from './frame.ts'
import { limits } from './limits.ts'
import { checkText, show } from './text.ts'

export interface SigningKey {
  readonly kid: string
  /**
   * Not as bytes: Node would convert them to a KeyObject for every MAC (measured: 8 us with it, 50 without), and they
   * would be printable.
   */
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

export function parseSecret(value: unknown): Bytes {
  const [least, most] = [limits.signingSecretMinBytes * 2, limits.signingSecretBytes * 2]
  const allowed = `an even number of hex digits, ${least} to ${most}`
  return readHex(value, (digits) => digits >= least && digits <= most, allowed)
}

/** The first key is exactly as long as its digest. */
export function parseSeedSecret(value: unknown): Bytes {
  return readHex(value, (digits) => digits === 64, 'exactly 64 hex digits')
}

function readHex(value: unknown, isLongEnough: (digits: number) => boolean, allowed: string): Buffer {
  const found = typeof value === 'string' ? `a string of ${value.length} characters` : `of type ${typeof value}`
  if (typeof value === 'string' && isLongEnough(value.length) && /^(?:[\da-fA-F]{2})+$/.test(value)) {
    return Buffer.from(value, 'hex')
  }
  throw refusal('invalid_secret_hex', 'the secret', found, allowed)
}

/** How long a key continues to verify after it was rotated out. */
export function parseGraceMs(value: unknown): number {
  return parseDuration('graceMs', value, 'invalid_grace_ms')
}

/** Inclusive: a key verifies in its last millisecond, and is removed only later. */
export function isLive({ expiresAt }: Pick<SigningKey, 'expiresAt'>, now: number): boolean {
  return expiresAt === null || expiresAt >= now
}

/** The label prevents that a signature for one purpose is valid for another. */
export function sign(secret: KeyObject, label: string, fields: readonly string[]): Buffer {
  return createHmac('sha256', secret)
    .update(frame([label, ...fields]))
    .digest()
}

export const digestBytes = 32
const noSecret = createSecretKey(new Uint8Array(digestBytes))
const noDigest = new Uint8Array(digestBytes)

/** The fields that a text claims were signed; null if it could not be parsed. */
export interface Claimed {
  readonly kid: string
  readonly digest: Uint8Array
}

/**
 * One MAC and one comparison in every case: whether the key is known, live and right, or the text could not be parsed.
 */
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
