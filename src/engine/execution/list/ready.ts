// Waiting or resumable, in claim order. What an operator, a paused lane or a missing capability holds back waits too, but
// is not ready: it comes from where it is parked, in its place.
import { statement } from '../../../sql/statement.ts'
import { executionColumns, executionJoins, executionRow } from '../snapshot.ts'
import { pageOverQueues, type QueueOrder } from './over-queues.ts'
import { firstTime, firstUuid, queueParams, queueValues, type ListSource } from './source.ts'

const order: Omit<QueueOrder, 'condition'> = {
  from: 'flowfabric.ff_ready r',
  alias: 'r',
  columns: ['neg_priority', 'rank', 'execution_id'],
  descending: false,
  after: ['$5', '$6', '$7'],
  end: ['32767', '9223372036854775807', `'ffffffff-ffff-ffff-ffff-ffffffffffff'`],
}

const params = { ...queueParams, limit: 'int8', neg_priority: 'int2', rank: 'int8', execution_id: 'uuid' } as const

const listWaiting = statement({
  name: 'execution.list.waiting',
  params,
  row: executionRow,
  text: `${pageOverQueues({ ...order, condition: 'not r.resumed' })},
held_back as materialized (
  select -d.priority as neg_priority, d.rank, d.execution_id
  from queue
  join flowfabric.ff_exec_core d
    on d.queue_id = queue.queue_id and d.parked_at_ms is not null and d.parked_state = 'waiting'
  where (-d.priority, d.rank, d.execution_id) > ($5, $6, $7)
  order by -d.priority, d.rank, d.execution_id
  limit $4
)
select ${executionColumns}
from (
  select * from page
  union all
  select * from held_back
  order by neg_priority, rank, execution_id
  limit $4
) both_parts
join flowfabric.ff_exec_core e on e.execution_id = any (array[both_parts.execution_id])
${executionJoins}
order by -e.priority, e.rank, e.execution_id`,
})

const listResumable = statement({
  name: 'execution.list.resumable',
  params,
  row: executionRow,
  text: `${pageOverQueues({ ...order, condition: 'r.resumed' })}
select ${executionColumns}
from page
join flowfabric.ff_exec_core e on e.execution_id = any (array[page.execution_id])
${executionJoins}
order by -e.priority, e.rank, e.execution_id`,
})

const beforeAllPriorities = -32_768

function readyList(name: string, listStatement: typeof listWaiting): ListSource {
  return {
    name,
    shape: ['int', 'int', 'uuid'],
    start: [beforeAllPriorities, firstTime, firstUuid],
    keyOf: (row) => [-row.priority, row.rank, row.execution_id],
    read: (sql, filter, [priority, rank, id], limit) =>
      sql.query(listStatement, {
        ...queueValues(filter),
        limit,
        // A cursor is no proof: one that names an impossible priority begins where its range does.
        neg_priority: Math.max(beforeAllPriorities, Math.min(0, priority as number)),
        rank: rank as number,
        execution_id: id as string,
      }),
  }
}

export const waiting = readyList('executions waiting', listWaiting)
export const resumable = readyList('executions resumable', listResumable)
