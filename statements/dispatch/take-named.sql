-- Made by `npm run sql`; do not edit.
-- dispatch.take-named
-- src/engine/dispatch/take-dispatches.ts: taking
-- 35 lines, 5 CTEs
--
-- parameters:
--   $1 execution_ids uuid[]
-- columns:
--   ordinal int8
--   execution_id uuid
--   generation int4
--   outcome text
--   flow_id uuid
--   root_flow_id uuid or null
--   is_counted bool
--   created_at_ms int8
--   is_shared bool
--   is_locked bool

with dispatch as materialized (
  select d.execution_id, d.generation, d.outcome, d.flow_id, d.is_counted, d.created_at_ms,
    d.parent_id is not null or d.has_children as is_shared
  from unnest($1::uuid[]) as i (execution_id)
  join flowfabric.ff_dispatch d on d.execution_id = any (array[i.execution_id])
  for update of d skip locked
),
found as materialized (
  select d.*, f.root_flow_id, row_number() over () as ordinal
  from dispatch d
  left join flowfabric.ff_flow_core f on f.flow_id = any (array[d.flow_id])
  where d.flow_id is not null
),
tree as materialized (
  select r.flow_id
  from (select distinct root_flow_id from found) f
  join flowfabric.ff_flow_core r on r.flow_id = any (array[f.root_flow_id])
  order by f.root_flow_id
  for no key update of r skip locked
),
taken as materialized (
  select *, (root_flow_id in (select flow_id from tree)) is true as is_locked
  from found
),
kept as materialized (
  select set_config('ff.taken_ordinals', array_agg(ordinal)::text, true), set_config('ff.taken_ids', array_agg(execution_id)::text, true),
    set_config('ff.taken_generations', array_agg(generation)::text, true),
    set_config('ff.taken_outcomes', array_agg(outcome)::text, true),
    set_config('ff.taken_nested', array_agg(flow_id <> root_flow_id)::text, true)
  from taken
  where is_locked
)
select ordinal, execution_id, generation, outcome, flow_id, root_flow_id, is_counted, created_at_ms, is_shared, is_locked
from taken
cross join kept
