-- Made by `npm run sql`; do not edit.
-- dispatch.settle
-- src/engine/dispatch/settle.ts: settle
-- 27 lines, 4 CTEs
--
-- parameters:
--   $1 edge_flow_ids uuid[]
--   $2 edge_ids uuid[]
--   $3 resolutions text[]
--   $4 edge_generations int4[]
--   $5 downstream_ids uuid[]
--   $6 satisfied_counts int4[]
--   $7 failed_counts int4[]
--   $8 skipped_counts int4[]
--   $9 group_states text[]
--   $10 are_fired bool[]
--   $11 execution_ids uuid[]
--   $12 generations int4[]
--   $13 outcomes text[]
--   $14 are_shared bool[]
--   $15 now_ms int8
-- columns: none

with resolved_edge as (
  update flowfabric.ff_edge x
  set resolution = i.resolution::flowfabric.ff_edge_resolution, resolved_generation = i.generation
  from unnest($1::uuid[], $2::uuid[], $3::text[], $4::int4[]) as i (flow_id, edge_id, resolution, generation)
  where x.flow_id = any (array[i.flow_id]) and x.edge_id = any (array[i.edge_id])
),
resolved_group as (
  update flowfabric.ff_edge_group g
  set satisfied = i.satisfied, failed = i.failed, skipped = i.skipped, state = i.state::flowfabric.ff_group_state,
    fired_at_ms = case when i.is_fired then $15::int8 else g.fired_at_ms end
  from unnest($5::uuid[], $6::int4[], $7::int4[], $8::int4[], $9::text[], $10::bool[])
    as i (downstream_id, satisfied, failed, skipped, state, is_fired)
  where g.downstream_id = any (array[i.downstream_id])
),
resolved as materialized (
  select i.execution_id, i.generation, i.outcome::flowfabric.ff_terminal_outcome as outcome, i.is_shared
  from unnest($11::uuid[], $12::int4[], $13::text[], $14::bool[]) as i (execution_id, generation, outcome, is_shared)
),
deleted as (
  delete from flowfabric.ff_dispatch d
  using resolved i
  where not i.is_shared and d.execution_id = any (array[i.execution_id]) and d.generation = i.generation and d.outcome = i.outcome
)
update flowfabric.ff_dispatch d
set flow_id = null, is_counted = true
from resolved i
where i.is_shared and d.execution_id = any (array[i.execution_id]) and d.generation = i.generation and d.outcome = i.outcome
