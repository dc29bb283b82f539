-- Made by `npm run sql`; do not edit.
-- invariant.flow-group
-- src/engine/kernel/invariant.ts: invariant
-- 19 lines, 0 CTEs
--
-- parameters: none
-- columns:
--   subject text
--   found text

-- from src/engine/flow/invariants.ts: flowInvariants
select g.downstream_id::text as subject,
  concat_ws(' ', g.state, g.satisfied, g.failed, g.skipped, 'of', g.total, 'but', x.satisfied, x.failed, x.skipped, 'of',
    x.total) as found
from flowfabric.ff_edge_group g
join flowfabric.ff_flow_core f using (flow_id)
cross join lateral (
  select count(*) as total, count(*) filter (where x.resolution = 'satisfied') as satisfied,
    count(*) filter (where x.resolution = 'failed') as failed, count(*) filter (where x.resolution = 'skipped') as skipped
  from flowfabric.ff_edge x
  where x.downstream_id = g.downstream_id
) x
where (g.total, g.satisfied, g.failed, g.skipped) is distinct from (x.total, x.satisfied, x.failed, x.skipped)
  -- One that asks for more than it has edges, in a flow that was cancelled, is lost with the next ending.
  or g.state = 'pending' and case
    when g.quorum is null and g.failed + g.skipped > 0 then 'impossible'::flowfabric.ff_group_state
    when g.satisfied >= coalesce(g.quorum, g.total) then 'satisfied'::flowfabric.ff_group_state
    when g.is_sealed and g.failed + g.skipped > g.total - g.quorum then 'impossible'::flowfabric.ff_group_state
    else 'pending'::flowfabric.ff_group_state
  end <> 'pending' and (g.quorum > g.total) is not true
-- end of flowInvariants
limit 10
