// The reads of a set that come after its locks: members and flows, then edges, with the groups that they lead to.
//
// A downstream member that waits for its edges is locked here, with skip locked, because the set may release or skip it. Such a
// member can stop waiting without the lock of its flow, but not start to wait.
import { attached } from '../../model/attached.ts'
import type { GroupState, OnSatisfied } from '../../model/edge-group.ts'
import { call } from '../../sql/sql.ts'
import { oneOf, statement, type RowOf } from '../../sql/statement.ts'
import { flowFactColumns, flowFactRow } from '../transition/flow-facts.ts'
import { takenDispatches } from './take-dispatches.ts'

// One member may have edges to ten thousand others, and a set has many members.
const edgesForEach = 10

/** The most edges that a set reads. If it reads as many, more may exist. */
export function mostEdges(batch: number): number {
  return batch * edgesForEach
}

// One row for each group: a set may have many edges that lead to one.
const readEdges = statement({
  name: 'dispatch.read-edges',
  params: { most: 'int8' },
  row: {
    downstream_id: 'uuid',
    // Of its edges: one element for each.
    edge_ids: 'uuid[]',
    ordinals: 'int8[]',
    kinds: 'text[]',
    on_satisfied: oneOf<OnSatisfied>(),
    quorum: 'int4?',
    total: 'int4',
    satisfied: 'int4',
    failed: 'int4',
    skipped: 'int4',
    state: oneOf<GroupState>(),
    is_sealed: 'bool',
    is_blocked: 'bool?',
    is_locked: 'bool',
    is_flow: 'bool?',
    has_started: 'bool?',
  },
  text: `
with ${takenDispatches},
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
  d.downstream_id in (select execution_id from locked) as is_locked, e.attached & ${attached.subFlow} <> 0 as is_flow,
  e.started_at_ms is not null as has_started
from downstream d
join flowfabric.ff_edge_group g on g.downstream_id = any (array[d.downstream_id])
left join flowfabric.ff_exec_core e on e.execution_id = any (array[d.downstream_id])`,
})

export type GroupRow = RowOf<typeof readEdges.row>

export function readEdgesCall(batch: number) {
  return call(readEdges, { most: mostEdges(batch) })
}

// One row for each flow: a set may have many members of one. After the locks of the edges' downstreams, so that its clock is read
// after all locks.
const readFlows = statement({
  name: 'dispatch.read-flows',
  params: {},
  row: {
    // Of the taken members of this flow, as far as they have not restarted; or of the member that a nested flow represents.
    ordinals: 'int8[]',
    skipped_by_failure: 'int8[]',
    is_sub_flow: 'bool',
    ...flowFactRow,
    now_ms: 'int8',
  },
  text: `
with ${takenDispatches},
member as materialized (
  select t.ordinal, t.execution_id, e.flow_id, e.attached & ${attached.subFlow} <> 0 as is_flow,
    e.terminal_outcome = 'skipped' and e.failure_reason = 'dependency_failed' as is_skipped_by_failure
  from taken t
  join flowfabric.ff_exec_core e on e.execution_id = any (array[t.execution_id])
  where e.generation = t.generation
),
flow as materialized (
  select flow_id, array_agg(ordinal) as ordinals, array_agg(ordinal) filter (where is_skipped_by_failure) as skipped_by_failure,
    false as is_sub_flow
  from member
  group by flow_id
  union all
  select m.sub_flow_id, array[n.ordinal], null, true
  from member n
  join flowfabric.ff_flow_member m on m.flow_id = any (array[n.flow_id]) and m.execution_id = any (array[n.execution_id])
  where n.is_flow
),
clock as materialized (
  select flowfabric.ff_now_ms() as now_ms
)
select n.ordinals, coalesce(n.skipped_by_failure, '{}') as skipped_by_failure, n.is_sub_flow, ${flowFactColumns}, k.now_ms
from flow n
join flowfabric.ff_flow_core f on f.flow_id = any (array[n.flow_id])
left join flowfabric.ff_exec_core s on s.execution_id = any (array[f.member_id])
cross join clock k`,
})

export type FlowRow = RowOf<typeof readFlows.row>

export const readFlowsCall = call(readFlows, {})

// A failure reaches a downstream member through an upstream member that it skipped. A scalar subquery finds such a row: for an
// `exists`, the planner may collect all of them.
const readSkips = statement({
  name: 'dispatch.read-skips',
  params: { downstream_ids: 'uuid[]' },
  row: { downstream_id: 'uuid', is_reached: 'bool' },
  text: `
select i.downstream_id, (
    select x.edge_id
    from flowfabric.ff_edge x
    join flowfabric.ff_exec_core u on u.execution_id = any (array[x.upstream_id])
    where x.downstream_id = any (array[i.downstream_id])
      and u.terminal_outcome = 'skipped' and u.failure_reason = 'dependency_failed' and x.kind <> 'optional'
    limit 1) is not null as is_reached
from unnest($1::uuid[]) as i (downstream_id)`,
})

export function readSkipsCall(downstreamIds: readonly string[]) {
  return call(readSkips, { downstream_ids: downstreamIds })
}
