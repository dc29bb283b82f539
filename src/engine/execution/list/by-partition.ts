// In the order of ids within one partition.
import { statement } from '../../../sql/statement.ts'
import { executionColumns, executionJoins, executionRow } from '../snapshot.ts'
import { filterCondition, filterParams, filterValues, firstUuid, type ListSource } from './source.ts'

const listStatement = statement({
  name: 'execution.list.by-partition',
  params: { ...filterParams, partition_key: 'int2', execution_id: 'uuid', limit: 'int8' },
  row: executionRow,
  text: `
with page as materialized (
  select i.execution_id
  from flowfabric.ff_exec_input i
  join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
  join flowfabric.ff_queue q on q.queue_id = e.queue_id
  where i.partition_key = $5 and i.execution_id > $6 and ${filterCondition}
  order by i.execution_id
  limit $7
)
select ${executionColumns}
from page
join flowfabric.ff_exec_core e on e.execution_id = any (array[page.execution_id])
${executionJoins}
order by page.execution_id`,
})

export const byPartition: ListSource = {
  name: 'executions by partition',
  shape: ['uuid'],
  start: [firstUuid],
  keyOf: (row) => [row.execution_id],
  read: (sql, filter, [id], limit) =>
    sql.query(listStatement, {
      ...filterValues(filter),
      partition_key: filter.partition!,
      execution_id: id as string,
      limit,
    }),
}
