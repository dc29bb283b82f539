-- Made by `npm run sql`; do not edit.
-- dispatch.take
-- src/engine/dispatch/take-dispatches.ts: taking
-- 39 lines, 5 CTEs
--
-- parameters:
--   $1 batch int8
--   $2 passed_over uuid[]
--   $3 from_ms int8
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
  from flowfabric.ff_dispatch d
  where d.flow_id is not null and d.created_at_ms > 0 and d.created_at_ms >= $3
    and (d.flow_id = any ($2::uuid[])) is not true
    and d.execution_id not in (select s.subject_id from flowfabric.ff_set_aside s where s.duty = 'dispatch')
  order by d.created_at_ms, d.execution_id
  limit $1
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
