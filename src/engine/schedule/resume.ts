// A paused schedule continues with the next of its times.
import { earliest, plannedAfter } from '../../model/schedule.ts'
import { call, type Call, type Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { clockAfter } from '../kernel/after-lock.ts'
import { untilSent } from '../kernel/resend.ts'
import { checkNamed, nameParams, scheduleNotFound, type NamedSchedule } from './named.ts'
import { timingOf } from './schedule.ts'

export interface ScheduleResumed {
  readonly kind: 'resumed' | 'not_paused'
  readonly scheduleId: string
  /** Null when none of its times is left. */
  readonly nextFireAt: number | null
}

const lockPaused = statement({
  name: 'schedule.resume.lock',
  params: nameParams,
  row: {
    now_ms: 'int8',
    schedule_id: 'uuid',
    cron: 'text?',
    time_zone: 'text?',
    every_ms: 'int8?',
    anchor_at_ms: 'int8?',
    planned_at_ms: 'int8?',
    until_ms: 'int8?',
    paused_at_ms: 'int8?',
    queued_count: 'int4',
  },
  text: `
with found as materialized (
  select *
  from flowfabric.ff_schedule
  where namespace = $1 and schedule_name = $2
  for no key update
),
${clockAfter('found')}
select c.now_ms, f.schedule_id, f.cron, f.time_zone, f.every_ms, f.anchor_at_ms, f.planned_at_ms, f.until_ms,
  f.paused_at_ms, cardinality(f.queued_at_ms) as queued_count
from found f
cross join clock c`,
})

const goOn = statement({
  name: 'schedule.resume',
  params: { schedule_id: 'uuid', planned_at_ms: 'int8?', next_fire_at_ms: 'int8?', now_ms: 'int8', actor: 'text' },
  row: {},
  text: `
with resumed as (
  update flowfabric.ff_schedule
  set paused_at_ms = null, planned_at_ms = $2, next_fire_at_ms = $3
  where schedule_id = $1
  returning partition_key, namespace, schedule_name
)
insert into flowfabric.ff_event (occurred_at_ms, event_type, partition_key, namespace, actor, details)
select $4, 'schedule_resumed', partition_key, namespace, $5, jsonb_build_object('scheduleId', schedule_name)
from resumed`,
})

export async function resumeSchedule(sql: Sql, caller: Caller, request: NamedSchedule): Promise<ScheduleResumed> {
  const name = checkNamed('schedules.resume', caller, request)
  const scheduleId = name.schedule_name
  let answer: ScheduleResumed | undefined
  await untilSent(sql, { again: false }, () =>
    sql.decide([call(lockPaused, name)], ([[found]]): readonly Call[] => {
      if (found === undefined) throw scheduleNotFound(scheduleId)
      const { schedule_id, now_ms, queued_count } = found
      answer = { kind: 'not_paused', scheduleId, nextFireAt: found.planned_at_ms }
      if (found.paused_at_ms === null) return []
      const nextFireAt = plannedAfter({ timing: timingOf(found), until: found.until_ms }, now_ms)
      answer = { kind: 'resumed', scheduleId, nextFireAt }
      const lookAt = earliest(nextFireAt, queued_count > 0 ? now_ms : null)
      const times = { planned_at_ms: nextFireAt, next_fire_at_ms: lookAt, now_ms }
      return [call(goOn, { schedule_id, ...times, actor: caller.actor })]
    }),
  )
  return answer!
}
