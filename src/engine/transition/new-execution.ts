// An execution to write: a checked request, alone and together with the policy of its task.
import type { ExecutionId } from '../../model/id.ts'
import type { ExecutionPolicy, PartialPolicy } from '../../model/policy.ts'
import type { AppliedPolicy, TaskPolicy } from '../../model/task-policy.ts'
import type { Queue } from '../queue/intern.ts'

export const onParentEnds = ['cancel', 'detach'] as const
export type OnParentEnd = (typeof onParentEnds)[number]

export interface NewParent {
  readonly executionId: ExecutionId
  readonly uuid: string
  readonly onParentEnd: OnParentEnd
}

/** A checked request, together with the policy of its task: the input of the statement. */
export interface NewExecution extends CheckedExecution {
  readonly policy: ExecutionPolicy | null
  readonly applied: AppliedPolicy
}

/** A checked request. */
export interface CheckedExecution {
  readonly executionId: ExecutionId
  readonly partition: number
  readonly uuid: string
  /** This process minted the id, so no other process can have written it. */
  readonly minted: boolean
  readonly queue: Queue
  /** Null if the request names none. */
  readonly givenLane: string | null
  readonly taskDefaults: TaskPolicy | null
  readonly parent: NewParent | null
  readonly priority: number
  readonly givenPriority: number
  readonly delayMs: number | null
  readonly delayUntil: number | null
  readonly deadlineMs: number | null
  readonly deadlineAt: number | null
  readonly payload: Uint8Array | null
  readonly payloadEncoding: string | null
  readonly policy: PartialPolicy | null
  readonly tags: Readonly<Record<string, string>> | null
  readonly creator: string
  readonly idempotencyKey: string | null
  readonly idempotencyTtlMs: number | null
  readonly requestHash: Uint8Array | null
}
