// Suspended, blocked by dependencies or rate-limited: those that were parked first come first.
import { statement } from '../../../sql/statement.ts'
import { executionColumns, executionJoins, executionRow } from '../snapshot.ts'
import { pageOverQueues } from './over-queues.ts'
import { firstTime, firstUuid, queueParams, queueValues, type ListSource } from './source.ts'

const page = pageOverQueues({
  from: 'flowfabric.ff_exec_core d',
  alias: 'd',
  condition: 'd.parked_at_ms is not null and d.parked_state = $7::flowfabric.ff_public_state',
  columns: ['parked_at_ms', 'execution_id'],
  descending: false,
  after: ['$5', '$6'],
  end: ['9223372036854775807', `'ffffffff-ffff-ffff-ffff-ffffffffffff'`],
})

const listStatement = statement({
  name: 'execution.list.parked',
  params: { ...queueParams, limit: 'int8', parked_at_ms: 'int8', execution_id: 'uuid', state: 'text' },
  row: executionRow,
  text: `${page}
select ${executionColumns}
from page
join flowfabric.ff_exec_core e on e.execution_id = any (array[page.execution_id])
${executionJoins}
order by e.parked_at_ms, e.execution_id`,
})

export const parked: ListSource = {
  name: 'executions parked',
  shape: ['int', 'uuid'],
  start: [firstTime, firstUuid],
  keyOf: (row) => [row.parked_at_ms!, row.execution_id],
  read: (sql, filter, [since, id], limit) =>
    sql.query(listStatement, {
      ...queueValues(filter),
      limit,
      parked_at_ms: since as number,
      execution_id: id as string,
      state: filter.state!,
    }),
}
