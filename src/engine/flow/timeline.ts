// The events of a flow itself, oldest first: created, changed, closed, cancelled, ended, reopened. The events of a member are in
// the member's timeline.
import { checkFields } from '../../model/field.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { pageFields } from '../kernel/page.ts'
import { visibleFlow } from '../kernel/visible.ts'
import { eventColumns, eventRow } from '../event/log-event.ts'
import { timelinePage, type TimelinePage, type TimelineRequest } from '../event/timeline.ts'

const timelineStatement = statement({
  name: 'flow.timeline',
  params: { flow_id: 'uuid', partition_key: 'int2', namespace: 'text?', event_id: 'int8', limit: 'int8' },
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
  checkFields('flows.timeline', pageFields, request)
  const flow = visibleFlow(caller, flowId)
  return timelinePage(request, (after, limit) => sql.query(timelineStatement, { ...flow, ...after, limit }))
}
