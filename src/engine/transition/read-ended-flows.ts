// The rows from which `src/model/flow-ending.ts` decides how a flow ends in which not every member succeeded. They are read under
// the lock of the outermost flow, when all members have ended.
//
// The reads start from the members that did not succeed, so the cost is that of their edges (measured: a second for 10,000 members
// and 100,000 edges, all cancelled or skipped, on a busy machine). Skipped members may represent flows: these are read too, because
// the reasons of their skips follow.
import { attached } from '../../model/attached.ts'
import {
  resolveEdge,
  stateByQuorum,
  type EdgeKind,
  type EdgeResolution,
  type Ending,
  type GroupState,
} from '../../model/edge-group.ts'
import type { EndedEdge, EndedFlow, EndedJoin, EndedTree } from '../../model/flow-ending.ts'
import { call, type RowsOf } from '../../sql/sql.ts'
import { oneOf, statement, type RowOf } from '../../sql/statement.ts'

const flawedOf = (flowId: string) => `
    select e.execution_id, e.terminal_outcome as outcome, e.failure_reason,
      case when e.attached & ${attached.subFlow} <> 0 then m.sub_flow_id end as sub_flow_id
    from flowfabric.ff_flow_member m
    join flowfabric.ff_exec_core e on e.execution_id = any (array[m.execution_id])
    where m.flow_id = ${flowId} and e.terminal_outcome not in ('none', 'success')
    offset 0`

/** The members of the flows `$1` that did not succeed, and those of the flows that skipped members represent. */
const flawedMembers = `
flawed (flow_id, execution_id, outcome, failure_reason, sub_flow_id) as (
  select i.flow_id, m.*
  from unnest($1::uuid[]) as i (flow_id)
  cross join lateral (${flawedOf('i.flow_id')}
  ) m
  union all
  select f.sub_flow_id, m.*
  from flawed f
  cross join lateral (${flawedOf('f.sub_flow_id')}
  ) m
  where f.outcome = 'skipped' and f.sub_flow_id is not null
)`

const readMembers = statement({
  name: 'flow-ending.members',
  params: { flow_ids: 'uuid[]' },
  row: {
    flow_id: 'uuid',
    execution_id: 'uuid',
    outcome: oneOf<Ending>(),
    failure_reason: 'text?',
    sub_flow_id: 'uuid?',
  },
  text: `
with recursive ${flawedMembers}
select flow_id, execution_id, outcome, failure_reason, sub_flow_id
from flawed`,
})

const readEdges = statement({
  name: 'flow-ending.edges',
  params: { flow_ids: 'uuid[]' },
  row: {
    flow_id: 'uuid',
    upstream_id: 'uuid',
    downstream_id: 'uuid',
    kind: oneOf<EdgeKind>(),
    resolution: oneOf<EdgeResolution | null>(),
  },
  text: `
with recursive ${flawedMembers}
select m.flow_id, x.upstream_id, x.downstream_id, x.kind, x.resolution
from flawed m
cross join lateral (
  select x.upstream_id, x.downstream_id, x.kind, x.resolution
  from flowfabric.ff_edge x
  where x.upstream_id = any (array[m.execution_id]) and x.kind <> 'start'
  offset 0
) x`,
})

// Edges that are not resolved yet count by how their upstream ended.
const readJoins = statement({
  name: 'flow-ending.joins',
  params: { flow_ids: 'uuid[]' },
  row: {
    flow_id: 'uuid',
    downstream_id: 'uuid',
    quorum: 'int4?',
    total: 'int4',
    satisfied: 'int4',
    failed: 'int4',
    skipped: 'int4',
    state: oneOf<GroupState>(),
    unresolved: 'jsonb?',
  },
  text: `
with recursive ${flawedMembers},
downstream as materialized (
  select distinct x.downstream_id
  from flawed m
  cross join lateral (
    select x.downstream_id
    from flowfabric.ff_edge x
    where x.upstream_id = any (array[m.execution_id]) and x.kind <> 'start'
    offset 0
  ) x
)
select g.flow_id, g.downstream_id, g.quorum, g.total, g.satisfied, g.failed, g.skipped, g.state, u.unresolved
from downstream d
join flowfabric.ff_edge_group g on g.downstream_id = any (array[d.downstream_id])
cross join lateral (
  select jsonb_agg(jsonb_build_array(y.kind, y.terminal_outcome, y.edge_count)) as unresolved
  from (
    select x.kind, e.terminal_outcome, count(*) as edge_count
    from flowfabric.ff_edge x
    join flowfabric.ff_exec_core e on e.execution_id = any (array[x.upstream_id])
    where g.satisfied + g.failed + g.skipped < g.total
      and x.downstream_id = any (array[g.downstream_id]) and x.resolution is null
    group by x.kind, e.terminal_outcome
  ) y
) u`,
})

export function endedFlowReads(flowIds: readonly string[]) {
  const values = { flow_ids: flowIds }
  return [call(readMembers, values), call(readEdges, values), call(readJoins, values)] as const
}

type EndedRows = RowsOf<ReturnType<typeof endedFlowReads>>
type MemberRow = EndedRows[0][number]
type JoinRow = RowOf<typeof readJoins.row>
type Unresolved = readonly (readonly [kind: EdgeKind, outcome: Ending, count: number])[]

/** By flow. */
export function endedTreesOf(
  flowIds: readonly string[],
  [members, edges, joins]: EndedRows,
): ReadonlyMap<string, EndedTree> {
  const membersOf = byFlow(members)
  const edgesOf = byFlow(edges)
  const joinsOf = byFlow(joins)
  const treeOf = (flowId: string): EndedTree => {
    const found = membersOf.get(flowId) ?? []
    const outcomes = new Map(found.map((row) => [row.execution_id, row.outcome]))
    const flow: EndedFlow = {
      members: found.map((row) => ({ id: row.execution_id, ending: row.outcome })),
      edges: (edgesOf.get(flowId) ?? []).map((row) => edgeOf(row, outcomes.get(row.upstream_id)!)),
      joins: (joinsOf.get(flowId) ?? []).map(joinOf),
    }
    const skipped = found.filter((row) => row.outcome === 'skipped')
    const representatives = skipped.filter(
      (row): row is MemberRow & { sub_flow_id: string } => row.sub_flow_id !== null,
    )
    return {
      flow,
      storedReasons: new Map(skipped.map((row) => [row.execution_id, row.failure_reason])),
      nested: new Map(representatives.map((row) => [row.execution_id, treeOf(row.sub_flow_id)])),
    }
  }
  return new Map(flowIds.map((flowId) => [flowId, treeOf(flowId)]))
}

function byFlow<Row extends { readonly flow_id: string }>(rows: readonly Row[]): ReadonlyMap<string, Row[]> {
  const found = new Map<string, Row[]>()
  for (const row of rows) {
    const others = found.get(row.flow_id)
    if (others === undefined) found.set(row.flow_id, [row])
    else others.push(row)
  }
  return found
}

function edgeOf(row: EndedRows[1][number], ending: Ending): EndedEdge {
  const { upstream_id: upstreamId, downstream_id: downstreamId, kind, resolution } = row
  return { upstreamId, downstreamId, kind, resolution: resolution ?? resolveEdge(kind, ending) }
}

function joinOf(row: JoinRow): EndedJoin {
  const counts = { satisfied: row.satisfied, failed: row.failed, skipped: row.skipped }
  for (const [kind, outcome, count] of (row.unresolved ?? []) as Unresolved) counts[resolveEdge(kind, outcome)] += count
  const { downstream_id: downstreamId, quorum, total } = row
  const state = row.state === 'pending' ? stateByQuorum(quorum, { ...counts, total, isSealed: true }) : row.state
  return { downstreamId, isSatisfied: state === 'satisfied', quorum, satisfied: counts.satisfied }
}
