// An execution as a transaction reads it after it has locked it. Decisions on it are pure functions of this value.
import type {
  AttemptState,
  EligibilityState,
  Interruption,
  LifecyclePhase,
  PendingOutcome,
  PublicState,
} from './state.ts'

export interface LockedExecution {
  readonly uuid: string
  readonly partition: number
  readonly namespace: string
  readonly lifecyclePhase: LifecyclePhase
  readonly eligibilityState: EligibilityState
  readonly attemptState: AttemptState
  readonly interruption: Interruption
  readonly publicState: PublicState
  /** Bits of `attached`. */
  readonly attached: number
  readonly queueId: number
  readonly generation: number
  readonly attemptIndex: number
  readonly retryCount: number
  /** Expiries in a row without progress. */
  readonly consecutiveExpiryCount: number
  /** Of the current lease, else of the last one. */
  readonly leaseId: string | null
  readonly leaseEpoch: number
  /** Null when it is not leased. */
  readonly lease: HeldLease | null
  readonly startedAt: number | null
  readonly delayUntil: number | null
  readonly deadlineAt: number | null
  readonly attemptDeadlineAt: number | null
  /** The request to stop, if there is one. */
  readonly stop: StopRequest | null
  /** The database's time, read after the lock. */
  readonly now: number
}

export interface HeldLease {
  readonly expiresAt: number
  /** Its worker has reported that the handler started; otherwise it was only prefetched. */
  readonly isStarted: boolean
  readonly workerInstanceId: string
}

export interface StopRequest {
  readonly requestedAt: number
  readonly deadlineAt: number | null
  readonly reason: string | null
  readonly actor: string | null
  /** How it ends after the clean-up; null is `cancelled`. */
  readonly outcome: PendingOutcome | null
}
