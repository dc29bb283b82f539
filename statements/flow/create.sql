-- Made by `npm run sql`; do not edit.
-- flow.create
-- src/engine/flow/create.ts: insertFlow
-- 28 lines, 4 CTEs
--
-- parameters:
--   $1 flow_id uuid
--   $2 partition_key int2
--   $3 namespace text
--   $4 flow_kind text
--   $5 creator text
--   $6 actor text
--   $7 tags jsonb
-- columns:
--   existing_partition int2 or null
--   existing_namespace text or null
--   graph_revision int8 or null

with existing as materialized (
  select partition_key, namespace, graph_revision
  from flowfabric.ff_flow_core
  where flow_id = $1
),
flow as (
  insert into flowfabric.ff_flow_core (flow_id, root_flow_id, created_at_ms, last_mutation_at_ms, partition_key, namespace,
    flow_kind, creator_identity)
  select $1, $1, c.now_ms, c.now_ms, $2, $3, $4, $5
  from (select flowfabric.ff_now_ms() as now_ms offset 0) c
  where not exists (select from existing)
  returning flow_id, created_at_ms, partition_key, namespace
),
tagged as (
  insert into flowfabric.ff_flow_tag (flow_id, created_at_ms, namespace, tag_key, tag_value)
  select f.flow_id, f.created_at_ms, f.namespace, t.key, t.value
  from flow f
  cross join lateral jsonb_each_text($7::jsonb) t
),
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, flow_id, event_type, partition_key, namespace, actor, details)
  select created_at_ms, flow_id, 'flow_created', partition_key, namespace, $6,
    jsonb_build_object('graphRevision', 0, 'members', 0, 'edges', 0)
  from flow
)
select m.partition_key as existing_partition, m.namespace as existing_namespace, m.graph_revision
from (select) one
left join existing m on true
