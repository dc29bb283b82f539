// An incoming signal: its content, its target, and the credential of its sender.
import { parseActor } from '../../../model/actor.ts'
import { EngineError } from '../../../model/errors.ts'
import type { ExecutionId, IdParts } from '../../../model/id.ts'
import { limits } from '../../../model/limits.ts'
import { payloadOf } from '../../../model/plain.ts'
import { idempotencyKey, payloadFields, signalName } from '../../../model/named-fields.ts'
import { text, unchecked } from '../../../model/field-kinds.ts'
import type { RequestOf } from '../../../model/field.ts'
import {
  checkClaim,
  sourceTypes,
  type ClaimedSource,
  type SignalEffect,
  type SignalSource,
} from '../../../model/signal.ts'
import { checkText, show } from '../../../model/text.ts'
import { kidOf } from '../../../model/token.ts'
import { mintUuid } from '../../../model/uuid.ts'
import type { Caller } from '../../kernel/caller.ts'

/** Plain JSON or bytes. */
export const signalPayloadFields = {
  /** Plain JSON; stored as the payload, encoded as `json`. */
  value: unchecked<unknown>({ kind: 'json' }).optional().describe('Plain JSON. Send this or `payload`.'),
  ...payloadFields,
}

const labelRule = { minBytes: 1, maxBytes: limits.signalSourceBytes, refuseControls: true }

/** The content of every signal. */
export const contentFields = {
  name: signalName,
  /** Defaults to `external`. */
  category: text(labelRule).optional(),
  correlationId: text(labelRule).optional(),
  /**
   * A repeat with the same key, to the same waitpoint or generation of the execution, returns the result of the first.
   */
  idempotencyKey: idempotencyKey.optional(),
  ...signalPayloadFields,
}

export interface SignalContent extends RequestOf<typeof contentFields> {}

/** The sender's own claim: recorded as data, which no condition matches or counts. `checkClaim` checks the two together. */
export const claimedSourceFields = {
  sourceType: unchecked<string>({ kind: 'text', rule: labelRule })
    .optional()
    .describe(`A type that the sender claims; not ${sourceTypes.join(', ')} or key.`),
  sourceIdentity: unchecked<string>({ kind: 'text', rule: { ...labelRule, minBytes: 0 } }).optional(),
}

export type SignalResult =
  | {
      readonly kind: 'accepted'
      readonly executionId: ExecutionId
      readonly signalId: string
      readonly effect: SignalEffect
      /** For a stored signal by name: the names that are awaited instead, and the one that was probably meant. */
      readonly hint?: string
    }
  /** An earlier signal had the same key; this is its result. */
  | {
      readonly kind: 'duplicate'
      readonly executionId: ExecutionId
      readonly signalId: string
      readonly effect: SignalEffect
      readonly hint?: string
    }

/** The credential of the sender. A signal by name has no waitpoint. */
export type Credential =
  | { readonly by: 'token'; readonly token: unknown }
  | { readonly by: 'link'; readonly link: string; readonly kid: string }
  | { readonly by: 'right'; readonly lane: string | null }
  | { readonly by: 'name' }

/** The id of the key that the token or link names; null without one, and for a malformed token. */
export function claimedKid(credential: Credential): string | null {
  if (credential.by === 'link') return credential.kid
  return credential.by === 'token' && typeof credential.token === 'string' ? kidOf(credential.token) : null
}

/** A checked request. */
export interface Incoming extends CheckedContent, Caller {
  readonly target: IdParts & { readonly noun: 'waitpoint' | 'execution' }
  readonly credential: Credential
}

/** Field by field: copied from several objects it takes twice as long, and thousands of them are made in one call. */
export function incoming(
  { namespace, actor, keyId }: Caller,
  content: CheckedContent,
  target: Incoming['target'],
  credential: Credential,
): Incoming {
  return {
    signalId: content.signalId,
    name: content.name,
    category: content.category,
    source: content.source,
    claimed: content.claimed,
    correlationId: content.correlationId,
    idempotencyKey: content.idempotencyKey,
    payload: content.payload,
    payloadEncoding: content.payloadEncoding,
    namespace,
    actor,
    keyId,
    target,
    credential,
  }
}

/** The proved source of a caller with the right to act: the key that admitted it, whatever actor it names. */
export function provedByRight(type: 'operator' | 'caller', { keyId, actor }: Caller): SignalSource {
  return { type, identity: keyId ?? parseActor(actor).name }
}

export interface CheckedContent {
  /** Minted before the first send, so that a repeat after a lost reply finds itself. */
  readonly signalId: string
  readonly name: string
  readonly category: string
  readonly source: SignalSource
  readonly claimed: ClaimedSource | null
  readonly correlationId: string | null
  readonly idempotencyKey: string | null
  readonly payload: Uint8Array | null
  readonly payloadEncoding: string | null
}

type Given = Partial<RequestOf<typeof signalPayloadFields & typeof claimedSourceFields>>

interface CheckedFields {
  readonly name: string
  readonly category?: string | null
  readonly correlationId?: string | null
  readonly idempotencyKey?: string | null
}

/** The content of a request whose fields are checked. */
export function contentOf(
  { name, category, correlationId, idempotencyKey }: CheckedFields,
  request: Given,
  defaults: { readonly category: string; readonly source: SignalSource },
): CheckedContent {
  const { payload, payloadEncoding } = payloadOf('value', request)
  return {
    signalId: mintUuid(),
    name,
    category: category ?? defaults.category,
    source: defaults.source,
    claimed: checkClaim(request.sourceType, request.sourceIdentity),
    correlationId: correlationId ?? null,
    idempotencyKey: idempotencyKey ?? null,
    payload: payload === undefined ? null : checkPayload(payload),
    payloadEncoding:
      payload === undefined ? null : checkText('payloadEncoding', payloadEncoding ?? 'json', encodingRule),
  }
}

const encodingRule = { minBytes: 1, maxBytes: limits.encodingBytes, printableAscii: true }

function checkPayload(payload: unknown): Uint8Array {
  if (!(payload instanceof Uint8Array)) {
    const sentence = `payload is ${show(payload)}; it must be bytes (base64 over HTTP). To send JSON, use value`
    throw new EngineError('invalid_input', sentence, { field: 'payload' })
  }
  const bytes = payload.byteLength
  if (bytes <= limits.signalBytes) return payload
  const sentence = `payload is ${bytes} bytes; a signal holds at most ${limits.signalBytes}. Keep it elsewhere and send a reference`
  throw new EngineError('payload_too_large', sentence, { field: 'payload', bytes, limit: limits.signalBytes })
}
