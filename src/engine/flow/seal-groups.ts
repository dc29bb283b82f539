// Sealing: no more edges will come. A group that only waited for more edges may be lost by that. Then one of its edges
// becomes unresolved again, and its upstream gets another dispatch row: the resolver fires the group. A group that
// requires more edges than it has is lost too; while none of these is resolved, the first one to be resolved fires it.

/**
 * Follows `changed`, the flow's row with now_ms; `where` selects unsealed groups `g`. Yields `sealing`, and an array of
 * upstreams for `oweDispatch`.
 */
export function sealGroups(where: string): string {
  return `
sealing as materialized (
  select g.downstream_id, l.flow_id, l.edge_id, l.upstream_id, l.resolution
  from changed c
  join flowfabric.ff_edge_group g on ${where}
  left join lateral (
    select x.flow_id, x.edge_id, x.upstream_id, x.resolution
    from flowfabric.ff_edge x
    where g.state = 'pending' and g.failed + g.skipped > g.total - g.quorum
      and x.downstream_id = any (array[g.downstream_id]) and x.resolution is not null
    limit 1
  ) l on true
  where not g.is_sealed
),
sealed as (
  update flowfabric.ff_edge_group g
  set is_sealed = true,
    satisfied = g.satisfied - case when s.resolution = 'satisfied' then 1 else 0 end,
    failed = g.failed - case when s.resolution = 'failed' then 1 else 0 end,
    skipped = g.skipped - case when s.resolution = 'skipped' then 1 else 0 end
  from sealing s
  where g.downstream_id = any (array[s.downstream_id])
),
unresolved as (
  update flowfabric.ff_edge x
  set resolution = null, resolved_generation = null
  from sealing s
  where x.flow_id = any (array[s.flow_id]) and x.edge_id = any (array[s.edge_id])
)`
}

// One upstream may have lost several groups.
export const lostUpstreams = 'array(select distinct upstream_id from sealing where upstream_id is not null)'
