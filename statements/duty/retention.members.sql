-- Made by `npm run sql`; do not edit.
-- duty.retention.members
-- src/engine/duties/delete-executions.ts: deleteMembers
-- 22 lines, 4 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
--   $2 flow_ids uuid[]
-- columns: none

with past as materialized (
  select *
  from unnest($1::uuid[], $2::uuid[]) as i (execution_id, flow_id)
),
inbound as (
  delete from flowfabric.ff_edge x
  using past p
  where x.downstream_id = any (array[p.execution_id])
),
outbound as (
  delete from flowfabric.ff_edge x
  using past p
  where x.upstream_id = any (array[p.execution_id])
),
edge_group as (
  delete from flowfabric.ff_edge_group g
  using past p
  where g.downstream_id = any (array[p.execution_id])
)
delete from flowfabric.ff_flow_member m
using past p
where m.flow_id = any (array[p.flow_id]) and m.execution_id = any (array[p.execution_id])
