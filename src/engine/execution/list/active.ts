// Active executions, by descending id. There are as many leases as the workers have slots, so the rows that the filter excludes are few.
import { statement } from '../../../sql/statement.ts'
import { executionColumns, executionJoins, executionRow } from '../snapshot.ts'
import { filteredOrder } from '../../kernel/list-source.ts'
import { descending } from '../../kernel/page.ts'
import { filterCondition, filterParams, filterValues, source } from './source.ts'

// `offset 0` keeps the planner from changing the order: it reads one lease after the other until the page is full.
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

const order = filteredOrder('executions active', { execution_id: descending.uuid })

export const active = source({
  order,
  read: (sql, filter, after, limit) => sql.query(listStatement, { ...filterValues(filter), ...after, limit }),
})
