import { EngineError, type ErrorCode } from './errors.ts'
import { limits } from './limits.ts'
import { checkText, foldName } from './text.ts'

/** The effect of a signal. The words are wire strings and column values; they never change. */
export const signalEffects = [
  // This signal satisfied the condition of the suspension.
  'resume_condition_satisfied',
  // Counts towards the condition, which needs more.
  'appended_to_waitpoint',
  // Would have counted, but its counted value (the leaf, the source, the waitpoint) has counted already.
  'appended_to_waitpoint_duplicate',
  'signal_ignored_not_in_condition',
  'signal_ignored_matcher_failed',
  // Arrived before the suspension of its waitpoint; it is evaluated with it.
  'buffered_for_pending_waitpoint',
  // Sent by name; stored until a condition with its name takes it, once.
  'kept_for_condition',
  // Arrived too late: recorded, without an effect.
  'no_op',
] as const
export type SignalEffect = (typeof signalEffects)[number]

/**
 * The proof of a sender, by type, and the identity that it proves:
 *
 *   token      the right to signal one waitpoint: the id of that waitpoint
 *   link       an approval link: the person that it was issued for; empty without one
 *   operator   the right to act in the namespace, used on a waitpoint: the id of the API key, or the actor in this process
 *   caller     the same right, used to send a signal by name
 *   system     the engine itself: the suspension's timeout
 */
export const sourceTypes = ['token', 'link', 'operator', 'caller', 'system'] as const
export type SourceType = (typeof sourceTypes)[number]

/** The proved source of a signal. Conditions match and count this one. */
export interface SignalSource {
  readonly type: SourceType
  readonly identity: string
}

/** The sender's own claim. It is not verified: it is data. */
export interface ClaimedSource {
  readonly type: string
  readonly identity: string
}

/** The key by which sources are compared: spellings of one name are one source. */
export function sourceKey({ type, identity }: SignalSource): string {
  return JSON.stringify([type, foldName(identity)])
}

// Also the words that a reader may take for a proof.
const reservedTypes: readonly string[] = [...sourceTypes, 'key']

/** Null without a claim. A claim may not resemble a proof, in any spelling. */
export function checkClaim(sourceType: unknown, sourceIdentity: unknown): ClaimedSource | null {
  if (sourceType === undefined && sourceIdentity === undefined) return null
  const type = sourceType === undefined ? 'external' : checkText('sourceType', sourceType, labelRule)
  if (reservedTypes.includes(foldName(type).replaceAll(' ', ''))) throw reserved('sourceType', type)
  return { type, identity: sourceIdentity === undefined ? '' : checkSourceText('sourceIdentity', sourceIdentity) }
}

const labelRule = { minBytes: 1, maxBytes: limits.signalSourceBytes, refuseControls: true }

export function reserved(field: string, found: string): EngineError {
  const sentence = `${field} is '${found}', which is reserved for signals of the engine; choose another`
  return new EngineError('invalid_input', sentence, { field })
}

export function checkSignalName(field: string, value: unknown, code: ErrorCode = 'invalid_input'): string {
  return checkText(field, value, { minBytes: 1, maxBytes: limits.signalNameBytes, refuseControls: true, code })
}

/** The identity may be empty: an operator's often is. */
export function checkSourceText(field: string, value: unknown, code: ErrorCode = 'invalid_input'): string {
  return checkText(field, value, { maxBytes: limits.signalSourceBytes, refuseControls: true, code })
}

export function checkWaitpointKey(field: string, value: unknown, code: ErrorCode = 'invalid_input'): string {
  return checkText(field, value, { minBytes: 1, maxBytes: limits.waitpointKeyBytes, refuseControls: true, code })
}
