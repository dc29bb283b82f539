// An edge as a reader sees it: the columns that every read of edges selects, and their decoder.
import { describeActor } from '../../model/actor.ts'
import type { EdgeResolution, StoredEdgeKind } from '../../model/edge-group.ts'
import { formatExecutionId, formatFlowId, type ExecutionId, type FlowId } from '../../model/id.ts'
import { oneOf, type RowOf } from '../../sql/statement.ts'

export interface Edge {
  readonly flowId: FlowId
  readonly edgeId: string
  readonly upstreamId: ExecutionId
  readonly downstreamId: ExecutionId
  readonly kind: StoredEdgeKind
  /** The effect of the upstream's ending; pending until then. */
  readonly state: 'pending' | EdgeResolution
  /** The generation of the upstream that ended. */
  readonly resolvedGeneration: number | null
  /** The name under which the downstream reads the upstream's result; its member's name when null. */
  readonly dataRef: string | null
  readonly createdAt: number
  readonly createdBy: string
}

export const edgeRow = {
  flow_id: 'uuid',
  edge_id: 'uuid',
  upstream_id: 'uuid',
  downstream_id: 'uuid',
  kind: oneOf<StoredEdgeKind>(),
  resolution: oneOf<EdgeResolution | null>(),
  resolved_generation: 'int4?',
  data_ref: 'text?',
  created_at_ms: 'int8',
  created_by: 'text',
} as const

export type EdgeRow = RowOf<typeof edgeRow>

/** Follows `select`, from `ff_edge x`. */
export const edgeColumns = `
  x.flow_id, x.edge_id, x.upstream_id, x.downstream_id, x.kind, x.resolution, x.resolved_generation, x.data_ref,
  x.created_at_ms, x.created_by`

export function decodeEdge(partition: number, row: EdgeRow): Edge {
  return {
    flowId: formatFlowId(partition, row.flow_id),
    edgeId: row.edge_id,
    upstreamId: formatExecutionId(partition, row.upstream_id),
    downstreamId: formatExecutionId(partition, row.downstream_id),
    kind: row.kind,
    state: row.resolution ?? 'pending',
    resolvedGeneration: row.resolved_generation,
    dataRef: row.data_ref,
    createdAt: row.created_at_ms,
    createdBy: describeActor(row.created_by),
  }
}
