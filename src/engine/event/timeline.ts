// The events of one execution that are committed, oldest first. A renewal under way draws its id under the lease's lock
// and not the execution's, so it may yet take its place before the last of them: whoever follows along subscribes.
import { parseExecutionId } from '../../model/id.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { pageLimit } from '../kernel/page.ts'
import { decodeEventCursor } from './cursor.ts'
import { decodeEvent, eventColumns, eventRow, isKnownKind, type EventRow, type LogEvent } from './log-event.ts'

export interface TimelineRequest {
  /** Nought is an empty page, more than 1,000 is 1,000; 50 when left out. */
  readonly limit?: number
  /** `nextCursor` of the page before, or the cursor of any event. */
  readonly cursor?: string
}

export interface TimelinePage {
  readonly events: readonly LogEvent[]
  readonly nextCursor: string | null
}

const timelineStatement = statement({
  name: 'event.timeline',
  params: { execution_id: 'uuid', partition_key: 'int2', namespace: 'text?', after: 'int8', limit: 'int8' },
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

/** Empty for an execution that does not exist, or is not the caller's. */
export async function timeline(
  sql: Sql,
  caller: Caller,
  executionId: string,
  request: TimelineRequest = {},
): Promise<TimelinePage> {
  refuseUnknownFields('timeline', request, ['limit', 'cursor'])
  const { partition, uuid } = parseExecutionId(executionId)
  const of = { execution_id: uuid, partition_key: partition, namespace: caller.namespace }
  return timelinePage(request, (page) => sql.query(timelineStatement, { ...of, ...page }))
}

/** One page; `read` gives the events after an id, and one more than the page has where there are more. */
export async function timelinePage(
  request: TimelineRequest,
  read: (page: { readonly after: number; readonly limit: number }) => Promise<readonly EventRow[]>,
): Promise<TimelinePage> {
  const after = request.cursor === undefined ? 0 : decodeEventCursor(request.cursor)
  const limit = pageLimit(request.limit)
  if (limit === 0) return { events: [], nextCursor: null }
  const rows = await read({ after, limit: limit + 1 })
  const page = rows.slice(0, limit).map(decodeEvent)
  return {
    events: page.filter((event) => isKnownKind(event.kind)),
    nextCursor: rows.length > limit ? page.at(-1)!.cursor : null,
  }
}
