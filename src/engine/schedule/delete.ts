// A deleted schedule fires no more; its executions stay as they are.
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { untilSent } from '../kernel/resend.ts'
import { checkNamed, nameParams, type NamedSchedule } from './named.ts'

export interface ScheduleDeleted {
  readonly kind: 'deleted' | 'not_found'
  readonly scheduleId: string
}

const remove = statement({
  name: 'schedule.delete',
  params: { ...nameParams, actor: 'text' },
  row: { schedule_name: 'text' },
  text: `
with deleted as (
  delete from flowfabric.ff_schedule
  where namespace = $1 and schedule_name = $2
  returning schedule_id, partition_key, namespace, schedule_name
),
taken_up as (
  delete from flowfabric.ff_set_aside a
  using deleted d
  where a.duty = 'schedule-fire' and a.subject_id = any (array[d.schedule_id])
),
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, event_type, partition_key, namespace, actor, details)
  select flowfabric.ff_now_ms(), 'schedule_deleted', partition_key, namespace, $3,
    jsonb_build_object('scheduleId', schedule_name)
  from deleted
)
select schedule_name
from deleted`,
})

export async function deleteSchedule(sql: Sql, caller: Caller, request: NamedSchedule): Promise<ScheduleDeleted> {
  const name = checkNamed('schedules.delete', caller, request)
  const values = { ...name, actor: caller.actor }
  // Not sent again when the reply is lost: it may have been put again since.
  const rows = await untilSent(sql, { again: false, onlyOnce: true }, () => sql.query(remove, values))
  return { kind: rows.length === 0 ? 'not_found' : 'deleted', scheduleId: name.schedule_name }
}
