// Writes what a set decided about edges and groups, and deletes the dispatch rows that it resolved. All of it is written under the
// lock of the outermost flows.
import type { ResolvedEdge, ResolvedGroup } from '../../model/resolve-endings.ts'
import { call } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { TakenDispatch } from './take-dispatches.ts'

// A row that also has pending dispatch to a parent or to children is counted here; the last of these sets deletes it.
const settle = statement({
  name: 'dispatch.settle',
  params: {
    edge_flow_ids: 'uuid[]',
    edge_ids: 'uuid[]',
    resolutions: 'text[]',
    edge_generations: 'int4[]',
    downstream_ids: 'uuid[]',
    satisfied_counts: 'int4[]',
    failed_counts: 'int4[]',
    skipped_counts: 'int4[]',
    group_states: 'text[]',
    are_fired: 'bool[]',
    execution_ids: 'uuid[]',
    generations: 'int4[]',
    outcomes: 'text[]',
    are_shared: 'bool[]',
    now_ms: 'int8',
  },
  row: {},
  text: `
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
where i.is_shared and d.execution_id = any (array[i.execution_id]) and d.generation = i.generation and d.outcome = i.outcome`,
})

export function settleCall(
  edges: readonly ResolvedEdge[],
  groups: readonly ResolvedGroup[],
  dispatches: readonly TakenDispatch[],
  now: number,
) {
  return call(settle, {
    edge_flow_ids: edges.map(({ edge }) => edge.flowId),
    edge_ids: edges.map(({ edge }) => edge.edgeId),
    resolutions: edges.map(({ resolution }) => resolution),
    edge_generations: edges.map(({ edge }) => edge.upstream.generation),
    downstream_ids: groups.map(({ fact }) => fact.downstreamId),
    satisfied_counts: groups.map(({ satisfied }) => satisfied),
    failed_counts: groups.map(({ failed }) => failed),
    skipped_counts: groups.map(({ skipped }) => skipped),
    group_states: groups.map(({ state }) => state),
    are_fired: groups.map(({ isFired }) => isFired),
    execution_ids: dispatches.map((row) => row.execution_id),
    generations: dispatches.map((row) => row.generation),
    outcomes: dispatches.map((row) => row.outcome),
    are_shared: dispatches.map((row) => row.is_shared),
    now_ms: now,
  })
}
