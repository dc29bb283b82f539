// Schedules in the order of their ids, without their payloads.
import { decodeCursor, encodeCursor } from '../../model/cursor.ts'
import { checkNamespace } from '../../model/name.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { pageLimit } from '../kernel/page.ts'
import { decodeSchedule, scheduleColumns, scheduleRow, type Schedule } from './schedule.ts'

export interface ListSchedulesRequest {
  readonly namespace?: string
  readonly limit?: number
  readonly cursor?: string
}

export interface SchedulePage {
  readonly schedules: readonly Schedule[]
  readonly nextCursor: string | null
}

const listStatement = statement({
  name: 'schedule.list',
  params: { namespace: 'text?', wanted: 'text?', after_namespace: 'text', after_name: 'text', limit: 'int8' },
  row: scheduleRow,
  text: `
select ${scheduleColumns}
from flowfabric.ff_schedule s
join flowfabric.ff_queue q on q.queue_id = any (array[s.queue_id])
where ($1::text is null or s.namespace = $1)
  and ($2::text is null or s.namespace = $2)
  and (s.namespace, s.schedule_name) > ($3, $4)
order by s.namespace, s.schedule_name
limit $5`,
})

export async function listSchedules(sql: Sql, caller: Caller, request: ListSchedulesRequest): Promise<SchedulePage> {
  refuseUnknownFields('schedules.list', request, ['namespace', 'limit', 'cursor'])
  const { namespace, cursor } = request
  const limit = pageLimit(request.limit)
  const wanted = namespace === undefined ? null : checkNamespace(namespace)
  // A page of one namespace begins where that does.
  const first = caller.namespace ?? wanted ?? ''
  const [afterNamespace, afterName] =
    cursor === undefined ? [first, ''] : decodeCursor('schedules', cursor, ['text', 'text'])
  if (limit === 0) return { schedules: [], nextCursor: null }
  const rows = await sql.query(listStatement, {
    namespace: caller.namespace,
    wanted,
    after_namespace: afterNamespace as string,
    after_name: afterName as string,
    limit: limit + 1,
  })
  const schedules = rows.slice(0, limit).map(decodeSchedule)
  const last = schedules.at(-1)
  const hasMore = rows.length > limit && last !== undefined
  return { schedules, nextCursor: hasMore ? encodeCursor('schedules', [last.namespace, last.scheduleId]) : null }
}
