// Newest first within a namespace, lane or kind.
import { statement } from '../../../sql/statement.ts'
import { executionColumns, executionJoins, executionRow } from '../snapshot.ts'
import { pageOverQueues } from './over-queues.ts'
import { lastTime, lastUuid, queueParams, queueValues, type ListSource } from './source.ts'

const page = pageOverQueues({
  from: 'flowfabric.ff_exec_input i',
  alias: 'i',
  condition: 'true',
  columns: ['created_at_ms', 'execution_id'],
  descending: true,
  after: ['$5', '$6'],
  end: ['-1', `'00000000-0000-0000-0000-000000000000'`],
})

const listStatement = statement({
  name: 'execution.list.by-queue',
  params: { ...queueParams, limit: 'int8', created_at_ms: 'int8', execution_id: 'uuid' },
  row: executionRow,
  text: `${page}
select ${executionColumns}
from page
join flowfabric.ff_exec_core e on e.execution_id = any (array[page.execution_id])
${executionJoins}
order by e.created_at_ms desc, e.execution_id desc`,
})

export const byQueue: ListSource = {
  name: 'executions by queue',
  shape: ['int', 'uuid'],
  start: [lastTime, lastUuid],
  keyOf: (row) => [row.created_at_ms, row.execution_id],
  read: (sql, filter, [created, id], limit) =>
    sql.query(listStatement, {
      ...queueValues(filter),
      limit,
      created_at_ms: created as number,
      execution_id: id as string,
    }),
}
