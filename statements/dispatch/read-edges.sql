-- Made by `npm run sql`; do not edit.
-- dispatch.read-edges
-- src/engine/dispatch/read-tree.ts: readEdges
-- 46 lines, 4 CTEs
--
-- parameters:
--   $1 most int8
-- columns:
--   downstream_id uuid
--   edge_ids uuid[]
--   ordinals int8[]
--   kinds text[]
--   on_satisfied text
--   quorum int4 or null
--   total int4
--   satisfied int4
--   failed int4
--   skipped int4
--   state text
--   is_sealed bool
--   is_blocked bool or null
--   is_locked bool
--   is_flow bool or null
--   has_started bool or null

with
-- from src/engine/dispatch/take-dispatches.ts: takenDispatches
taken as materialized (
  select *
  from unnest(nullif(current_setting('ff.taken_ordinals', true), '')::int8[], nullif(current_setting('ff.taken_ids', true), '')::uuid[],
    nullif(current_setting('ff.taken_generations', true), '')::int4[],
    nullif(current_setting('ff.taken_outcomes', true), '')::flowfabric.ff_terminal_outcome[],
    nullif(current_setting('ff.taken_nested', true), '')::bool[])
    as t (ordinal, execution_id, generation, outcome, is_nested)
),
-- end of takenDispatches
edge as materialized (
  select t.ordinal, x.edge_id, x.downstream_id, x.kind
  from taken t
  join flowfabric.ff_edge x on x.upstream_id = any (array[t.execution_id])
  where x.resolution is null
    and case
      -- The start of a nested flow is resolved before the ending of its member, though both may be in this set.
      when x.kind = 'start' then t.outcome = 'none' or (
        select w.generation
        from flowfabric.ff_dispatch w
        where w.execution_id = any (array[t.execution_id]) and w.generation = t.generation and w.outcome = 'none') is null
      -- A member that ended before its flow started resolves its edges when the flow starts.
      else t.outcome <> 'none' and (not t.is_nested or (
        select not f.is_held or f.member_id in (select execution_id from taken)
        from flowfabric.ff_flow_core f
        where f.flow_id = x.flow_id))
    end
  limit $1
),
downstream as materialized (
  select downstream_id, array_agg(edge_id) as edge_ids, array_agg(ordinal) as ordinals, array_agg(kind::text) as kinds
  from edge
  group by downstream_id
),
locked as materialized (
  select e.execution_id
  from downstream d
  join flowfabric.ff_exec_core e on e.execution_id = any (array[d.downstream_id])
  where e.eligibility_state = 'blocked_by_dependencies'
  order by d.downstream_id
  for no key update of e skip locked
)
select d.downstream_id, d.edge_ids, d.ordinals, d.kinds, g.on_satisfied, g.quorum, g.total, g.satisfied, g.failed, g.skipped,
  g.state, g.is_sealed, e.eligibility_state = 'blocked_by_dependencies' as is_blocked,
  d.downstream_id in (select execution_id from locked) as is_locked, e.attached & 512 /* subFlow */ <> 0 as is_flow,
  e.started_at_ms is not null as has_started
from downstream d
join flowfabric.ff_edge_group g on g.downstream_id = any (array[d.downstream_id])
left join flowfabric.ff_exec_core e on e.execution_id = any (array[d.downstream_id])
