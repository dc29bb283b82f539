// The children of one execution, newest first.
import { statement } from '../../../sql/statement.ts'
import { executionColumns, executionJoins, executionRow } from '../snapshot.ts'
import { filterCondition, filterParams, filterValues, newestFirst, source } from './source.ts'

const listStatement = statement({
  name: 'execution.list.by-parent',
  params: {
    ...filterParams,
    parent_id: 'uuid',
    created_at_ms: 'int8',
    execution_id: 'uuid',
    limit: 'int8',
    partition_key: 'int2',
  },
  row: executionRow,
  text: `
with page as materialized (
  select i.execution_id
  from flowfabric.ff_exec_input i
  join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
  join flowfabric.ff_queue q on q.queue_id = e.queue_id
  where i.parent_id = $5 and e.partition_key = $9 and (i.created_at_ms, i.execution_id) < ($6, $7) and ${filterCondition}
  order by i.created_at_ms desc, i.execution_id desc
  limit $8
)
select ${executionColumns}
from page
join flowfabric.ff_exec_core e on e.execution_id = any (array[page.execution_id])
${executionJoins}
order by e.created_at_ms desc, e.execution_id desc`,
})

export const byParent = source({
  order: newestFirst('executions by parent'),
  read: (sql, filter, after, limit) =>
    sql.query(listStatement, {
      ...filterValues(filter),
      parent_id: filter.parentId!,
      partition_key: filter.partition!,
      ...after,
      limit,
    }),
})
