// Endings that are older than they are kept: the execution goes, with every row that belongs to it. Its events stay in the
// log, which has a retention of its own.
//
// It stays while something may still ask for it: its parent has not ended, it owes others a dispatch, or its idempotency
// key lives, because a repeat of the create must find it. A member of a flow stays as long as the flow, which goes first
// (`flow-retention.ts`).
import { statement } from '../../sql/statement.ts'
import { candidates, inScope, lockedExecutions, dutyParams, dutyRow, dutyAnswer, takenUp } from '../kernel/candidate.ts'
import type { Duty } from '../kernel/duty.ts'
import { retireFlows } from './flow-retention.ts'
import { scopeOf } from '../kernel/scope.ts'
import { runDuty, type DutySteps } from '../kernel/run-duty.ts'

const name = 'retention'
const intervalMs = 60_000

const params = { ...dutyParams, kept_for_ms: 'int8' } as const

// Where the key of `ff_exec_core e` can be; the nil uuid stands for the namespace.
const keyScopes = `array['00000000-0000-0000-0000-000000000000', e.flow_id, e.parent_id, e.schedule_id]::uuid[]`

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

// Everything that belongs to an execution is written under its lock, so what this statement sees beside a row that has
// not changed since is all there is. A replay that waits for the lock then finds nothing; one that came first is passed
// over.
const retire = statement({
  name: `duty.${name}`,
  params,
  row: dutyRow,
  text: `
with ${candidates(due)},
${lockedExecutions},
past as materialized (
  select e.execution_id, e.partition_key, e.namespace, e.flow_id, n.idempotency_key, ${keyScopes} as key_scopes
  from looked e
  join flowfabric.ff_exec_input n on n.partition_key = any (array[e.partition_key]) and n.execution_id = any (array[e.execution_id])
  where ${isPast}
),
core as (
  delete from flowfabric.ff_exec_core e
  using past p
  where e.execution_id = any (array[p.execution_id])
),
cold as (
  delete from flowfabric.ff_exec_input n
  using past p
  where n.partition_key = any (array[p.partition_key]) and n.execution_id = any (array[p.execution_id])
),
result as (
  delete from flowfabric.ff_exec_result r
  using past p
  where r.execution_id = any (array[p.execution_id])
),
tag as (
  delete from flowfabric.ff_exec_tag t
  using past p
  where t.execution_id = any (array[p.execution_id])
),
attempt as (
  delete from flowfabric.ff_attempt a
  using past p
  where a.execution_id = any (array[p.execution_id])
),
progress as (
  delete from flowfabric.ff_progress g
  using past p
  where g.execution_id = any (array[p.execution_id])
),
request as (
  delete from flowfabric.ff_request r
  using past p
  where r.execution_id = any (array[p.execution_id])
),
grants as (
  delete from flowfabric.ff_grant g
  using past p
  where g.execution_id = any (array[p.execution_id])
),
step as (
  delete from flowfabric.ff_step s
  using past p
  where s.execution_id = any (array[p.execution_id])
),
suspension as (
  delete from flowfabric.ff_suspension_current s
  using past p
  where s.execution_id = any (array[p.execution_id])
),
waitpoint as (
  delete from flowfabric.ff_waitpoint_pending w
  using past p
  where w.execution_id = any (array[p.execution_id])
),
signal as (
  delete from flowfabric.ff_signal g
  using past p
  where g.execution_id = any (array[p.execution_id])
),
member as (
  delete from flowfabric.ff_flow_member m
  using past p
  where m.flow_id = any (array[p.flow_id]) and m.execution_id = any (array[p.execution_id])
),
inbound as (
  delete from flowfabric.ff_edge x
  using past p
  where p.flow_id is not null and x.downstream_id = any (array[p.execution_id])
),
outbound as (
  delete from flowfabric.ff_edge x
  using past p
  where p.flow_id is not null and x.upstream_id = any (array[p.execution_id])
),
edge_group as (
  delete from flowfabric.ff_edge_group g
  using past p
  where p.flow_id is not null and g.downstream_id = any (array[p.execution_id])
),
cancel as (
  delete from flowfabric.ff_cancel_backlog b
  using past p
  where b.execution_id = any (array[p.execution_id])
),
key as (
  delete from flowfabric.ff_idempotency_key k
  using past p
  where k.namespace = any (array[p.namespace]) and k.scope_id = any (p.key_scopes)
    and k.idempotency_key = any (array[p.idempotency_key])
    and k.execution_id = p.execution_id
),
${takenUp(name, 'past')}
${dutyAnswer('past')}`,
})

export function retention(keptForMs: number): Duty {
  return {
    name,
    intervalMs,
    async runOnce(sql, options = {}) {
      const flows = await retireFlows(sql, scopeOf(options), keptForMs)
      const steps: DutySteps = {
        act: (scope, only) => sql.query(retire, { ...scope, only, kept_for_ms: keptForMs }),
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
