// Suspended, blocked by dependencies or rate-limited: those that were parked first come first.
import { statement } from '../../../sql/statement.ts'
import { executionColumns, executionJoins, executionRow } from '../snapshot.ts'
import { filterCondition, filterParams, filterValues, firstTime, firstUuid, type ListSource } from './source.ts'

const listStatement = statement({
  name: 'execution.list.parked',
  params: { ...filterParams, parked_at_ms: 'int8', execution_id: 'uuid', limit: 'int8' },
  row: executionRow,
  text: `
with page as materialized (
  select e.execution_id
  from flowfabric.ff_exec_core e
  join flowfabric.ff_queue q on q.queue_id = e.queue_id
  where e.parked_at_ms is not null and (e.parked_at_ms, e.execution_id) > ($5, $6) and ${filterCondition}
  order by e.parked_at_ms, e.execution_id
  limit $7
)
select ${executionColumns}
from page
join flowfabric.ff_exec_core e on e.execution_id = page.execution_id
${executionJoins}
order by e.parked_at_ms, e.execution_id`,
})

export const parked: ListSource = {
  name: 'executions parked',
  shape: ['int', 'uuid'],
  start: [firstTime, firstUuid],
  keyOf: (row) => [row.parked_at_ms!, row.execution_id],
  read: (sql, filter, [since, id], limit) =>
    sql.query(listStatement, {
      ...filterValues(filter),
      parked_at_ms: since as number,
      execution_id: id as string,
      limit,
    }),
}
