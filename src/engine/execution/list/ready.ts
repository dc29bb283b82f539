// Waiting or resumable: in claim order over the queues that the filter admits.
import { statement } from '../../../sql/statement.ts'
import { executionColumns, executionJoins, executionRow } from '../snapshot.ts'
import { filterParams, filterValues, firstTime, firstUuid, queueCondition, type ListSource } from './source.ts'

const listStatement = statement({
  name: 'execution.list.ready',
  params: { ...filterParams, neg_priority: 'int2', rank: 'int8', execution_id: 'uuid', limit: 'int8' },
  row: executionRow,
  text: `
with page as materialized (
  select next.execution_id
  from flowfabric.ff_queue q
  cross join lateral (
    select r.neg_priority, r.rank, r.execution_id
    from flowfabric.ff_ready r
    join flowfabric.ff_exec_core e on e.execution_id = r.execution_id
    where r.queue_id = q.queue_id and (r.neg_priority, r.rank, r.execution_id) > ($5::int2, $6, $7)
      and e.public_state = $4::flowfabric.ff_public_state
    order by r.neg_priority, r.rank, r.execution_id
    limit $8
  ) next
  where ${queueCondition}
  order by next.neg_priority, next.rank, next.execution_id
  limit $8
)
select ${executionColumns}
from page
join flowfabric.ff_exec_core e on e.execution_id = page.execution_id
${executionJoins}
order by -e.priority, e.rank, e.execution_id`,
})

const beforeAllPriorities = -32_768

export const ready: ListSource = {
  name: 'executions ready',
  shape: ['int', 'int', 'uuid'],
  start: [beforeAllPriorities, firstTime, firstUuid],
  keyOf: (row) => [-row.priority, row.rank, row.execution_id],
  read: (sql, filter, [priority, rank, id], limit) =>
    sql.query(listStatement, {
      ...filterValues(filter),
      neg_priority: priority as number,
      rank: rank as number,
      execution_id: id as string,
      limit,
    }),
}
