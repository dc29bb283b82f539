// Delayed: those that are due first come first.
import { statement } from '../../../sql/statement.ts'
import { executionColumns, executionJoins, executionRow } from '../snapshot.ts'
import { pageOverQueues } from './over-queues.ts'
import { firstTime, firstUuid, queueParams, queueValues, type ListSource } from './source.ts'

const page = pageOverQueues({
  from: 'flowfabric.ff_exec_core d',
  alias: 'd',
  condition: 'd.delay_until_ms is not null',
  columns: ['delay_until_ms', 'execution_id'],
  descending: false,
  after: ['$5', '$6'],
  end: ['9223372036854775807', `'ffffffff-ffff-ffff-ffff-ffffffffffff'`],
})

const listStatement = statement({
  name: 'execution.list.delayed',
  params: { ...queueParams, limit: 'int8', delay_until_ms: 'int8', execution_id: 'uuid' },
  row: executionRow,
  text: `${page}
select ${executionColumns}
from page
join flowfabric.ff_exec_core e on e.execution_id = any (array[page.execution_id])
${executionJoins}
order by e.delay_until_ms, e.execution_id`,
})

export const delayed: ListSource = {
  name: 'executions delayed',
  shape: ['int', 'uuid'],
  start: [firstTime, firstUuid],
  keyOf: (row) => [row.delay_until_ms!, row.execution_id],
  read: (sql, filter, [until, id], limit) =>
    sql.query(listStatement, {
      ...queueValues(filter),
      limit,
      delay_until_ms: until as number,
      execution_id: id as string,
    }),
}
