// A schedule as readers see it.
import { formatExecutionId, type ExecutionId } from '../../model/id.ts'
import type { ExecutionPolicy } from '../../model/policy.ts'
import type { CatchUp, Overlap } from '../../model/schedule.ts'
import type { Timing } from '../../model/schedule-timing.ts'
import { oneOf, type RowOf } from '../../sql/statement.ts'

export interface Schedule {
  /** As the caller named it; unique within its namespace. */
  readonly scheduleId: string
  readonly namespace: string
  /** `ended`: none of its times is left. */
  readonly state: 'active' | 'paused' | 'ended'
  /** A pattern with its zone, or an interval. */
  readonly cron: string | null
  readonly timeZone: string | null
  readonly everyMs: number | null
  readonly overlap: Overlap
  readonly catchUp: CatchUp
  readonly catchUpLimit: number
  readonly jitterMs: number
  readonly until: number | null
  /** The next of its times; null while paused, and when none is left. */
  readonly nextFireAt: number | null
  readonly lastFiredAt: number | null
  /** The last of its times that was processed, fired or not. */
  readonly lastPlannedAt: number | null
  readonly lastExecutionId: ExecutionId | null
  readonly firedCount: number
  readonly skippedCount: number
  /** Times that wait for the last execution to end. */
  readonly queued: readonly number[]
  readonly createdAt: number
  readonly changedAt: number
  readonly pausedAt: number | null
  /** The kind of its executions. */
  readonly kind: string
  readonly lane: string
  readonly version: string | null
  readonly priority: number
  readonly requiredCapabilities: readonly string[]
  readonly deadlineMs: number | null
  readonly tags: Readonly<Record<string, string>>
  readonly policy: ExecutionPolicy | null
}

export const scheduleRow = {
  schedule_name: 'text',
  namespace: 'text',
  partition_key: 'int2',
  cron: 'text?',
  time_zone: 'text?',
  every_ms: 'int8?',
  overlap: oneOf<Overlap>(),
  catch_up: oneOf<CatchUp>(),
  catch_up_limit: 'int4',
  jitter_ms: 'int8',
  until_ms: 'int8?',
  planned_at_ms: 'int8?',
  last_fired_at_ms: 'int8?',
  last_planned_at_ms: 'int8?',
  last_execution_id: 'uuid?',
  fired_count: 'int8',
  skipped_count: 'int8',
  queued_at_ms: 'int8[]',
  created_at_ms: 'int8',
  changed_at_ms: 'int8',
  paused_at_ms: 'int8?',
  execution_kind: 'text',
  lane_id: 'text',
  task_version: 'text',
  priority: 'int2',
  required_capabilities: 'text[]',
  deadline_after_ms: 'int8?',
  tags: 'jsonb?',
  policy: 'jsonb?',
} as const

/** Follows `select`; from `ff_schedule s` and its queue `q`. */
export const scheduleColumns = `
  s.schedule_name, s.namespace, s.partition_key, s.cron, s.time_zone, s.every_ms, s.overlap, s.catch_up, s.catch_up_limit,
  s.jitter_ms, s.until_ms, s.planned_at_ms, s.last_fired_at_ms, s.last_planned_at_ms, s.last_execution_id, s.fired_count,
  s.skipped_count, s.queued_at_ms, s.created_at_ms, s.changed_at_ms, s.paused_at_ms, q.execution_kind, q.lane_id,
  q.task_version, s.priority, q.required_capabilities, s.deadline_after_ms, s.tags, s.policy`

export function decodeSchedule(row: RowOf<typeof scheduleRow>): Schedule {
  const isPaused = row.paused_at_ms !== null
  const isEnded = row.planned_at_ms === null && row.queued_at_ms.length === 0
  return {
    scheduleId: row.schedule_name,
    namespace: row.namespace,
    state: isPaused ? 'paused' : isEnded ? 'ended' : 'active',
    cron: row.cron,
    timeZone: row.time_zone,
    everyMs: row.every_ms,
    overlap: row.overlap,
    catchUp: row.catch_up,
    catchUpLimit: row.catch_up_limit,
    jitterMs: row.jitter_ms,
    until: row.until_ms,
    nextFireAt: isPaused ? null : row.planned_at_ms,
    lastFiredAt: row.last_fired_at_ms,
    lastPlannedAt: row.last_planned_at_ms,
    lastExecutionId:
      row.last_execution_id === null ? null : formatExecutionId(row.partition_key, row.last_execution_id),
    firedCount: row.fired_count,
    skippedCount: row.skipped_count,
    queued: row.queued_at_ms,
    createdAt: row.created_at_ms,
    changedAt: row.changed_at_ms,
    pausedAt: row.paused_at_ms,
    kind: row.execution_kind,
    lane: row.lane_id,
    version: row.task_version === '' ? null : row.task_version,
    priority: row.priority,
    requiredCapabilities: row.required_capabilities,
    deadlineMs: row.deadline_after_ms,
    tags: (row.tags ?? {}) as Record<string, string>,
    policy: row.policy as ExecutionPolicy | null,
  }
}

interface TimingRow {
  readonly cron: string | null
  readonly time_zone: string | null
  readonly every_ms: number | null
  readonly anchor_at_ms: number | null
}

export function timingOf({ cron, time_zone, every_ms, anchor_at_ms }: TimingRow): Timing {
  if (cron !== null) return { kind: 'cron', cron, timeZone: time_zone! }
  return { kind: 'every', everyMs: every_ms!, anchorAt: anchor_at_ms! }
}
