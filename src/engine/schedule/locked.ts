// Locks and reads the schedules for a firing: in the order of their ids, then those of their last executions that a
// firing would cancel. Both skip locked rows; a locked schedule stays due.
import type { LockedExecution } from '../../model/locked-execution.ts'
import type { CatchUp, DueSchedule, Overlap } from '../../model/schedule.ts'
import { call, type RowsOf } from '../../sql/sql.ts'
import { oneOf, statement, type RowOf } from '../../sql/statement.ts'
import { clockAfter } from '../kernel/after-lock.ts'
import { decodeLocked, lockedColumns, lockedRow } from '../transition/read-locked.ts'
import { timingOf } from './schedule.ts'

const scheduleRow = {
  now_ms: 'int8',
  schedule_id: 'uuid',
  partition_key: 'int2',
  schedule_name: 'text',
  cron: 'text?',
  time_zone: 'text?',
  every_ms: 'int8?',
  anchor_at_ms: 'int8?',
  planned_at_ms: 'int8?',
  next_fire_at_ms: 'int8?',
  last_planned_at_ms: 'int8?',
  last_execution_id: 'uuid?',
  paused_at_ms: 'int8?',
  until_ms: 'int8?',
  jitter_ms: 'int8',
  overlap: oneOf<Overlap>(),
  catch_up: oneOf<CatchUp>(),
  catch_up_limit: 'int4',
  queued_at_ms: 'int8[]',
} as const

const lockSchedules = statement({
  name: 'schedule.fire.lock',
  params: { schedule_ids: 'uuid[]' },
  row: scheduleRow,
  text: `
with target as materialized (
  select s.*
  from unnest($1::uuid[]) as i (schedule_id)
  join flowfabric.ff_schedule s on s.schedule_id = any (array[i.schedule_id])
  order by i.schedule_id
  for no key update of s skip locked
),
${clockAfter('target')}
select c.now_ms, t.schedule_id, t.partition_key, t.schedule_name, t.cron, t.time_zone, t.every_ms, t.anchor_at_ms,
  t.planned_at_ms, t.next_fire_at_ms, t.last_planned_at_ms, t.last_execution_id, t.paused_at_ms, t.until_ms, t.jitter_ms,
  t.overlap, t.catch_up, t.catch_up_limit, t.queued_at_ms
from target t
cross join clock c`,
})

const lockPrevious = statement({
  name: 'schedule.fire.lock-previous',
  params: { schedule_ids: 'uuid[]' },
  row: { schedule_id: 'uuid' },
  text: `
select s.schedule_id
from unnest($1::uuid[]) as i (schedule_id)
join flowfabric.ff_schedule s on s.schedule_id = any (array[i.schedule_id]) and s.overlap = 'cancelPrevious'
join flowfabric.ff_exec_core e on e.execution_id = any (array[s.last_execution_id])
where e.lifecycle_phase <> 'terminal'
order by s.last_execution_id
for no key update of e skip locked`,
})

const readPrevious = statement({
  name: 'schedule.fire.previous',
  params: { schedule_ids: 'uuid[]' },
  row: { schedule_id: 'uuid', ...lockedRow },
  text: `
select s.schedule_id, ${lockedColumns}
from unnest($1::uuid[]) as i (schedule_id)
join flowfabric.ff_schedule s on s.schedule_id = any (array[i.schedule_id])
join flowfabric.ff_exec_core e on e.execution_id = any (array[s.last_execution_id])
left join flowfabric.ff_lease l on l.execution_id = any (array[e.execution_id])
cross join (select flowfabric.ff_now_ms() as now_ms offset 0) k
where e.lifecycle_phase <> 'terminal'`,
})

/** The reads of a firing, in this order, after the locks that come before. */
export function firingReads(uuids: readonly string[]) {
  const ids = { schedule_ids: uuids }
  return [call(lockSchedules, ids), call(lockPrevious, ids), call(readPrevious, ids)] as const
}

export interface LockedSchedule extends DueSchedule {
  readonly uuid: string
  readonly scheduleId: string
  readonly partition: number
  readonly now: number
  readonly nextFireAt: number | null
  readonly isPaused: boolean
  readonly jitterMs: number
  readonly lastExecutionUuid: string | null
  /** Its last execution, locked; null when that has ended, or a firing would not cancel it. */
  readonly previous: LockedExecution | null
  /** Its last execution has not ended, and another transaction has locked it. */
  readonly isPreviousHeld: boolean
}

export function lockedSchedules([locked, lockedPrevious, running]: RowsOf<
  ReturnType<typeof firingReads>
>): LockedSchedule[] {
  const ours = new Set(lockedPrevious.map((row) => row.schedule_id))
  const runningOf = new Map(running.map((row) => [row.schedule_id, decodeLocked(row)]))
  return locked.map((row) => decode(row, runningOf.get(row.schedule_id) ?? null, ours.has(row.schedule_id)))
}

function decode(
  row: RowOf<typeof scheduleRow>,
  running: LockedExecution | null,
  isPreviousOurs: boolean,
): LockedSchedule {
  return {
    uuid: row.schedule_id,
    scheduleId: row.schedule_name,
    partition: row.partition_key,
    now: row.now_ms,
    timing: timingOf(row),
    plannedAt: row.planned_at_ms,
    nextFireAt: row.next_fire_at_ms,
    lastPlannedAt: row.last_planned_at_ms,
    until: row.until_ms,
    overlap: row.overlap,
    catchUp: row.catch_up,
    catchUpLimit: row.catch_up_limit,
    queued: row.queued_at_ms,
    isPaused: row.paused_at_ms !== null,
    jitterMs: row.jitter_ms,
    lastExecutionUuid: row.last_execution_id,
    previous: isPreviousOurs ? running : null,
    isPreviousRunning: running !== null,
    isPreviousHeld: row.overlap === 'cancelPrevious' && running !== null && !isPreviousOurs,
  }
}
