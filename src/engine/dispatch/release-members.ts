// Members whose groups were satisfied: they enter their queue, or are delayed until their own delay is over. A member that
// represents a flow stays blocked until that flow has ended; the flow starts by a dispatch row of its own.
import { call } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { dispatchDuty } from './take-dispatches.ts'

const release = statement({
  name: 'dispatch.release',
  params: { execution_ids: 'uuid[]', now_ms: 'int8' },
  row: { ready_queue_ids: 'int4[]', shortest_delay_ms: 'int8?' },
  text: `
with releasing as materialized (
  select e.execution_id, case when n.delay_until_ms > $2 then n.delay_until_ms end as due_ms
  from unnest($1::uuid[]) as i (execution_id)
  join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
  join flowfabric.ff_exec_input n on n.partition_key = any (array[e.partition_key]) and n.execution_id = any (array[e.execution_id])
),
released as (
  update flowfabric.ff_exec_core e
  set eligibility_state = case when r.due_ms is not null then 'not_eligible_until_time'::flowfabric.ff_eligibility_state
      else 'eligible_now'::flowfabric.ff_eligibility_state end,
    delay_until_ms = r.due_ms,
    parked_at_ms = null,
    parked_state = null,
    last_mutation_at_ms = greatest($2, e.last_mutation_at_ms)
  from releasing r
  where e.execution_id = any (array[r.execution_id])
  returning e.execution_id, e.partition_key, e.namespace, e.flow_id, e.generation, e.queue_id, e.priority, e.rank,
    e.last_mutation_at_ms, r.due_ms
),
readied as (
  insert into flowfabric.ff_ready (queue_id, neg_priority, resumed, rank, execution_id)
  select queue_id, -priority, false, rank, execution_id
  from released
  where due_ms is null
  returning queue_id
),
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key, namespace, actor)
  select last_mutation_at_ms, execution_id, flow_id, generation, 'unblocked', partition_key, namespace, '${dispatchDuty}'
  from released
)
select coalesce((select array_agg(distinct queue_id) from readied), '{}'::int4[]) as ready_queue_ids,
  (select min(due_ms) - $2 from released) as shortest_delay_ms`,
})

export function releaseMembersCall(executionIds: readonly string[], now: number) {
  return call(release, { execution_ids: executionIds, now_ms: now })
}

const start = statement({
  name: 'dispatch.start-nested',
  params: { execution_ids: 'uuid[]', now_ms: 'int8' },
  row: {},
  text: `
with started as (
  update flowfabric.ff_exec_core e
  set started_at_ms = $2, delay_until_ms = null, last_mutation_at_ms = greatest($2, e.last_mutation_at_ms)
  from unnest($1::uuid[]) as i (execution_id)
  where e.execution_id = any (array[i.execution_id])
  returning e.execution_id, e.partition_key, e.namespace, e.flow_id, e.generation, e.last_mutation_at_ms
),
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key, namespace, actor)
  select last_mutation_at_ms, execution_id, flow_id, generation, 'unblocked', partition_key, namespace, '${dispatchDuty}'
  from started
)
insert into flowfabric.ff_dispatch (execution_id, generation, flow_id, created_at_ms, outcome)
select execution_id, generation, flow_id, last_mutation_at_ms, 'none'
from started`,
})

/** For members that represent flows. */
export function startNestedCall(executionIds: readonly string[], now: number) {
  return call(start, { execution_ids: executionIds, now_ms: now })
}

// A row that exists is resolved by itself.
const repeatEnded = statement({
  name: 'dispatch.repeat-ended',
  params: { flow_ids: 'uuid[]', now_ms: 'int8' },
  row: {},
  text: `
insert into flowfabric.ff_dispatch (execution_id, generation, flow_id, created_at_ms, outcome, is_counted)
select e.execution_id, e.generation, e.flow_id, $2, e.terminal_outcome, true
from unnest($1::uuid[]) as i (flow_id)
cross join lateral (
  select e.execution_id, e.generation, e.flow_id, e.terminal_outcome
  from flowfabric.ff_flow_member m
  join flowfabric.ff_exec_core e on e.execution_id = any (array[m.execution_id])
  where m.flow_id = i.flow_id and e.lifecycle_phase = 'terminal'
  offset 0
) e
on conflict do nothing`,
})

/** For flows that start: members that ended before resolve their edges from now on. */
export function repeatEndedCall(flowIds: readonly string[], now: number) {
  return call(repeatEnded, { flow_ids: flowIds, now_ms: now })
}
