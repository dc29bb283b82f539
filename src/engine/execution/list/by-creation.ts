// Newest first, over everything.
import { statement } from '../../../sql/statement.ts'
import { executionColumns, executionJoins, executionRow } from '../snapshot.ts'
import { lastTime, lastUuid, type ListSource } from './source.ts'

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

export const byCreation: ListSource = {
  name: 'executions by creation',
  shape: ['int', 'uuid'],
  start: [lastTime, lastUuid],
  keyOf: (row) => [row.created_at_ms, row.execution_id],
  read: (sql, _filter, [created, id], limit) =>
    sql.query(listStatement, { created_at_ms: created as number, execution_id: id as string, limit }),
}
