import { EngineError, type ErrorCode } from './errors.ts'
import { limits } from './limits.ts'
import { checkText, foldName } from './text.ts'

/** What became of a signal. The words are wire strings and column values; they never change. */
export const signalEffects = [
  // The condition of the suspension holds now, by this signal.
  'resume_condition_satisfied',
  // Counts towards the condition, which needs more.
  'appended_to_waitpoint',
  // Would have counted, but what it stands for (the leaf, the source, the waitpoint) has counted already.
  'appended_to_waitpoint_duplicate',
  'signal_ignored_not_in_condition',
  'signal_ignored_matcher_failed',
  // Came before the suspension that its waitpoint is for; it is judged with it.
  'buffered_for_pending_waitpoint',
  // Sent by name; waits for a condition that names it and is then taken, once.
  'kept_for_condition',
  // Came too late: recorded, and changed nothing.
  'no_op',
] as const
export type SignalEffect = (typeof signalEffects)[number]

/**
 * What a sender has proved, by the type of the proof, and what its identity is:
 *
 *   token      the right to answer one waitpoint: that waitpoint's id
 *   link       an approval link: the person that it was issued for; empty when it was issued for nobody in particular
 *   operator   the right to act in the namespace, used to answer a waitpoint: the id of the API key, or the actor in this process
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

/** Who the sender says it is. Nothing was checked: it is data. */
export interface ClaimedSource {
  readonly type: string
  readonly identity: string
}

/** By which sources are told apart: spellings of one name are one source. */
export function sourceKey({ type, identity }: SignalSource): string {
  return JSON.stringify([type, foldName(identity)])
}

// Also what a reader may take for a proof.
const reservedTypes: readonly string[] = [...sourceTypes, 'key']

/** Null when the sender claims nothing. A claim may not look like a proof, in any spelling. */
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
