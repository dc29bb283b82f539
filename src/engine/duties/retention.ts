// Endings that are older than the retention: the execution is deleted, with all its rows. Its events stay in the log, which
// has a retention of its own.
//
// It stays while it may still be read: its parent has not ended, it has pending dispatch, or its idempotency key is valid,
// because a repeat of the create must find it. A member of a flow stays as long as the flow, which is deleted first
// (`flow-retention.ts`).
import { call, type Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { inDutyScope, releaseCall, withForgotten } from '../kernel/due.ts'
import type { Duty } from '../kernel/duty.ts'
import { noEffects } from '../kernel/effects.ts'
import { runDuty, type DutySet } from '../kernel/run-duty.ts'
import { scopeOf, scopeParams, type DutyScope } from '../kernel/scope.ts'
import { lockSetCall } from '../transition/lock-set.ts'
import { deletesFor, keyScopes, type PastExecution } from './delete-executions.ts'
import { retireFlows } from './flow-retention.ts'

const name = 'retention'
const intervalMs = 60_000

// Scalar subqueries, so that each is read row by row; the key too, because a join may take an index of which it uses
// only the namespace (measured on tables that were never analysed: 25 s for a thousand, against 0.1 s).
function isPast(keptForMs: string): string {
  return `e.terminal_at_ms < flowfabric.ff_now_ms() - ${keptForMs}
    and (select f.flow_id from flowfabric.ff_flow_core f where f.flow_id = e.flow_id) is null
    and (select p.lifecycle_phase = 'terminal' from flowfabric.ff_exec_core p where p.execution_id = e.parent_id)
      is not false
    and (select d.generation from flowfabric.ff_dispatch d where d.execution_id = e.execution_id limit 1) is null
    and (
      select max(k.expires_at_ms)
      from flowfabric.ff_idempotency_key k
      where k.namespace = any (array[e.namespace]) and k.scope_id = any (${keyScopes}) and k.execution_id = e.execution_id
        and k.idempotency_key = any (array(
          select n.idempotency_key
          from flowfabric.ff_exec_input n
          where n.partition_key = any (array[e.partition_key]) and n.execution_id = any (array[e.execution_id])))
    ) > flowfabric.ff_now_ms() is not true`
}

// Queue by queue and ending by ending, each the oldest first, in the order of the index that the lists have; one over all
// of them would cost every ending. So the limit is reached after as many rows, with any number of queues.
const due = statement({
  name: `duty.${name}.due`,
  params: { ...scopeParams, kept_for_ms: 'int8' },
  row: { id: 'uuid' },
  text: `${withForgotten(name)}
select past.id
from flowfabric.ff_queue q
cross join unnest(enum_range(null::flowfabric.ff_terminal_outcome)) as o (terminal_outcome)
cross join lateral (
  select e.execution_id as id
  from flowfabric.ff_exec_core e
  where e.queue_id = q.queue_id and e.terminal_outcome = o.terminal_outcome
    and ${isPast('$5')}
    and ${inDutyScope(name)}
  order by e.terminal_at_ms, e.execution_id
  limit $1
) past
where $2::text is null or q.namespace = $2
limit $1`,
})

// Everything that belongs to an execution is written under its lock, so this read after the lock sees all of it. A replay
// that waits for the lock then finds nothing. An execution that was replayed before the lock is not past any more.
const read = statement({
  name: `duty.${name}.read`,
  params: { execution_ids: 'uuid[]', kept_for_ms: 'int8' },
  row: {
    execution_id: 'uuid',
    partition_key: 'int2',
    namespace: 'text',
    flow_id: 'uuid?',
    parent_id: 'uuid?',
    schedule_id: 'uuid?',
    idempotency_key: 'text?',
  },
  text: `
select e.execution_id, e.partition_key, e.namespace, e.flow_id, e.parent_id, e.schedule_id, n.idempotency_key
from unnest($1::uuid[]) as i (execution_id)
join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
join flowfabric.ff_exec_input n on n.partition_key = any (array[e.partition_key]) and n.execution_id = any (array[e.execution_id])
where ${isPast('$2')}`,
})

export function retention(keptForMs: number): Duty {
  const parts = {
    name,
    due: async (sql: Sql, scope: DutyScope) => {
      const rows = await sql.query(due, { ...scope, kept_for_ms: keptForMs })
      return rows.map((row) => row.id)
    },
    act: (sql: Sql, uuids: readonly string[]) => retire(sql, uuids, keptForMs),
  }
  return {
    name,
    intervalMs,
    async runOnce(sql, options = {}) {
      const flows = await retireFlows(sql, scopeOf(options), keptForMs)
      const executions = await runDuty(sql, parts, options)
      return {
        ...executions,
        processed: executions.processed + flows.processed,
        isFull: executions.isFull || flows.isFull,
      }
    },
  }
}

async function retire(sql: Sql, uuids: readonly string[], keptForMs: number): Promise<DutySet> {
  let processed = 0
  const reads = [lockSetCall(uuids), call(read, { execution_ids: uuids, kept_for_ms: keptForMs })] as const
  await sql.decide(reads, ([locked, rows]) => {
    const isLocked = new Set(locked.map((row) => row.execution_id))
    const past: readonly PastExecution[] = rows.filter((row) => isLocked.has(row.execution_id))
    processed = past.length
    const released = releaseCall(
      name,
      past.map((row) => row.execution_id),
    )
    return past.length === 0 ? [released] : [...deletesFor(past), released]
  })
  return { seen: uuids.length, processed, effects: noEffects }
}
