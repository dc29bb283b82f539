// The current graph of a flow, in pages of members. A page has members with their inbound edges and their groups, all read at one
// moment. It has at most twice as many edges as members, and can end between two edges of one member. Then the next page begins
// with the other edges of that member. Over all pages, each member, edge and group comes once.
import type { EdgeResolution, StoredEdgeKind } from '../../model/edge-group.ts'
import { refusal } from '../../model/errors.ts'
import { formatExecutionId, formatFlowId, type ExecutionId, type FlowId } from '../../model/id.ts'
import { checkFields } from '../../model/field.ts'
import type { PublicState } from '../../model/state.ts'
import { show } from '../../model/text.ts'
import type { Sql } from '../../sql/sql.ts'
import { oneOf, statement, type RowOf } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { ascending, checkPage, descending, firstUuid, lastUuid, orderBy, pageFields } from '../kernel/page.ts'
import { visibleFlow } from '../kernel/visible.ts'
import { decodeGroup, groupJson, type EdgeGroup, type GroupJson } from './edge-group.ts'
import { decodeEdge, type Edge } from './edge.ts'

export interface FlowGraphRequest {
  /** Members in a page, with at most twice as many edges: 1 to 10,000; 10,000 by default. */
  readonly limit?: number
  /** `nextCursor` of the page before. */
  readonly cursor?: string
}

export interface Member {
  readonly executionId: ExecutionId
  readonly name: string
  /** The flow that this member represents. */
  readonly subFlowId: FlowId | null
  readonly kind: string
  readonly lane: string
  readonly publicState: PublicState
  readonly generation: number
  readonly startedAt: number | null
  readonly endedAt: number | null
  /** Why it failed, was cancelled or skipped. */
  readonly reason: string | null
}

export interface FlowGraph {
  readonly flowId: FlowId
  /** Pages of one revision are of one graph. */
  readonly graphRevision: number
  /** In the order of their ids. */
  readonly members: readonly Member[]
  /** Edges that lead to these members; the first ones may lead to the last member of the page before. */
  readonly edges: readonly Edge[]
  /** The groups that these members wait for, or waited for. */
  readonly groups: readonly EdgeGroup[]
  readonly nextCursor: string | null
}

const mostMembers = 10_000

// One row for each member, and one row without a member for a flow that has no member in the page. The page begins behind an edge
// of a member, or, when that edge is the last possible one, with the next member. The last member has one edge too many when its
// edges are cut.
const readGraph = statement({
  name: 'flow.graph',
  params: {
    flow_id: 'uuid',
    partition_key: 'int2',
    namespace: 'text?',
    after_member: 'uuid',
    after_edge: 'uuid',
    limit: 'int8',
    most_edges: 'int8',
  },
  row: {
    graph_revision: 'int8',
    /** How many members were read: the missing ones did not fit because of their edges. */
    seen: 'int8?',
    execution_id: 'uuid?',
    member_name: 'text?',
    sub_flow_id: 'uuid?',
    execution_kind: 'text?',
    lane_id: 'text?',
    public_state: oneOf<PublicState | null>(),
    generation: 'int4?',
    started_at_ms: 'int8?',
    terminal_at_ms: 'int8?',
    reason: 'text?',
    edge_group: 'jsonb?',
    edges: 'jsonb?',
  },
  text: `
select f.graph_revision, m.seen, m.execution_id, m.member_name, m.sub_flow_id, q.execution_kind, q.lane_id, e.public_state,
  e.generation, e.started_at_ms, e.terminal_at_ms, coalesce(e.failure_reason, e.cancellation_reason) as reason,
  case when g.downstream_id is not null then ${groupJson} end as edge_group, x.edges
from flowfabric.ff_flow_core f
left join lateral (
  select m.*, count(*) over () as seen,
    sum(coalesce(g.total, 0)) over (order by m.execution_id) - coalesce(g.total, 0) as edges_before
  from (
    select m.execution_id, m.member_name, m.sub_flow_id
    from flowfabric.ff_flow_member m
    where m.flow_id = f.flow_id and m.execution_id >= $4 and (m.execution_id > $4 or $5 < '${lastUuid}'::uuid)
    order by m.execution_id
    limit $6
  ) m
  left join flowfabric.ff_edge_group g on g.downstream_id = any (array[m.execution_id])
) m on m.edges_before < $7
left join flowfabric.ff_exec_core e on e.execution_id = any (array[m.execution_id])
left join flowfabric.ff_queue q on q.queue_id = e.queue_id
left join flowfabric.ff_edge_group g on g.downstream_id = any (array[m.execution_id])
left join lateral (
  select jsonb_agg(jsonb_build_array(x.edge_id, x.upstream_id, x.kind, x.resolution, x.resolved_generation, x.data_ref,
    x.created_at_ms, x.created_by) order by x.edge_id) as edges
  from (
    select *
    from flowfabric.ff_edge x
    where x.downstream_id = m.execution_id
      and x.edge_id > case when m.execution_id = $4 then $5 else '${firstUuid}'::uuid end
    order by x.edge_id
    limit $7 - m.edges_before + 1
  ) x
) x on true
where f.flow_id = $1 and f.partition_key = $2 and ($3::text is null or f.namespace = $3)
order by m.execution_id`,
})

type GraphRow = RowOf<typeof readGraph.row>
type EdgeJson = readonly [
  edgeId: string,
  upstreamId: string,
  kind: StoredEdgeKind,
  resolution: EdgeResolution | null,
  resolvedGeneration: number | null,
  dataRef: string | null,
  createdAt: number,
  createdBy: string,
]

export async function flowGraph(
  sql: Sql,
  caller: Caller,
  flowId: string,
  request: FlowGraphRequest = {},
): Promise<FlowGraph | null> {
  checkFields('flows.graph', pageFields, request)
  const flow = visibleFlow(caller, flowId)
  const partition = flow.partition_key
  const order = orderBy(`graph of ${flow.flow_id}`, { after_member: ascending.uuid, after_edge: descending.uuid })
  const { limit, after } = checkPage(request, order, checkLimit)
  const mostEdges = 2 * limit
  const rows = await sql.query(readGraph, { ...flow, ...after, limit: limit + 1, most_edges: mostEdges })
  if (rows.length === 0) return null
  const page = rows.filter((row) => row.execution_id !== null).slice(0, limit)
  // The first one may have been in the page before.
  const members = page.filter((row) => row.execution_id !== after.after_member)
  const edges = page.flatMap((row) => decodeEdges(partition, flow.flow_id, row))
  const shown = edges.slice(0, mostEdges)
  const end = endOfPage(page, edges.length > shown.length ? shown.at(-1)! : null)
  return {
    flowId: formatFlowId(partition, flow.flow_id),
    graphRevision: rows[0]!.graph_revision,
    members: members.map((row) => decodeMember(partition, row)),
    edges: shown,
    groups: members.flatMap((row) =>
      row.edge_group === null ? [] : [decodeGroup(partition, row.edge_group as GroupJson)],
    ),
    nextCursor: end === null ? null : order.encode(end),
  }
}

/** Where the next page begins, if one follows. `cutAt`: the last edge of a page that has no room for the others of its member. */
function endOfPage(page: readonly GraphRow[], cutAt: Edge | null) {
  const last = page.at(-1)
  if (last === undefined) return null
  if (cutAt !== null) return { after_member: last.execution_id, after_edge: cutAt.edgeId }
  return last.seen! > page.length ? { after_member: last.execution_id, after_edge: lastUuid } : null
}

function checkLimit(limit: number | undefined): number {
  if (limit === undefined) return mostMembers
  if (Number.isInteger(limit) && limit >= 1 && limit <= mostMembers) return limit
  throw refusal('invalid_input', 'limit', show(limit), `a whole number from 1 to ${mostMembers}`)
}

function decodeMember(partition: number, row: GraphRow): Member {
  return {
    executionId: formatExecutionId(partition, row.execution_id!),
    name: row.member_name!,
    subFlowId: row.sub_flow_id === null ? null : formatFlowId(partition, row.sub_flow_id),
    kind: row.execution_kind!,
    lane: row.lane_id!,
    publicState: row.public_state!,
    generation: row.generation!,
    startedAt: row.started_at_ms,
    endedAt: row.terminal_at_ms,
    reason: row.reason,
  }
}

function decodeEdges(partition: number, flowUuid: string, row: GraphRow): Edge[] {
  const edges = (row.edges ?? []) as readonly EdgeJson[]
  return edges.map(([edgeId, upstreamId, kind, resolution, resolvedGeneration, dataRef, createdAt, createdBy]) =>
    decodeEdge(partition, {
      flow_id: flowUuid,
      edge_id: edgeId,
      upstream_id: upstreamId,
      downstream_id: row.execution_id!,
      kind,
      resolution,
      resolved_generation: resolvedGeneration,
      data_ref: dataRef,
      created_at_ms: createdAt,
      created_by: createdBy,
    }),
  )
}
