// A paused schedule fires at none of its times; times that pass meanwhile are not caught up. A trigger still fires it.
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { untilSent } from '../kernel/resend.ts'
import { checkNamed, nameParams, scheduleNotFound, type NamedSchedule } from './named.ts'

export interface SchedulePaused {
  readonly kind: 'paused' | 'already_paused'
  readonly scheduleId: string
}

const pause = statement({
  name: 'schedule.pause',
  params: { ...nameParams, actor: 'text' },
  row: { is_new: 'bool' },
  text: `
with found as materialized (
  select schedule_id, paused_at_ms
  from flowfabric.ff_schedule
  where namespace = $1 and schedule_name = $2
  for no key update
),
paused as (
  update flowfabric.ff_schedule s
  set paused_at_ms = flowfabric.ff_now_ms(), next_fire_at_ms = null
  from found f
  where s.schedule_id = any (array[f.schedule_id]) and f.paused_at_ms is null
  returning s.paused_at_ms, s.partition_key, s.namespace, s.schedule_name
),
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, event_type, partition_key, namespace, actor, details)
  select paused_at_ms, 'schedule_paused', partition_key, namespace, $3, jsonb_build_object('scheduleId', schedule_name)
  from paused
)
select paused_at_ms is null as is_new
from found`,
})

export async function pauseSchedule(sql: Sql, caller: Caller, request: NamedSchedule): Promise<SchedulePaused> {
  const name = checkNamed('schedules.pause', caller, request)
  const values = { ...name, actor: caller.actor }
  const [row] = await untilSent(sql, { again: false }, () => sql.query(pause, values))
  if (row === undefined) throw scheduleNotFound(name.schedule_name)
  return { kind: row.is_new ? 'paused' : 'already_paused', scheduleId: name.schedule_name }
}
