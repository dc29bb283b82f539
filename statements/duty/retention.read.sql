-- Made by `npm run sql`; do not edit.
-- duty.retention.read
-- src/engine/duties/retention.ts: read
-- 20 lines, 0 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 kept_for_ms int8
-- columns:
--   execution_id uuid
--   partition_key int2
--   namespace text
--   flow_id uuid or null
--   parent_id uuid or null
--   schedule_id uuid or null
--   idempotency_key text or null

select e.execution_id, e.partition_key, e.namespace, e.flow_id, e.parent_id, e.schedule_id, n.idempotency_key
from unnest($1::uuid[]) as i (execution_id)
join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
join flowfabric.ff_exec_input n on n.partition_key = any (array[e.partition_key]) and n.execution_id = any (array[e.execution_id])
where e.terminal_at_ms < flowfabric.ff_now_ms() - $2
  and (select f.flow_id from flowfabric.ff_flow_core f where f.flow_id = e.flow_id) is null
  and (select p.lifecycle_phase = 'terminal' from flowfabric.ff_exec_core p where p.execution_id = e.parent_id)
  is not false
  and (select d.generation from flowfabric.ff_dispatch d where d.execution_id = e.execution_id limit 1) is null
  and (
    select max(k.expires_at_ms)
    from flowfabric.ff_idempotency_key k
    where k.namespace = any (array[e.namespace])
      and k.scope_id = any (array['00000000-0000-0000-0000-000000000000', e.flow_id, e.parent_id, e.schedule_id]::uuid[])
      and k.execution_id = e.execution_id
      and k.idempotency_key = any (array(
        select n.idempotency_key
        from flowfabric.ff_exec_input n
        where n.partition_key = any (array[e.partition_key]) and n.execution_id = any (array[e.execution_id])))
  ) > flowfabric.ff_now_ms() is not true
