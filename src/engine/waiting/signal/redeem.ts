// Redeem: the one use of an approval link. The link names its waitpoint and its actions; only the signed fields count.
// Its fingerprint is the idempotency key, so a second use is a repeat of the first.
import { claimedByLink, invalidLink } from '../../../model/approval-link.ts'
import { refusal } from '../../../model/errors.ts'
import { refuseUnknownFields } from '../../../model/shape.ts'
import { show } from '../../../model/text.ts'
import { tokenFingerprint } from '../../../model/token.ts'
import type { Caller } from '../../kernel/caller.ts'
import { checkContent, type Incoming } from './incoming.ts'

export interface RedeemRequest {
  /** The signed part of the link: the parameter `link` of its URL. */
  readonly link: string
  /** One of its actions; left out: the first. */
  readonly action?: string
  /** Plain JSON, in place of `payload`. */
  readonly value?: unknown
  readonly payload?: Uint8Array
  readonly payloadEncoding?: string
}

const fields = ['link', 'action', 'value', 'payload', 'payloadEncoding'] as const

export function checkRedeemRequest(caller: Caller, request: RedeemRequest): Incoming {
  refuseUnknownFields('signals.redeem', request, fields)
  const { link, action, ...payload } = request
  const claimed = claimedByLink(link)
  if (claimed === null) throw invalidLink()
  const name = action ?? claimed.actions[0]!
  if (!claimed.actions.includes(name)) {
    throw refusal('invalid_input', 'action', show(name), `an action of the link: ${claimed.actions.join(' or ')}`)
  }
  const fingerprint = tokenFingerprint(link)
  const content = checkContent('signals.redeem', { ...payload, name }, [...fields, 'name'], {
    category: 'approval',
    // Links for one person are one source, and so are all links without a person.
    source: { type: 'link', identity: claimed.person },
  })
  return {
    ...content,
    ...caller,
    idempotencyKey: `link:${fingerprint}`,
    target: { noun: 'waitpoint', ...claimed.waitpoint },
    credential: { by: 'link', link, kid: claimed.kid },
  }
}
