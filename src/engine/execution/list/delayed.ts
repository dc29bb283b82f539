// Delayed: those that are due first come first.
import { statement } from '../../../sql/statement.ts'
import { executionColumns, executionJoins, executionRow } from '../snapshot.ts'
import { filterCondition, filterParams, filterValues, firstTime, firstUuid, type ListSource } from './source.ts'

const listStatement = statement({
  name: 'execution.list.delayed',
  params: { ...filterParams, delay_until_ms: 'int8', execution_id: 'uuid', limit: 'int8' },
  row: executionRow,
  text: `
with page as materialized (
  select e.execution_id
  from flowfabric.ff_exec_core e
  join flowfabric.ff_queue q on q.queue_id = e.queue_id
  where e.delay_until_ms is not null and (e.delay_until_ms, e.execution_id) > ($5, $6) and ${filterCondition}
  order by e.delay_until_ms, e.execution_id
  limit $7
)
select ${executionColumns}
from page
join flowfabric.ff_exec_core e on e.execution_id = page.execution_id
${executionJoins}
order by e.delay_until_ms, e.execution_id`,
})

export const delayed: ListSource = {
  name: 'executions delayed',
  shape: ['int', 'uuid'],
  start: [firstTime, firstUuid],
  keyOf: (row) => [row.delay_until_ms!, row.execution_id],
  read: (sql, filter, [until, id], limit) =>
    sql.query(listStatement, {
      ...filterValues(filter),
      delay_until_ms: until as number,
      execution_id: id as string,
      limit,
    }),
}
