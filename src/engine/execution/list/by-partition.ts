// The executions of one partition, in the order of ids.
import { statement } from '../../../sql/statement.ts'
import { executionColumns, executionJoins, executionRow } from '../snapshot.ts'
import { partitionOrder } from '../../kernel/list-source.ts'
import { filterCondition, filterParams, filterValues, source } from './source.ts'

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

export const byPartition = source({
  order: ({ partition }) => partitionOrder('execution', partition!),
  read: (sql, filter, after, limit) =>
    sql.query(listStatement, { ...filterValues(filter), partition_key: filter.partition!, ...after, limit }),
})
