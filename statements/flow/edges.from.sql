-- Made by `npm run sql`; do not edit.
-- flow.edges.from
-- src/engine/flow/edges.ts: edgesBy
-- 9 lines, 0 CTEs
--
-- parameters:
--   $1 flow_id uuid
--   $2 partition_key int2
--   $3 namespace text or null
--   $4 edge_id uuid
--   $5 limit int8
--   $6 end_id uuid
-- columns:
--   flow_id uuid
--   edge_id uuid
--   upstream_id uuid
--   downstream_id uuid
--   kind text
--   resolution text
--   resolved_generation int4 or null
--   data_ref text or null
--   created_at_ms int8
--   created_by text

select
  x.flow_id, x.edge_id, x.upstream_id, x.downstream_id, x.kind, x.resolution, x.resolved_generation, x.data_ref,
  x.created_at_ms, x.created_by
from flowfabric.ff_flow_core f
join flowfabric.ff_edge x on x.flow_id = f.flow_id
where f.flow_id = $1 and f.partition_key = $2 and ($3::text is null or f.namespace = $3)
  and x.upstream_id = $6 and x.edge_id > $4
order by x.edge_id
limit $5
