// The committed events of one execution, oldest first. A renewal takes its event id under the lease's lock and not the
// execution's, so it may still appear before the last event of a page. A reader that follows the log subscribes.
import { checkFields } from '../../model/field.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { pageFields, readPage, type Order, type PageRequest } from '../kernel/page.ts'
import { visibleExecution } from '../kernel/visible.ts'
import { decodeEventCursor, encodeEventCursor } from './cursor.ts'
import { decodeEvent, eventColumns, eventRow, isKnownKind, type EventRow, type LogEvent } from './log-event.ts'

export interface TimelineRequest extends PageRequest {
  /** `nextCursor` of the page before, or the cursor of any event. */
  readonly cursor?: string
}

export interface TimelinePage {
  readonly events: readonly LogEvent[]
  readonly nextCursor: string | null
}

const timelineStatement = statement({
  name: 'event.timeline',
  params: { execution_id: 'uuid', partition_key: 'int2', namespace: 'text?', event_id: 'int8', limit: 'int8' },
  row: eventRow,
  text: `
select ${eventColumns}
from flowfabric.ff_event e
where e.execution_id = $1
  and e.event_id > $4
  and e.partition_key = $2
  and ($3::text is null or e.namespace = $3)
order by e.event_id
limit $5`,
})

/** Empty for an execution that does not exist, or belongs to another namespace. */
export async function timeline(
  sql: Sql,
  caller: Caller,
  executionId: string,
  request: TimelineRequest = {},
): Promise<TimelinePage> {
  checkFields('timeline', pageFields, request)
  const execution = visibleExecution(caller, executionId)
  return timelinePage(request, (after, limit) => sql.query(timelineStatement, { ...execution, ...after, limit }))
}

const order: Order<{ readonly event_id: number }, EventRow> = {
  start: { event_id: 0 },
  decode: (cursor) => ({ event_id: decodeEventCursor(cursor) }),
  encode: ({ event_id }) => encodeEventCursor(event_id),
}

/** A page without the events of kinds that this version does not know. */
export async function timelinePage(
  request: TimelineRequest,
  read: (after: { readonly event_id: number }, limit: number) => Promise<readonly EventRow[]>,
): Promise<TimelinePage> {
  const { rows, nextCursor } = await readPage(request, order, read)
  return { events: rows.map(decodeEvent).filter((event) => isKnownKind(event.kind)), nextCursor }
}
