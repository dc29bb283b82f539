-- Made by `npm run sql`; do not edit.
-- suspension.describe
-- src/engine/waiting/suspension/describe.ts: describeStatement
-- 9 lines, 0 CTEs
--
-- parameters:
--   $1 execution_id uuid
--   $2 partition_key int2
--   $3 namespace text or null
-- columns:
--   suspension_id uuid or null
--   suspension_reason text
--   suspended_at_ms int8 or null
--   timeout_at_ms int8 or null
--   timeout_behaviour text
--   escalated_at_ms int8 or null
--   condition_kind text
--   execution_id uuid
--   partition_key int2
--   attempt_index int4
--   condition jsonb
--   requested_by text
--   idempotency_key text or null
--   resume_delay_ms int8 or null
--   wake_at_ms int8 or null
--   closed_at_ms int8 or null
--   close_reason text or null
--   outcome jsonb or null

select
  -- from src/engine/waiting/suspension/suspension.ts: suspensionColumns
  s.suspension_id, s.reason_code as suspension_reason, s.suspended_at_ms, s.timeout_at_ms,
  case when s.escalated_at_ms is not null then coalesce(s.second_behavior, s.timeout_behavior) else s.timeout_behavior end
  as timeout_behaviour, s.escalated_at_ms, s.condition ->> 'kind' as condition_kind, s.execution_id, s.partition_key, s.attempt_index,
  s.condition, s.requested_by,
  -- end of suspensionColumns
  s.idempotency_key, s.resume_delay_ms, s.wake_at_ms, s.closed_at_ms, s.close_reason, s.outcome
from flowfabric.ff_exec_core e
join flowfabric.ff_suspension_current s on s.execution_id = any (array[e.execution_id])
where e.execution_id = $1 and e.partition_key = $2 and ($3::text is null or e.namespace = $3)
  and s.generation = e.generation
