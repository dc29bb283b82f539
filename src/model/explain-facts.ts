// The facts of an explanation, as of one moment.
import type { Condition } from './condition.ts'
import type { ExecutionId, FlowId } from './id.ts'
import type { CompensationState, BlockingReason, PublicState, StateVector } from './state.ts'
import type { TimeoutBehaviour } from './suspension.ts'

export interface ExplainedExecution {
  readonly executionId: ExecutionId
  readonly publicState: PublicState
  readonly state: StateVector
  readonly blockingReason: BlockingReason
  readonly lane: string
  readonly kind: string
  readonly version: string | null
  readonly requiredCapabilities: readonly string[]
  readonly flowId: FlowId | null
  readonly lastMutationAt: number
  readonly endedAt: number | null
  readonly delayUntil: number | null
  readonly cancelRequestedAt: number | null
  readonly compensation: CompensationState
  readonly retryCount: number
  readonly consecutiveExpiryCount: number
  readonly failureReason: string | null
  readonly cancellationReason: string | null
  readonly cancelledBy: string | null
  readonly policy: { readonly retry?: { readonly attempts: number } } | null
  readonly lease: { readonly workerInstanceId: string; readonly acquiredAt: number; readonly expiresAt: number } | null
  readonly progress: { readonly percent: number | null; readonly message: string | null } | null
  readonly suspension: {
    readonly suspendedAt: number
    readonly timeoutAt: number | null
    readonly timeoutBehaviour: TimeoutBehaviour
    readonly escalatedAt: number | null
  } | null
}

/** Live registered workers that serve the namespace; each number counts those of the one before that match further. */
export interface WorkerCounts {
  readonly alive: number
  readonly lane: number
  readonly kind: number
  readonly version: number
  /** With every capability: these could claim it. */
  readonly able: number
}

/** A background duty could not process it. */
export interface Aside {
  readonly duty: string
  readonly failureCount: number
  readonly retryAt: number
  readonly error: string
}

export interface ExplainFacts {
  readonly execution: ExplainedExecution
  /** By the database's clock. */
  readonly now: number
  /** When it was parked; null when it is not. */
  readonly parkedAt: number | null
  readonly cancelDeadlineAt: number | null
  /** Why its last attempt failed. */
  readonly lastFailure: string | null
  /** The worker instances whose leases on it expired last, the newest first, three at most. */
  readonly expiredWorkers: readonly string[]
  readonly condition: Condition | null
  readonly workers: WorkerCounts
  /** How many are before it in its queue, a thousand at most. */
  readonly aheadCount: number
  readonly grant: { readonly workerInstanceId: string; readonly expiresAt: number } | null
  readonly setAside: Aside | null
  /** When a process last ran the background duties; null: never. */
  readonly supervisedAt: number | null
}
