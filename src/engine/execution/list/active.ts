// Active, by descending id. Leases are as many as the workers' slots, so what the filter leaves out is read over.
import { statement } from '../../../sql/statement.ts'
import { executionColumns, executionJoins, executionRow } from '../snapshot.ts'
import { filterCondition, filterParams, filterValues, lastUuid, type ListSource } from './source.ts'

// `offset 0` keeps the planner from turning the order round: one lease after the other, until the page is full.
const listStatement = statement({
  name: 'execution.list.active',
  params: { ...filterParams, execution_id: 'uuid', limit: 'int8' },
  row: executionRow,
  text: `
with page as materialized (
  select h.execution_id
  from (
    select execution_id
    from flowfabric.ff_lease
    where execution_id < $5
    order by execution_id desc
    offset 0
  ) h
  cross join lateral (
    select from flowfabric.ff_exec_core e
    join flowfabric.ff_queue q on q.queue_id = e.queue_id
    where e.execution_id = any (array[h.execution_id]) and ${filterCondition}
    offset 0
  ) admitted
  limit $6
)
select ${executionColumns}
from page
join flowfabric.ff_exec_core e on e.execution_id = any (array[page.execution_id])
${executionJoins}
order by page.execution_id desc`,
})

export const active: ListSource = {
  name: 'executions active',
  shape: ['uuid'],
  start: [lastUuid],
  keyOf: (row) => [row.execution_id],
  read: (sql, filter, [id], limit) =>
    sql.query(listStatement, { ...filterValues(filter), execution_id: id as string, limit }),
}
