// The graph of a flow as it is: members, edges and groups, in pages of members. A page has whole members, each with its
// inbound edges and its group, all of one moment: so over all pages every edge and every group comes once.
import { decodeCursor, encodeCursor } from '../../model/cursor.ts'
import type { EdgeResolution, StoredEdgeKind } from '../../model/edge-group.ts'
import { refusal } from '../../model/errors.ts'
import { formatExecutionId, formatFlowId, parseFlowId, type ExecutionId, type FlowId } from '../../model/id.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import type { PublicState } from '../../model/state.ts'
import { show } from '../../model/text.ts'
import type { Sql } from '../../sql/sql.ts'
import { oneOf, statement, type RowOf } from '../../sql/statement.ts'
import type { Caller } from '../caller.ts'
import { firstUuid } from '../execution/list/source.ts'
import { decodeGroup, groupJson, type EdgeGroup, type GroupJson } from './edge-group.ts'
import { decodeEdge, type Edge } from './edge.ts'

export interface FlowGraphRequest {
  /** Members in a page: 1 to 10,000, which is also what it is when left out. */
  readonly limit?: number
  /** `nextCursor` of the page before. */
  readonly cursor?: string
}

export interface Member {
  readonly executionId: ExecutionId
  readonly name: string
  /** The flow that it stands for. */
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
  /** Those that lead to these members. */
  readonly edges: readonly Edge[]
  /** What these members wait for, or waited for. */
  readonly groups: readonly EdgeGroup[]
  readonly nextCursor: string | null
}

const mostMembers = 10_000

// One row a member, and one without a member for a flow that has none in the page.
const readGraph = statement({
  name: 'flow.graph',
  params: { flow_id: 'uuid', partition_key: 'int2', namespace: 'text?', after: 'uuid', limit: 'int8' },
  row: {
    graph_revision: 'int8',
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
select f.graph_revision, m.execution_id, m.member_name, m.sub_flow_id, q.execution_kind, q.lane_id, e.public_state,
  e.generation, e.started_at_ms, e.terminal_at_ms, coalesce(e.failure_reason, e.cancellation_reason) as reason,
  case when g.downstream_id is not null then ${groupJson} end as edge_group, x.edges
from flowfabric.ff_flow_core f
left join lateral (
  select m.execution_id, m.member_name, m.sub_flow_id
  from flowfabric.ff_flow_member m
  where m.flow_id = f.flow_id and m.execution_id > $4
  order by m.execution_id
  limit $5
) m on true
left join flowfabric.ff_exec_core e on e.execution_id = any (array[m.execution_id])
left join flowfabric.ff_queue q on q.queue_id = e.queue_id
left join flowfabric.ff_edge_group g on g.downstream_id = any (array[m.execution_id])
left join lateral (
  select jsonb_agg(jsonb_build_array(x.edge_id, x.upstream_id, x.kind, x.resolution, x.resolved_generation, x.data_ref,
    x.created_at_ms, x.created_by) order by x.edge_id) as edges
  from flowfabric.ff_edge x
  where x.downstream_id = any (array[m.execution_id])
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
  flowId: FlowId,
  request: FlowGraphRequest = {},
): Promise<FlowGraph | null> {
  refuseUnknownFields('flows.graph', request, ['limit', 'cursor'])
  const { partition, uuid } = parseFlowId(flowId)
  const listName = `graph of ${uuid}`
  const limit = checkLimit(request.limit)
  const [after] = request.cursor === undefined ? [firstUuid] : decodeCursor(listName, request.cursor, ['uuid'])
  const rows = await sql.query(readGraph, {
    flow_id: uuid,
    partition_key: partition,
    namespace: caller.namespace,
    after: after as string,
    limit: limit + 1,
  })
  if (rows.length === 0) return null
  const page = rows.filter((row) => row.execution_id !== null).slice(0, limit)
  return {
    flowId: formatFlowId(partition, uuid),
    graphRevision: rows[0]!.graph_revision,
    members: page.map((row) => decodeMember(partition, row)),
    edges: page.flatMap((row) => decodeEdges(partition, uuid, row)),
    groups: page.flatMap((row) =>
      row.edge_group === null ? [] : [decodeGroup(partition, row.edge_group as GroupJson)],
    ),
    nextCursor: rows.length > limit ? encodeCursor(listName, [page.at(-1)!.execution_id!]) : null,
  }
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
