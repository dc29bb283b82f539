// Active: those whose lease was taken for the newest id first. Leases are few, so their key is index enough.
import { statement } from '../../../sql/statement.ts'
import { executionColumns, executionJoins, executionRow } from '../snapshot.ts'
import { filterCondition, filterParams, filterValues, lastUuid, type ListSource } from './source.ts'

const listStatement = statement({
  name: 'execution.list.active',
  params: { ...filterParams, execution_id: 'uuid', limit: 'int8' },
  row: executionRow,
  text: `
with page as materialized (
  select e.execution_id
  from flowfabric.ff_lease h
  join flowfabric.ff_exec_core e on e.execution_id = h.execution_id
  join flowfabric.ff_queue q on q.queue_id = e.queue_id
  where h.execution_id < $5 and ${filterCondition}
  order by h.execution_id desc
  limit $6
)
select ${executionColumns}
from page
join flowfabric.ff_exec_core e on e.execution_id = page.execution_id
${executionJoins}
order by e.execution_id desc`,
})

export const active: ListSource = {
  name: 'executions active',
  shape: ['uuid'],
  start: [lastUuid],
  keyOf: (row) => [row.execution_id],
  read: (sql, filter, [id], limit) =>
    sql.query(listStatement, { ...filterValues(filter), execution_id: id as string, limit }),
}
