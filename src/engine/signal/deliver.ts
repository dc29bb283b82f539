// Deliver: somebody who holds the token of a waitpoint answers it.
import type { ExecutionId, WaitpointId } from '../../model/id.ts'
import type { SignalEffect } from '../../model/signal.ts'

/** What every signal says, whichever way it comes. */
export interface SignalContent {
  readonly name: string
  /** Defaults to `external`. */
  readonly category?: string
  readonly correlationId?: string
  readonly idempotencyKey?: string
  readonly payload?: Uint8Array
  /** How to read the payload; defaults to `json`. */
  readonly payloadEncoding?: string
}

export interface DeliverRequest extends SignalContent {
  readonly waitpointId: WaitpointId
  readonly token: string
  /** Who says so: part of what conditions match and count. */
  readonly sourceType?: string
  readonly sourceIdentity?: string
}

export type SignalResult =
  | {
      readonly kind: 'accepted'
      readonly executionId: ExecutionId
      readonly signalId: string
      readonly effect: SignalEffect
    }
  /** The same key came before; this is what that did. */
  | {
      readonly kind: 'duplicate'
      readonly executionId: ExecutionId
      readonly signalId: string
      readonly effect: SignalEffect
    }
