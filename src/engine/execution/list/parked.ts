// Suspended, blocked or rate-limited executions, the longest parked first.
import { statement } from '../../../sql/statement.ts'
import { filteredOrder } from '../../kernel/list-source.ts'
import { ascending } from '../../kernel/page.ts'
import { executionColumns, executionJoins, executionRow } from '../snapshot.ts'
import { pageOverQueues } from './over-queues.ts'
import { queueParams, queueValues, source } from './source.ts'

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

const order = filteredOrder('executions parked', { parked_at_ms: ascending.int, execution_id: ascending.uuid })

export const parked = source({
  order,
  read: (sql, filter, after, limit) =>
    sql.query(listStatement, { ...queueValues(filter), state: filter.state!, ...after, limit }),
})
