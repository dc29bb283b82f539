// One kind of ending: the latest first, over the queues that the filter admits.
import type { PublicState, TerminalOutcome } from '../../../model/state.ts'
import { statement } from '../../../sql/statement.ts'
import { executionColumns, executionJoins, executionRow } from '../snapshot.ts'
import { lastTime, lastUuid, queueCondition, type ListSource } from './source.ts'

const listStatement = statement({
  name: 'execution.list.ended',
  params: {
    namespace: 'text?',
    lane: 'text?',
    kind: 'text?',
    outcome: 'text',
    terminal_at_ms: 'int8',
    execution_id: 'uuid',
    limit: 'int8',
  },
  row: executionRow,
  text: `
with page as materialized (
  select latest.execution_id
  from flowfabric.ff_queue q
  cross join lateral (
    select e.terminal_at_ms, e.execution_id
    from flowfabric.ff_exec_core e
    where e.queue_id = q.queue_id and e.terminal_outcome = $4::flowfabric.ff_terminal_outcome
      and e.terminal_at_ms is not null and (e.terminal_at_ms, e.execution_id) < ($5, $6)
    order by e.terminal_at_ms desc, e.execution_id desc
    limit $7
  ) latest
  where ${queueCondition}
  order by latest.terminal_at_ms desc, latest.execution_id desc
  limit $7
)
select ${executionColumns}
from page
join flowfabric.ff_exec_core e on e.execution_id = page.execution_id
${executionJoins}
order by e.terminal_at_ms desc, e.execution_id desc`,
})

export const outcomeOfState: Partial<Record<PublicState, TerminalOutcome>> = {
  completed: 'success',
  failed: 'failed',
  cancelled: 'cancelled',
  expired: 'expired',
  skipped: 'skipped',
}

export const ended: ListSource = {
  name: 'executions ended',
  shape: ['int', 'uuid'],
  start: [lastTime, lastUuid],
  keyOf: (row) => [row.terminal_at_ms!, row.execution_id],
  read: (sql, filter, [endedAt, id], limit) =>
    sql.query(listStatement, {
      namespace: filter.namespace,
      lane: filter.lane,
      kind: filter.kind,
      outcome: outcomeOfState[filter.state!]!,
      terminal_at_ms: endedAt as number,
      execution_id: id as string,
      limit,
    }),
}
