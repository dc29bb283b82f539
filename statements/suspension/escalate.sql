-- Made by `npm run sql`; do not edit.
-- suspension.escalate
-- src/engine/waiting/suspension/escalate.ts: escalate
-- 20 lines, 2 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 escalated_ats_ms int8[]
--   $3 wake_ats_ms int8[] with nulls
--   $4 actor text
-- columns: none

with escalated_suspension as (
  update flowfabric.ff_suspension_current s
  set escalated_at_ms = i.escalated_at_ms, timeout_at_ms = i.escalated_at_ms + s.second_timeout_ms, wake_at_ms = i.wake_at_ms
  from unnest($1::uuid[], $2::int8[], $3::int8[]) as i (execution_id, escalated_at_ms, wake_at_ms)
  where s.execution_id = any (array[i.execution_id])
  returning s.execution_id, i.escalated_at_ms, s.timeout_at_ms as next_timeout_at_ms
),
escalated as (
  update flowfabric.ff_exec_core e
  set last_mutation_at_ms = greatest(d.escalated_at_ms, e.last_mutation_at_ms)
  from escalated_suspension d
  where e.execution_id = any (array[d.execution_id])
  returning e.execution_id, e.partition_key, e.namespace, e.flow_id, e.generation, e.attempt_index, e.last_mutation_at_ms,
    d.next_timeout_at_ms
)
insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key, namespace,
  actor, reason, attempt_index, details)
select last_mutation_at_ms, execution_id, flow_id, generation, 'escalated', partition_key, namespace, $4,
  'suspension_timeout_escalate', attempt_index, jsonb_strip_nulls(jsonb_build_object('nextTimeoutAt', next_timeout_at_ms))
from escalated
