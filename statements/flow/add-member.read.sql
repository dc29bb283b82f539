-- Made by `npm run sql`; do not edit.
-- flow.add-member.read
-- src/engine/flow/add-member-read.ts: readExisting
-- 10 lines, 0 CTEs
--
-- parameters:
--   $1 flow_id uuid
--   $2 execution_id uuid
--   $3 member_name text
--   $4 namespace text
--   $5 idempotency_key text or null
-- columns:
--   partition_key int2 or null
--   namespace text or null
--   other_flow_id uuid or null
--   own_name text or null
--   name_holder_id uuid or null
--   key_holder_id uuid or null
--   key_holder_name text or null
--   key_hash bytea or null

select e.partition_key, e.namespace, nullif(e.flow_id, $1) as other_flow_id,
  m.member_name as own_name, n.execution_id as name_holder_id,
  k.execution_id as key_holder_id, h.member_name as key_holder_name, k.request_hash as key_hash
from (select $1::uuid as flow_id, $2::uuid as execution_id, $3::text as member_name) i
left join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
left join flowfabric.ff_flow_member m on m.flow_id = any (array[i.flow_id]) and m.execution_id = any (array[i.execution_id])
left join flowfabric.ff_flow_member n on n.flow_id = any (array[i.flow_id]) and n.member_name = any (array[i.member_name])
left join flowfabric.ff_idempotency_key k
  on k.namespace = $4 and k.scope_id = any (array[i.flow_id]) and k.idempotency_key = $5
left join flowfabric.ff_flow_member h on h.flow_id = any (array[i.flow_id]) and h.execution_id = any (array[k.execution_id])
