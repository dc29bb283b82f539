// The policy of task(), and how it combines with that of a submit. For each field the first of these with a value wins:
// the submit, the registered task, the task as the submitter imports it, the built-in.
import { parseDuration } from './duration.ts'
import { EngineError } from './errors.ts'
import { duration, unchecked } from './field-kinds.ts'
import type { RequestOf } from './field.ts'
import { limits } from './limits.ts'
import { checkLane } from './name.ts'
import { lane, tags } from './named-fields.ts'
import { completePolicy, parsePolicy, type ExecutionPolicy, type PartialPolicy, type PolicyInput } from './policy.ts'
import { readShape, type Reader } from './shape.ts'
import { parseTags, sortedTags, type Tags } from './tag.ts'

export const taskPolicyFields = {
  lane: lane.optional(),
  policy: unchecked<PolicyInput>({ kind: 'named', name: 'PolicyInput' }).optional(),
  /** From submit to ending. */
  deadline: duration().optional(),
  tags: tags.optional(),
}

/** As a caller writes it. `parseTaskPolicy` checks it. */
export interface TaskPolicyInput extends RequestOf<typeof taskPolicyFields> {}

/** Checked. Null: the task does not set it. */
export interface TaskPolicy {
  readonly lane: string | null
  readonly policy: ExecutionPolicy | null
  readonly deadlineMs: number | null
  readonly tags: Tags | null
}

const shape = {
  lane: (_, value) => checkLane(value),
  policy: (_, value) => parsePolicy(value),
  deadline: (at, value) => parseDuration(at, value),
  tags: (_, value) => parseTags(value),
} satisfies Record<keyof TaskPolicyInput, Reader>

export function parseTaskPolicy(at: string, value: unknown): TaskPolicy {
  const { lane = null, policy = null, deadline = null, tags = null } = readShape('invalid_input', at, value, shape)
  return { lane, policy, deadlineMs: deadline, tags: tags === null || Object.keys(tags).length === 0 ? null : tags }
}

/** The request, the registered task, the task as the submitter imports it, the built-in. */
export const policySources = ['request', 'registered', 'task_defaults', 'default'] as const
export type PolicySource = (typeof policySources)[number]

/** The policy of an execution, and the source of each field. */
export interface AppliedPolicy {
  /** Runs in all, the first included. */
  readonly attempts: number
  readonly attemptsFrom: PolicySource
  readonly lane: string
  readonly laneFrom: PolicySource
  /** False: no worker has registered a task of this kind and version. */
  readonly isRegistered: boolean
}

/** The fields of the submit itself. */
export interface OwnPolicy extends Omit<TaskPolicy, 'policy'> {
  readonly policy: PartialPolicy | null
  /** A point in time, which takes precedence over a task's duration. */
  readonly deadlineAt: number | null
}

export interface Layered {
  readonly lane: string
  readonly policy: ExecutionPolicy | null
  readonly deadlineMs: number | null
  readonly tags: Tags | null
  readonly applied: AppliedPolicy
}

const builtInLane = 'default'

/** `imported` is the task as the submitter imports it. */
export function layer(own: OwnPolicy, registered: TaskPolicy | null, imported: TaskPolicy | null): Layered {
  const lane = own.lane ?? registered?.lane ?? imported?.lane ?? builtInLane
  const policy = policyOf(own.policy, registered?.policy ?? null, imported?.policy ?? null)
  const deadlineMs = own.deadlineMs ?? (own.deadlineAt === null ? taskDeadlineOf(registered, imported) : null)
  return {
    lane,
    policy,
    deadlineMs,
    tags: tagsOf(own.tags, registered?.tags ?? null, imported?.tags ?? null),
    applied: {
      attempts: policy?.retry?.attempts ?? 1,
      attemptsFrom: sourceOf(own.policy?.retry, registered?.policy?.retry, imported?.policy?.retry),
      lane,
      laneFrom: sourceOf(own.lane, registered?.lane, imported?.lane),
      isRegistered: registered !== null,
    },
  }
}

/** Attempts, back-off and categories of a retry are fields of their own. */
function policyOf(
  own: PartialPolicy | null,
  registered: ExecutionPolicy | null,
  imported: ExecutionPolicy | null,
): ExecutionPolicy | null {
  const task = registered === null || imported === null ? (registered ?? imported) : { ...imported, ...registered }
  if (own === null) return task
  if (task === null) return completePolicy(own)
  const retry = own.retry === undefined ? task.retry : { ...task.retry, ...own.retry }
  return completePolicy({ ...task, ...own, ...(retry !== undefined && { retry }) })
}

function taskDeadlineOf(registered: TaskPolicy | null, imported: TaskPolicy | null): number | null {
  return registered?.deadlineMs ?? imported?.deadlineMs ?? null
}

/** By key. */
function tagsOf(own: Tags | null, registered: Tags | null, imported: Tags | null): Tags | null {
  if (registered === null && imported === null) return own
  const tags = { ...imported, ...registered, ...own }
  const found = Object.keys(tags).length
  if (found <= limits.tagCount) return sortedTags(tags)
  throw new EngineError(
    'invalid_tag',
    `${found} tags are given together with the task's own; an execution has at most ${limits.tagCount}`,
    { field: 'tags', found, allowed: limits.tagCount },
  )
}

function sourceOf(own: unknown, registered: unknown, imported: unknown): PolicySource {
  if (isGiven(own)) return 'request'
  if (isGiven(registered)) return 'registered'
  return isGiven(imported) ? 'task_defaults' : 'default'
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null
}
