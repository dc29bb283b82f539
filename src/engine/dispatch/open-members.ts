/**
 * Follows `target`, locked executions with an `act` and their place, and `clock`. Those to `unblock` go into their queue, or are
 * delayed as long as they were to be; those to `start` stand for a flow, and stay blocked until that has ended. Gives `opened`
 * and `readied`.
 */
export function openMembers(actor: string): string {
  return `
opening as (
  select t.target_row, t.act, k.now_ms, case when n.delay_until_ms > k.now_ms and t.act = 'unblock' then n.delay_until_ms end as due_ms
  from target t
  cross join clock k
  join flowfabric.ff_exec_input n on n.partition_key = any (array[t.partition_key]) and n.execution_id = any (array[t.execution_id])
  where t.act in ('start', 'unblock')
),
opened as (
  update flowfabric.ff_exec_core e
  set eligibility_state = case
      when o.act = 'start' then e.eligibility_state
      when o.due_ms is not null then 'not_eligible_until_time'
      else 'eligible_now'
    end,
    delay_until_ms = o.due_ms,
    parked_at_ms = case when o.act = 'start' then e.parked_at_ms end,
    parked_state = case when o.act = 'start' then e.parked_state end,
    started_at_ms = case when o.act = 'start' then o.now_ms else e.started_at_ms end,
    last_mutation_at_ms = greatest(o.now_ms, e.last_mutation_at_ms)
  from opening o
  where e.ctid = o.target_row
  returning e.execution_id, e.partition_key, e.namespace, e.flow_id, e.generation, e.queue_id, e.priority, e.rank,
    e.eligibility_state, e.last_mutation_at_ms, o.act, o.due_ms - o.now_ms as delay_ms
),
readied as (
  insert into flowfabric.ff_ready (queue_id, neg_priority, resumed, rank, execution_id)
  select queue_id, -priority, false, rank, execution_id
  from opened
  where eligibility_state = 'eligible_now'
  returning queue_id
),
opened_event as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key, namespace,
    actor)
  select last_mutation_at_ms, execution_id, flow_id, generation, 'unblocked', partition_key, namespace, '${actor}'
  from opened
)`
}

/** Follows `opened`: what is owed to the flows for which those that were to `start` stand. */
export const oweStarts = `
started as (
  insert into flowfabric.ff_dispatch (execution_id, generation, flow_id, created_at_ms, outcome)
  select execution_id, generation, flow_id, last_mutation_at_ms, 'none'
  from opened
  where act = 'start'
  returning execution_id
)`

/** Follows `flow_after`: what ended in these flows before they began, and has told nobody. */
export const oweEndedAhead = `
ended_ahead as (
  insert into flowfabric.ff_dispatch (execution_id, generation, flow_id, created_at_ms, outcome, is_counted)
  select e.execution_id, e.generation, e.flow_id, a.now_ms, e.terminal_outcome, true
  from flow_after a
  cross join lateral (
    select e.execution_id, e.generation, e.flow_id, e.terminal_outcome
    from flowfabric.ff_flow_member m
    join flowfabric.ff_exec_core e on e.execution_id = any (array[m.execution_id])
    where m.flow_id = a.flow_id and e.lifecycle_phase = 'terminal'
    offset 0
  ) e
  where a.has_ended_ahead
  -- One that is in this set tells of itself.
  on conflict do nothing
  returning execution_id
)`
