// The registered task of a kind, as statements read it.
import type { ExecutionPolicy } from '../../model/policy.ts'
import type { Tags } from '../../model/tag.ts'
import type { TaskPolicy } from '../../model/task-policy.ts'
import { sharedScope } from '../signing-key/scope.ts'

/** Expressions of the namespace, the kind and the version of an execution; an empty version is none. */
interface TaskIdentity {
  readonly namespace: string
  readonly kind: string
  readonly version: string
}

/**
 * A lateral join that adds the columns of `registeredRow`, all null if no task is registered. A task of the namespace
 * takes precedence over one of all namespaces. An execution without a version uses the task without one, otherwise the
 * newest.
 */
export function joinRegistered({ namespace, kind, version }: TaskIdentity): string {
  return `left join lateral (
    select t.execution_kind as registered_kind, t.lane_id as registered_lane, t.deadline_after_ms as registered_deadline_ms,
      t.tags as registered_tags, p.policy as registered_policy
    from flowfabric.ff_task t
    left join flowfabric.ff_policy p on p.policy_id = any (array[t.policy_id])
    where t.namespace = any (array[${namespace}, '${sharedScope}']) and t.execution_kind = ${kind}
      and (t.task_version = ${version} or ${version} = '')
    order by t.namespace <> '${sharedScope}' desc, t.task_version = ${version} desc, t.registered_at_ms desc, t.task_version desc
    limit 1
  ) r on true`
}

export const registeredColumns =
  'r.registered_kind, r.registered_lane, r.registered_deadline_ms, r.registered_tags, r.registered_policy'

export const registeredRow = {
  registered_kind: 'text?',
  registered_lane: 'text?',
  registered_deadline_ms: 'int8?',
  registered_tags: 'jsonb?',
  registered_policy: 'jsonb?',
} as const

interface RegisteredRow {
  readonly registered_kind: string | null
  readonly registered_lane: string | null
  readonly registered_deadline_ms: number | null
  readonly registered_tags: unknown
  readonly registered_policy: unknown
}

export function decodeRegistered(row: RegisteredRow): TaskPolicy | null {
  if (row.registered_kind === null) return null
  return {
    lane: row.registered_lane,
    deadlineMs: row.registered_deadline_ms,
    tags: row.registered_tags as Tags | null,
    policy: row.registered_policy as ExecutionPolicy | null,
  }
}
