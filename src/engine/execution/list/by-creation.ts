// All executions, newest first.
import { statement } from '../../../sql/statement.ts'
import { executionColumns, executionJoins, executionRow } from '../snapshot.ts'
import { newestFirst, source } from './source.ts'

const listStatement = statement({
  name: 'execution.list.by-creation',
  params: { created_at_ms: 'int8', execution_id: 'uuid', limit: 'int8' },
  row: executionRow,
  text: `
with page as materialized (
  select i.execution_id
  from flowfabric.ff_exec_input i
  where (i.created_at_ms, i.execution_id) < ($1, $2)
  order by i.created_at_ms desc, i.execution_id desc
  limit $3
)
select ${executionColumns}
from page
join flowfabric.ff_exec_core e on e.execution_id = any (array[page.execution_id])
${executionJoins}
order by e.created_at_ms desc, e.execution_id desc`,
})

export const byCreation = source({
  order: newestFirst('executions by creation'),
  read: (sql, _filter, after, limit) => sql.query(listStatement, { ...after, limit }),
})
