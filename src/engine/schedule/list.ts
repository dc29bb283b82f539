// Schedules in the order of their ids, without their payloads.
import { checkFields } from '../../model/field.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { namespaceToRead, type Caller } from '../kernel/caller.ts'
import { ascending, orderBy, namespacePageFields, readPage, type NamespacePageRequest } from '../kernel/page.ts'
import { decodeSchedule, scheduleColumns, scheduleRow, type Schedule } from './schedule.ts'

export type ListSchedulesRequest = NamespacePageRequest

export interface SchedulePage {
  readonly schedules: readonly Schedule[]
  readonly nextCursor: string | null
}

const listStatement = statement({
  name: 'schedule.list',
  params: { in_namespace: 'text?', namespace: 'text', schedule_name: 'text', limit: 'int8' },
  row: scheduleRow,
  text: `
select ${scheduleColumns}
from flowfabric.ff_schedule s
join flowfabric.ff_queue q on q.queue_id = any (array[s.queue_id])
where ($1::text is null or s.namespace = $1)
  and (s.namespace, s.schedule_name) > ($2, $3)
order by s.namespace, s.schedule_name
limit $4`,
})

const order = orderBy('schedules', { namespace: ascending.text, schedule_name: ascending.text })

export async function listSchedules(sql: Sql, caller: Caller, request: ListSchedulesRequest): Promise<SchedulePage> {
  checkFields('schedules.list', namespacePageFields, request)
  const { namespace, isForeign } = namespaceToRead(caller, request.namespace)
  const { rows, nextCursor } = await readPage(request, order, (after, limit) => {
    if (isForeign) return []
    // The first page of one namespace begins at its rows.
    const from = after.namespace === '' ? (namespace ?? '') : after.namespace
    return sql.query(listStatement, { in_namespace: namespace, ...after, namespace: from, limit })
  })
  return { schedules: rows.map(decodeSchedule), nextCursor }
}
