import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { checkNamed, nameParams, type NamedSchedule } from './named.ts'
import { decodeSchedule, scheduleColumns, scheduleRow, type Schedule } from './schedule.ts'

export interface ScheduleDetail extends Schedule {
  readonly payload: Uint8Array | null
  readonly payloadEncoding: string | null
}

const describeStatement = statement({
  name: 'schedule.describe',
  params: nameParams,
  row: { ...scheduleRow, payload: 'bytea?', payload_encoding: 'text?' },
  text: `
select ${scheduleColumns}, s.payload, s.payload_encoding
from flowfabric.ff_schedule s
join flowfabric.ff_queue q on q.queue_id = any (array[s.queue_id])
where s.namespace = $1 and s.schedule_name = $2`,
})

export async function describeSchedule(
  sql: Sql,
  caller: Caller,
  request: NamedSchedule,
): Promise<ScheduleDetail | null> {
  const [row] = await sql.query(describeStatement, checkNamed('schedules.describe', caller, request))
  if (row === undefined) return null
  return { ...decodeSchedule(row), payload: row.payload, payloadEncoding: row.payload_encoding }
}
