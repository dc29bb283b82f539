// What happened to a flow itself, oldest first: created, changed, closed, cancelled, ended, opened again. What happened to a
// member is in that member's timeline.
import { parseFlowId } from '../../model/id.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { eventColumns, eventRow } from '../event/log-event.ts'
import { timelinePage, type TimelinePage, type TimelineRequest } from '../event/timeline.ts'

const timelineStatement = statement({
  name: 'flow.timeline',
  params: { flow_id: 'uuid', partition_key: 'int2', namespace: 'text?', after: 'int8', limit: 'int8' },
  row: eventRow,
  text: `
select ${eventColumns}
from flowfabric.ff_event e
where e.flow_id = $1
  and e.event_type in (
    'flow_created', 'flow_changed', 'flow_closed', 'flow_cancel_requested', 'flow_ended', 'flow_reopened')
  and e.event_id > $4
  and e.partition_key = $2
  and ($3::text is null or e.namespace = $3)
order by e.event_id
limit $5`,
})

/** Empty for a flow that does not exist, or is not the caller's. */
export async function flowTimeline(
  sql: Sql,
  caller: Caller,
  flowId: string,
  request: TimelineRequest = {},
): Promise<TimelinePage> {
  refuseUnknownFields('flows.timeline', request, ['limit', 'cursor'])
  const { partition, uuid } = parseFlowId(flowId)
  const of = { flow_id: uuid, partition_key: partition, namespace: caller.namespace }
  return timelinePage(request, (page) => sql.query(timelineStatement, { ...of, ...page }))
}
