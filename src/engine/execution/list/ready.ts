// Waiting or resumable executions, in claim order. An execution that an operator, a paused lane or a missing capability holds back
// is waiting too, but has no ready row. It is read from the parked rows, and comes at its place in the order.
import { statement } from '../../../sql/statement.ts'
import { filteredOrder } from '../../kernel/list-source.ts'
import { ascending, from } from '../../kernel/page.ts'
import { executionColumns, executionJoins, executionRow } from '../snapshot.ts'
import { pageOverQueues, type QueueOrder } from './over-queues.ts'
import { queueParams, queueValues, source } from './source.ts'

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

function readyList(name: string, listStatement: typeof listWaiting) {
  const key = { neg_priority: from(beforeAllPriorities), rank: ascending.int, execution_id: ascending.uuid }
  const byKey = filteredOrder(name, key)
  return source({
    order(filter) {
      const order = byKey(filter)
      return { ...order, encode: (last) => order.encode({ ...last, neg_priority: -last.priority }) }
    },
    read(sql, filter, after, limit) {
      // The engine does not trust a cursor: an impossible priority counts as the nearest possible one.
      const neg_priority = Math.max(beforeAllPriorities, Math.min(0, after.neg_priority))
      return sql.query(listStatement, { ...queueValues(filter), ...after, neg_priority, limit })
    },
  })
}

export const waiting = readyList('executions waiting', listWaiting)
export const resumable = readyList('executions resumable', listResumable)
