// In the order of ids, those whose uuid begins with the given characters.
import { statement } from '../../../sql/statement.ts'
import { executionColumns, executionJoins, executionRow } from '../snapshot.ts'
import { filterCondition, filterParams, filterValues, firstUuid, type ListSource } from './source.ts'

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

export const byIdPrefix: ListSource = {
  name: 'executions by id prefix',
  shape: ['uuid'],
  start: [firstUuid],
  keyOf: (row) => [row.execution_id],
  read: (sql, filter, [id], limit) =>
    sql.query(listStatement, {
      ...filterValues(filter),
      first_id: filter.idPrefix!.first,
      last_id: filter.idPrefix!.last,
      execution_id: id as string,
      limit,
    }),
}
