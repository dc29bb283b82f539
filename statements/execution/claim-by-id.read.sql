-- Made by `npm run sql`; do not edit.
-- execution.claim-by-id.read
-- src/engine/execution/claim-by-id.ts: readStatement
-- 8 lines, 0 CTEs
--
-- parameters:
--   $1 execution_id uuid
--   $2 partition_key int2
--   $3 namespace text or null
--   $4 grant_id text
-- columns:
--   public_state text
--   is_eligible bool
--   is_this_grant bool
--   is_expired bool
--   needed_kind text
--   needed_version text
--   needed_capabilities text[]

select e.public_state, e.eligibility_state = 'eligible_now' as is_eligible,
  coalesce(g.grant_id::text = $4, false) as is_this_grant,
  coalesce(g.expires_at_ms <= flowfabric.ff_now_ms(), false) as is_expired, q.execution_kind as needed_kind,
  q.task_version as needed_version, q.required_capabilities as needed_capabilities
from flowfabric.ff_exec_core e
join flowfabric.ff_queue q on q.queue_id = any (array[e.queue_id])
left join flowfabric.ff_grant g on g.execution_id = any (array[e.execution_id])
where e.execution_id = $1 and e.partition_key = $2 and ($3::text is null or e.namespace = $3)
