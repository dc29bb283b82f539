-- Made by `npm run sql`; do not edit.
-- flow.eligibility
-- src/engine/flow/eligibility.ts: readEligibility
-- 22 lines, 0 CTEs
--
-- parameters:
--   $1 execution_id uuid
--   $2 partition_key int2
--   $3 namespace text or null
-- columns:
--   lifecycle_phase text
--   eligibility_state text
--   terminal_outcome text
--   public_state text
--   delay_until_ms int8 or null
--   worker_instance_id text or null
--   granted_until_ms int8 or null
--   edge_group jsonb or null
--   unresolved jsonb or null

select e.lifecycle_phase, e.eligibility_state, e.terminal_outcome, e.public_state, e.delay_until_ms,
  t.worker_instance_id, t.expires_at_ms as granted_until_ms,
  -- from src/engine/flow/edge-group.ts: groupJson
  case when g.downstream_id is not null then jsonb_build_object('downstreamId', g.downstream_id, 'state', g.state, 'isSealed', g.is_sealed,
    'policy', jsonb_build_object('kind', g.policy, 'onSatisfied', g.on_satisfied)
    || case when g.policy = 'quorum' then jsonb_build_object('k', g.quorum) else '{}' end,
    'total', g.total, 'satisfied', g.satisfied, 'failed', g.failed, 'skipped', g.skipped, 'firedAt', g.fired_at_ms) end as edge_group,
  x.unresolved
  -- end of groupJson
from flowfabric.ff_exec_core e
left join flowfabric.ff_grant t
  on t.execution_id = any (array[e.execution_id]) and t.expires_at_ms > flowfabric.ff_now_ms()
left join flowfabric.ff_edge_group g on g.downstream_id = any (array[e.execution_id])
left join lateral (
  select jsonb_agg(jsonb_build_array(x.kind, x.terminal_outcome, x.edge_count)) as unresolved
  from (
    select x.kind, u.terminal_outcome, count(*) as edge_count
    from flowfabric.ff_edge x
    join flowfabric.ff_exec_core u on u.execution_id = any (array[x.upstream_id])
    where x.downstream_id = any (array[e.execution_id]) and x.resolution is null and u.lifecycle_phase = 'terminal'
    group by x.kind, u.terminal_outcome
  ) x
) x on e.eligibility_state = 'blocked_by_dependencies'
where e.execution_id = $1 and e.partition_key = $2 and ($3::text is null or e.namespace = $3)
