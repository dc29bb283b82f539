// Newest first within a namespace, lane or kind: the newest of each queue that the filter admits, merged.
import { statement } from '../../../sql/statement.ts'
import { executionColumns, executionJoins, executionRow } from '../snapshot.ts'
import { lastTime, lastUuid, queueCondition, type ListSource } from './source.ts'

const listStatement = statement({
  name: 'execution.list.by-queue',
  params: {
    namespace: 'text?',
    lane: 'text?',
    kind: 'text?',
    created_at_ms: 'int8',
    execution_id: 'uuid',
    limit: 'int8',
  },
  row: executionRow,
  text: `
with page as materialized (
  select newest.execution_id
  from flowfabric.ff_queue q
  cross join lateral (
    select i.created_at_ms, i.execution_id
    from flowfabric.ff_exec_input i
    where i.queue_id = q.queue_id and (i.created_at_ms, i.execution_id) < ($4, $5)
    order by i.created_at_ms desc, i.execution_id desc
    limit $6
  ) newest
  where ${queueCondition}
  order by newest.created_at_ms desc, newest.execution_id desc
  limit $6
)
select ${executionColumns}
from page
join flowfabric.ff_exec_core e on e.execution_id = page.execution_id
${executionJoins}
order by e.created_at_ms desc, e.execution_id desc`,
})

export const byQueue: ListSource = {
  name: 'executions by queue',
  shape: ['int', 'uuid'],
  start: [lastTime, lastUuid],
  keyOf: (row) => [row.created_at_ms, row.execution_id],
  read: (sql, filter, [created, id], limit) =>
    sql.query(listStatement, {
      namespace: filter.namespace,
      lane: filter.lane,
      kind: filter.kind,
      created_at_ms: created as number,
      execution_id: id as string,
      limit,
    }),
}
