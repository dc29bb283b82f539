// Whether a decision on an approval is consent. Waiting code acts on `approved`, so it is true only for a name that
// every reader takes as consent, or where the link itself states which of its two decisions consents. For any other
// name it is absent.
import { foldName } from './text.ts'

const consents = [
  'approved',
  'approve',
  'accepted',
  'accept',
  'agreed',
  'agree',
  'allowed',
  'allow',
  'granted',
  'yes',
  'ok',
]
const refusals = [
  'rejected',
  'reject',
  'refused',
  'refuse',
  'declined',
  'decline',
  'denied',
  'deny',
  'disagree',
  'disallow',
  'vetoed',
  'veto',
  'no',
]

/** By the closed list; undefined for a name that is not in it. */
function known(action: string): boolean | undefined {
  const name = foldName(action)
  if (consents.includes(name)) return true
  return refusals.includes(name) ? false : undefined
}

/**
 * `actions` are the decisions of the link: its action, and its refusal if it has one. A link with a refusal states that
 * its action consents, unless the list contradicts that for either; a link with one action states nothing.
 */
export function consentOf(actions: readonly string[], answer: string): boolean | undefined {
  const listed = known(answer)
  if (listed !== undefined || actions.length < 2) return listed
  const stated = answer === actions[0]
  const opposite = known(actions.find((action) => action !== answer)!)
  return opposite === stated ? undefined : stated
}
