// A request to suspend, checked as far as it can be without the database.
import type { Condition } from '../../model/condition.ts'
import { checkBinding } from '../../model/condition-binding.ts'
import { parseCondition } from '../../model/condition-parse.ts'
import { signalNodesOf, waitpointsOf } from '../../model/condition.ts'
import { parseDuration, type Duration } from '../../model/duration.ts'
import { EngineError, refusal } from '../../model/errors.ts'
import { parseWaitpointId, type WaitpointId } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import { readShape, refuseUnknownFields } from '../../model/shape.ts'
import { checkWaitpointKey } from '../../model/signal.ts'
import {
  suspensionReasons,
  timeoutBehaviours,
  type SuspensionReason,
  type TimeoutBehaviour,
} from '../../model/suspension.ts'
import { checkText, oneOf, show } from '../../model/text.ts'
import { mintUuid } from '../../model/uuid.ts'
import type { Caller } from '../caller.ts'
import { checkTime } from '../execution/time.ts'
import { checkFence, type Fence, type Held } from '../fence.ts'

export interface SuspendRequest extends Fence {
  /** What it waits for. */
  readonly condition: Condition
  /**
   * Where signals from outside come in; the first is the primary one. Left out: a fresh one for each key that the condition
   * names.
   */
  readonly waitpoints?: readonly WaitpointBinding[]
  /** Defaults to `waiting_for_signal`. */
  readonly reason?: SuspensionReason
  /** How long it waits at most; or `timeoutAt`, a point in time. Left out: as long as it takes. */
  readonly timeout?: Duration
  readonly timeoutAt?: number
  /** Defaults to `fail`. */
  readonly timeoutBehaviour?: TimeoutBehaviour
  /** After the timeout has escalated: how long it waits from there on, and what happens then. */
  readonly escalation?: { readonly timeout: Duration; readonly behaviour: Exclude<TimeoutBehaviour, 'escalate'> }
  /** How long it is not claimable after the condition is met. */
  readonly resumeDelay?: Duration
  /** A repeat with the same key by the same holder answers as the first did, with the same tokens. */
  readonly idempotencyKey?: string
}

/** A fresh waitpoint by its key, or one that was created ahead by its id. */
export type WaitpointBinding = { readonly key: string } | { readonly waitpointId: WaitpointId }

/** A waitpoint of a suspension, with the token to hand out. */
export interface BoundWaitpoint {
  readonly waitpointId: WaitpointId
  readonly key: string
  /** Null when the key that signed it is gone. */
  readonly token: string | null
}

/** A checked binding: both have an id, of a pending one the key is not known yet. */
export interface CheckedBinding {
  readonly uuid: string
  readonly key: string | null
}

/** A checked request, as the statements take it. */
export interface NewSuspension extends Held {
  readonly suspensionId: string
  readonly condition: Condition
  readonly bindings: readonly CheckedBinding[]
  readonly reason: SuspensionReason
  readonly timeoutMs: number | null
  readonly timeoutAt: number | null
  readonly timeoutBehaviour: TimeoutBehaviour
  readonly secondTimeoutMs: number | null
  readonly secondBehaviour: TimeoutBehaviour | null
  readonly resumeDelayMs: number | null
  readonly idempotencyKey: string | null
  /** The lease is kept when the condition holds at once. */
  readonly keepsLease: boolean
}
