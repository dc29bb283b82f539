// The signed part of an approval link: it permits one action on one waitpoint, or its opposite, until it expires. It is
// self-contained, so it is verified before anything is looked up. The engine ensures that it is used once.
import { EngineError } from './errors.ts'
import { frame, unframe } from './frame.ts'
import { parseWaitpointId } from './id.ts'
import type { IdParts } from './id.ts'
import { limits } from './limits.ts'
import { digestBytes, parseKid, sign, verify } from './signing-key.ts'
import type { SigningKey } from './signing-key.ts'
import { checkText, foldName } from './text.ts'

const label = 'flowfabric approval link v2'

export interface ApprovalLink {
  readonly waitpointId: string
  /** The possible decisions: one action, or an action and its opposite. */
  readonly actions: readonly string[]
  /** The person whom it was issued for; empty without one. It is the source of the signal. */
  readonly person: string
  /** The last millisecond in which it is valid. */
  readonly expiresAt: number
  /** Random: two links for the same action are different, and each can be used once. */
  readonly nonce: string
}

export function signLink({ kid, secret }: Pick<SigningKey, 'kid' | 'secret'>, link: ApprovalLink): string {
  const [action, ...others] = link.actions.map(checkAction)
  const fields = [kid, link.waitpointId, action!, `${link.expiresAt}`, link.nonce, link.person, ...others]
  return Buffer.concat([frame(fields), sign(secret, label, fields)]).toString('base64url')
}

/** It becomes the name of a signal. */
export function checkAction(action: unknown): string {
  return checkText('action', action, { minBytes: 1, maxBytes: limits.linkActionBytes, refuseControls: true })
}

/** The name of a person as the link carries it. */
export function checkPerson(name: unknown): string {
  const rule = { minBytes: 1, maxBytes: limits.linkPersonBytes, refuseControls: true }
  const person = checkText('for', name, rule).normalize('NFKC').trim()
  return foldName(person) === '' ? checkText('for', '', rule) : checkText('for', person, rule)
}

/**
 * Null for a link that is damaged, forged, expired, or signed by a key that no longer verifies. The reason is not
 * disclosed.
 */
export function verifyLink(text: unknown, keys: readonly SigningKey[], now: number): ApprovalLink | null {
  const { fields, digest } = readLink(text) ?? nothing
  const [kid = '', waitpointId = '', action = '', expires = '', nonce = '', person = '', ...others] = fields
  const isRight = verify({ kid, digest }, keys, now, label, fields)
  const expiresAt = Number(expires)
  return isRight && expiresAt >= now ? { waitpointId, actions: [action, ...others], person, expiresAt, nonce } : null
}

/** The fields of a link before it is verified: enough to look up what it must be verified against. */
export interface ClaimedLink {
  readonly kid: string
  readonly waitpoint: IdParts
  readonly actions: readonly string[]
  readonly person: string
}

/** Null for a text that no engine can have signed. */
export function claimedByLink(text: unknown): ClaimedLink | null {
  const [kid, waitpointId, action, , , person = '', ...others] = readLink(text)?.fields ?? []
  try {
    const actions = [action, ...others].map(checkAction)
    return { kid: parseKid(kid), waitpoint: parseWaitpointId(waitpointId), actions, person }
  } catch {
    return null
  }
}

/** The one error for every invalid link. */
export function invalidLink(): EngineError {
  return new EngineError('invalid_token', 'the link is not valid or has expired; request a new one')
}

const nothing = { fields: [] as string[], digest: Buffer.alloc(digestBytes) }

function readLink(text: unknown): typeof nothing | null {
  if (typeof text !== 'string' || text.length > limits.linkBytes) return null
  const bytes = Buffer.from(text, 'base64url')
  // Node skips characters that are not base64url, so the text is valid only if it encodes to itself.
  if (bytes.length <= digestBytes || bytes.toString('base64url') !== text) return null
  const fields = unframe(bytes.subarray(0, -digestBytes))
  return fields?.length === 6 || fields?.length === 7 ? { fields, digest: bytes.subarray(-digestBytes) } : null
}
