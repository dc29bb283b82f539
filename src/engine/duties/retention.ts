// Endings that are older than they are kept: the execution goes, with every row that belongs to it. Its events stay in the
// log, which has a retention of its own.
//
// It stays while something may still ask for it: its parent has not ended, it owes others a dispatch, or its idempotency
// key lives, because a repeat of the create must find it. A member of a flow stays as long as the flow, which goes first
// (`flow-retention.ts`).
import { call, type Sql } from '../../sql/sql.ts'
import { statement, type ValuesOf } from '../../sql/statement.ts'
import { candidates, inScope, lockedExecutions, dutyParams, takenUpCall } from '../kernel/candidate.ts'
import type { Duty } from '../kernel/duty.ts'
import { noEffects } from '../kernel/effects.ts'
import { deletesFor, keyScopes, type PastExecution } from './delete-executions.ts'
import { retireFlows } from './flow-retention.ts'
import { scopeOf } from '../kernel/scope.ts'
import { runDuty, type DutySet, type DutySteps } from '../kernel/run-duty.ts'

const name = 'retention'
const intervalMs = 60_000

const params = { ...dutyParams, kept_for_ms: 'int8' } as const

// Scalar subqueries, so that each is looked up row by row; the key too, because a join may take an index of which it uses
// only the namespace (measured on tables that were never analysed: 25 s for a thousand, against 0.1 s).
const isPast = `e.terminal_at_ms < flowfabric.ff_now_ms() - $6
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

// Queue by queue and ending by ending, each the oldest first, in the order of the index that the lists have; one over all
// of them would cost every ending. So the limit is met after as many rows, however many queues there are.
const due = `
select past.execution_id, past.seen_xmin
from flowfabric.ff_queue q
cross join unnest(enum_range(null::flowfabric.ff_terminal_outcome)) as o (terminal_outcome)
cross join lateral (
  select e.execution_id, e.xmin as seen_xmin
  from flowfabric.ff_exec_core e
  where e.queue_id = q.queue_id and e.terminal_outcome = o.terminal_outcome
    and ${isPast}
    and ${inScope(name)}
  order by e.terminal_at_ms, e.execution_id
  limit $1
) past
where $2::text is null or q.namespace = $2
limit $1`

const look = statement({
  name: `duty.${name}.due`,
  params,
  row: { execution_id: 'uuid' },
  text: `select execution_id from (${due}) due`,
})

// Everything that belongs to an execution is written under its lock, so the statements after this one see all of it. A replay
// that waits for the lock then finds nothing; an execution that was replayed first is not past any more.
const lock = statement({
  name: `duty.${name}`,
  params,
  row: {
    seen: 'int8',
    execution_id: 'uuid?',
    partition_key: 'int2?',
    namespace: 'text?',
    flow_id: 'uuid?',
    parent_id: 'uuid?',
    schedule_id: 'uuid?',
    idempotency_key: 'text?',
  },
  text: `
with ${candidates(due)},
${lockedExecutions},
past as materialized (
  select e.execution_id, e.partition_key, e.namespace, e.flow_id, e.parent_id, e.schedule_id, n.idempotency_key
  from looked e
  join flowfabric.ff_exec_input n on n.partition_key = any (array[e.partition_key]) and n.execution_id = any (array[e.execution_id])
  where ${isPast}
)
select c.seen, p.*
from (select count(*) as seen from candidate) c
left join past p on true`,
})

async function retire(sql: Sql, values: ValuesOf<typeof params>): Promise<DutySet> {
  let [seen, processed] = [0, 0]
  await sql.decide([call(lock, values)], ([rows]) => {
    const past = rows.filter((row): row is typeof row & PastExecution => row.execution_id !== null)
    seen = rows[0]?.seen ?? 0
    processed = past.length
    const cleared = takenUpCall(
      name,
      past.map((row) => row.execution_id),
    )
    return past.length === 0 ? [cleared] : [...deletesFor(past), cleared]
  })
  return { seen, processed, effects: noEffects }
}

export function retention(keptForMs: number): Duty {
  return {
    name,
    intervalMs,
    async runOnce(sql, options = {}) {
      const flows = await retireFlows(sql, scopeOf(options), keptForMs)
      const steps: DutySteps = {
        act: (scope, only) => retire(sql, { ...scope, only, kept_for_ms: keptForMs }),
        look: (scope) => sql.query(look, { ...scope, only: [], kept_for_ms: keptForMs }),
      }
      const executions = await runDuty(sql, name, steps, options)
      return {
        ...executions,
        processed: executions.processed + flows.processed,
        isFull: executions.isFull || flows.isFull,
      }
    },
  }
}
