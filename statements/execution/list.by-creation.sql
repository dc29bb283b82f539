-- Made by `npm run sql`; do not edit.
-- execution.list.by-creation
-- src/engine/execution/list/by-creation.ts: listStatement
-- 47 lines, 1 CTE
--
-- parameters:
--   $1 created_at_ms int8
--   $2 execution_id uuid
--   $3 limit int8
-- columns:
--   execution_id uuid
--   partition_key int2
--   namespace text
--   lane_id text
--   execution_kind text
--   task_version text or null
--   public_state text
--   lifecycle_phase text
--   ownership_state text
--   eligibility_state text
--   attempt_state text
--   terminal_outcome text
--   interruption text
--   priority int2
--   rank int8
--   creator_identity text
--   required_capabilities text[]
--   tags jsonb
--   policy jsonb or null
--   idempotency_key text or null
--   flow_id uuid or null
--   parent_id uuid or null
--   generation int4
--   created_at_ms int8
--   last_mutation_at_ms int8
--   started_at_ms int8 or null
--   terminal_at_ms int8 or null
--   delay_until_ms int8 or null
--   parked_at_ms int8 or null
--   deadline_at_ms int8 or null
--   cancel_requested_at_ms int8 or null
--   pending_outcome text
--   compensation text
--   attempt_index int4
--   total_attempt_count int4
--   retry_count int4
--   replay_count int4
--   lease_reclaim_count int4
--   consecutive_expiry_count int4
--   failure_reason text or null
--   cancellation_reason text or null
--   cancelled_by text or null
--   lease_id uuid or null
--   lease_epoch int8 or null
--   worker_id text or null
--   worker_instance_id text or null
--   acquired_at_ms int8 or null
--   expires_at_ms int8 or null
--   renewed_at_ms int8 or null
--   progress_percent int2 or null
--   progress_message text or null
--   progress_at_ms int8 or null
--   suspension_id uuid or null
--   suspension_reason text
--   suspended_at_ms int8 or null
--   timeout_at_ms int8 or null
--   timeout_behaviour text
--   escalated_at_ms int8 or null
--   condition_kind text

with page as materialized (
  select i.execution_id
  from flowfabric.ff_exec_input i
  where (i.created_at_ms, i.execution_id) < ($1, $2)
  order by i.created_at_ms desc, i.execution_id desc
  limit $3
)
select
  -- from src/engine/execution/snapshot.ts: executionColumns
  e.execution_id, e.partition_key, e.namespace, q.lane_id, q.execution_kind, e.task_version, e.public_state,
  e.lifecycle_phase, e.ownership_state, e.eligibility_state, e.attempt_state, e.terminal_outcome, e.interruption,
  e.priority, e.rank, n.creator_identity, q.required_capabilities, coalesce(t.tags, '{}') as tags, n.policy,
  n.idempotency_key, e.flow_id, e.parent_id, e.generation, e.created_at_ms, e.last_mutation_at_ms, e.started_at_ms,
  e.terminal_at_ms, e.delay_until_ms, e.parked_at_ms, e.deadline_at_ms, e.cancel_requested_at_ms, e.attempt_index,
  e.total_attempt_count, e.retry_count, e.replay_count, e.lease_reclaim_count, e.consecutive_expiry_count, e.failure_reason,
  e.cancellation_reason, e.cancelled_by, l.lease_id, l.lease_epoch, l.worker_id, l.worker_instance_id, l.acquired_at_ms, l.expires_at_ms,
  l.renewed_at_ms, p.percent as progress_percent, p.message as progress_message, p.updated_at_ms as progress_at_ms,
  -- from src/engine/waiting/suspension/suspension.ts: suspensionColumns
  s.suspension_id, s.reason_code as suspension_reason, s.suspended_at_ms, s.timeout_at_ms,
  case when s.escalated_at_ms is not null then coalesce(s.second_behavior, s.timeout_behavior) else s.timeout_behavior end
  as timeout_behaviour, s.escalated_at_ms, s.condition ->> 'kind' as condition_kind,
  -- end of suspensionColumns
  case when e.lifecycle_phase <> 'terminal' and e.cancel_requested_at_ms is not null
      then coalesce(e.stop_outcome, 'cancelled'::flowfabric.ff_terminal_outcome) end as pending_outcome,
  case when not e.attached & 24576 /* compensation | onFailure */ <> 0 or e.terminal_outcome = 'success' then 'none'
    -- The hook is not for a cancel.
    when e.terminal_outcome = 'cancelled' and not e.attached & 8192 /* compensation */ <> 0 then 'none'
    when e.lifecycle_phase <> 'terminal'
      and (e.cancel_requested_at_ms is null or (e.cancel_requested_at_ms is not null and e.attached & 8192 /* compensation */ = 0
        and (e.stop_outcome is null or e.attached & 16384 /* onFailure */ = 0))) then 'registered'
    when e.lifecycle_phase <> 'terminal' then 'running'
    when exists (
      select
      from flowfabric.ff_step c
      where c.execution_id = any (array[e.execution_id]) and c.generation = e.generation and c.kind in ('compensation', 'hook')
        and c.state <> 'succeeded') then 'unfinished'
    else 'finished' end as compensation
  -- end of executionColumns
from page
join flowfabric.ff_exec_core e on e.execution_id = any (array[page.execution_id])
-- from src/engine/execution/snapshot.ts: executionJoins
join flowfabric.ff_exec_input n on n.partition_key = any (array[e.partition_key]) and n.execution_id = any (array[e.execution_id])
join flowfabric.ff_queue q on q.queue_id = e.queue_id
left join flowfabric.ff_lease l on l.execution_id = any (array[e.execution_id])
left join flowfabric.ff_progress p on p.execution_id = any (array[e.execution_id])
left join flowfabric.ff_suspension_current s
  on s.execution_id = any (array[case when e.lifecycle_phase = 'suspended' then e.execution_id end])
left join lateral (
  select jsonb_object_agg(g.tag_key, g.tag_value) as tags
  from flowfabric.ff_exec_tag g
  where g.execution_id = any (array[e.execution_id])
) t on true
-- end of executionJoins
order by e.created_at_ms desc, e.execution_id desc
