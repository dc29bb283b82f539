// Redeem: the one use of an approval link. The link names its waitpoint and its actions; only the signed fields count.
// Its fingerprint is the idempotency key, so a second use is a repeat of the first.
import { claimedByLink, invalidLink } from '../../../model/approval-link.ts'
import { refusal } from '../../../model/errors.ts'
import { unchecked } from '../../../model/field-kinds.ts'
import { checkFields, type RequestOf } from '../../../model/field.ts'
import { limits } from '../../../model/limits.ts'
import { signedLink } from '../../../model/named-fields.ts'
import { show } from '../../../model/text.ts'
import { tokenFingerprint } from '../../../model/token.ts'
import type { Caller } from '../../kernel/caller.ts'
import { contentOf, signalPayloadFields, type Incoming } from './incoming.ts'

export const redeemFields = {
  /** The signed part of the link: the parameter `link` of its URL. */
  link: signedLink,
  /** One of its actions; left out: the first. */
  action: unchecked<string>({
    kind: 'text',
    rule: { minBytes: 1, maxBytes: limits.linkActionBytes, refuseControls: true },
  }).optional(),
  ...signalPayloadFields,
}

export interface RedeemRequest extends RequestOf<typeof redeemFields> {}

export function checkRedeemRequest(caller: Caller, request: RedeemRequest): Incoming {
  checkFields('signals.redeem', redeemFields, request)
  const { link, action } = request
  const claimed = claimedByLink(link)
  if (claimed === null) throw invalidLink()
  const name = action ?? claimed.actions[0]!
  if (!claimed.actions.includes(name)) {
    throw refusal('invalid_input', 'action', show(name), `an action of the link: ${claimed.actions.join(' or ')}`)
  }
  const fingerprint = tokenFingerprint(link)
  const content = contentOf({ name }, request, {
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
