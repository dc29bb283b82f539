// Executions with a uuid that begins with the given characters, in the order of ids.
import { statement } from '../../../sql/statement.ts'
import { executionColumns, executionJoins, executionRow } from '../snapshot.ts'
import { filteredOrder } from '../../kernel/list-source.ts'
import { ascending } from '../../kernel/page.ts'
import { filterCondition, filterParams, filterValues, source } from './source.ts'

const listStatement = statement({
  name: 'execution.list.by-id-prefix',
  params: { ...filterParams, first_id: 'uuid', last_id: 'uuid', execution_id: 'uuid', limit: 'int8' },
  row: executionRow,
  text: `
with page as materialized (
  select e.execution_id
  from flowfabric.ff_exec_core e
  join flowfabric.ff_queue q on q.queue_id = e.queue_id
  where e.execution_id >= $5 and e.execution_id <= $6 and e.execution_id > $7 and ${filterCondition}
  order by e.execution_id
  limit $8
)
select ${executionColumns}
from page
join flowfabric.ff_exec_core e on e.execution_id = any (array[page.execution_id])
${executionJoins}
order by page.execution_id`,
})

const order = filteredOrder('executions by id prefix', { execution_id: ascending.uuid })

export const byIdPrefix = source({
  order,
  read(sql, filter, after, limit) {
    const { first, last } = filter.idPrefix!
    return sql.query(listStatement, { ...filterValues(filter), first_id: first, last_id: last, ...after, limit })
  },
})
