// Delayed executions, the earliest due first.
import { statement } from '../../../sql/statement.ts'
import { filteredOrder } from '../../kernel/list-source.ts'
import { ascending } from '../../kernel/page.ts'
import { executionColumns, executionJoins, executionRow } from '../snapshot.ts'
import { pageOverQueues } from './over-queues.ts'
import { queueParams, queueValues, source } from './source.ts'

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

const order = filteredOrder('executions delayed', { delay_until_ms: ascending.int, execution_id: ascending.uuid })

export const delayed = source({
  order,
  read: (sql, filter, after, limit) => sql.query(listStatement, { ...queueValues(filter), ...after, limit }),
})
