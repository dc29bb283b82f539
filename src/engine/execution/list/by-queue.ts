// The executions of a namespace, lane or kind, newest first.
import { statement } from '../../../sql/statement.ts'
import { executionColumns, executionJoins, executionRow } from '../snapshot.ts'
import { pageOverQueues } from './over-queues.ts'
import { newestFirst, queueParams, queueValues, source } from './source.ts'

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

export const byQueue = source({
  order: newestFirst('executions by queue'),
  read: (sql, filter, after, limit) => sql.query(listStatement, { ...queueValues(filter), ...after, limit }),
})
