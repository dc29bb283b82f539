// Executions with one ending, the latest first.
import type { PublicState, TerminalOutcome } from '../../../model/state.ts'
import { statement } from '../../../sql/statement.ts'
import { filteredOrder } from '../../kernel/list-source.ts'
import { descending } from '../../kernel/page.ts'
import { executionColumns, executionJoins, executionRow } from '../snapshot.ts'
import { pageOverQueues } from './over-queues.ts'
import { queueParams, queueValues, source } from './source.ts'

const page = pageOverQueues({
  from: 'flowfabric.ff_exec_core d',
  alias: 'd',
  condition: 'd.terminal_outcome = $7::flowfabric.ff_terminal_outcome and d.terminal_at_ms is not null',
  columns: ['terminal_at_ms', 'execution_id'],
  descending: true,
  after: ['$5', '$6'],
  end: ['-1', `'00000000-0000-0000-0000-000000000000'`],
})

const listStatement = statement({
  name: 'execution.list.ended',
  params: { ...queueParams, limit: 'int8', terminal_at_ms: 'int8', execution_id: 'uuid', outcome: 'text' },
  row: executionRow,
  text: `${page}
select ${executionColumns}
from page
join flowfabric.ff_exec_core e on e.execution_id = any (array[page.execution_id])
${executionJoins}
order by e.terminal_at_ms desc, e.execution_id desc`,
})

const outcomeOfState: Partial<Record<PublicState, TerminalOutcome>> = {
  completed: 'success',
  failed: 'failed',
  cancelled: 'cancelled',
  expired: 'expired',
  skipped: 'skipped',
}

const order = filteredOrder('executions ended', { terminal_at_ms: descending.int, execution_id: descending.uuid })

export const ended = source({
  order,
  read: (sql, filter, after, limit) =>
    sql.query(listStatement, { ...queueValues(filter), outcome: outcomeOfState[filter.state!]!, ...after, limit }),
})
