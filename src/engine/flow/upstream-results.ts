// The results that a member can read: for each inbound edge, the ending and the result of its upstream. A resolved edge
// shows the ending that resolved it, also if its upstream has been replayed since.
import type { EdgeResolution, Ending, EdgeKind } from '../../model/edge-group.ts'
import { EngineError } from '../../model/errors.ts'
import { listOf, text } from '../../model/field-kinds.ts'
import { checkFields, type RequestOf } from '../../model/field.ts'
import { formatExecutionId, type ExecutionId } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { oneOf, statement, type RowOf } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { readNamespace } from '../kernel/read-namespace.ts'
import { ascending, checkPage, orderBy, pageFields, pageLimit } from '../kernel/page.ts'
import { visibleExecution } from '../kernel/visible.ts'

export const upstreamResultsFields = {
  /** Only results with one of these names. */
  names: listOf(text({ minBytes: 1, maxBytes: Math.max(limits.memberNameBytes, limits.dataRefBytes) }), {
    min: 1,
    allowed: 'an array of one or more names, or omitted',
  }).optional(),
  ...pageFields,
}

/** 1 to 1,000 results; 100 by default. A page with 16 MiB of results ends earlier. */
export interface UpstreamResultsRequest extends RequestOf<typeof upstreamResultsFields> {}

export interface UpstreamResult {
  readonly edgeId: string
  /** The edge's, else the upstream member's. */
  readonly name: string
  readonly upstreamId: ExecutionId
  readonly kind: EdgeKind
  readonly state: 'pending' | EdgeResolution
  /** How the upstream ended; null while the edge is pending. */
  readonly outcome: Ending | null
  /** Null when it ended without a result, or has not ended. */
  readonly result: Uint8Array | null
  readonly encoding: string | null
}

export interface UpstreamResultPage {
  readonly results: readonly UpstreamResult[]
  readonly nextCursor: string | null
}

// A past generation has left its result and the resolution of its edge; the current one has its ending too.
const readUpstream = statement({
  name: 'flow.upstream-results',
  params: { execution_id: 'uuid', edge_id: 'uuid', wanted_names: 'text[]', limit: 'int8', most_bytes: 'int8' },
  row: {
    edge_id: 'uuid',
    name: 'text',
    upstream_id: 'uuid',
    kind: oneOf<EdgeKind>(),
    resolution: oneOf<EdgeResolution | null>(),
    outcome: oneOf<Ending | null>(),
    result: 'bytea?',
    result_encoding: 'text?',
    page_count: 'int8',
  },
  text: `
with page as materialized (
  select x.edge_id, x.flow_id, x.upstream_id, x.kind, x.resolution, x.resolved_generation,
    coalesce(x.data_ref, m.member_name) as name
  from flowfabric.ff_edge x
  join flowfabric.ff_flow_member m on m.flow_id = any (array[x.flow_id]) and m.execution_id = any (array[x.upstream_id])
  where x.downstream_id = $1 and x.edge_id > $2 and x.kind <> 'start'
    and (cardinality($3::text[]) = 0 or coalesce(x.data_ref, m.member_name) = any ($3))
  order by x.edge_id
  limit $4
)
select edge_id, name, upstream_id, kind, resolution, outcome, result, result_encoding, page_count
from (
  select p.edge_id, p.name, p.upstream_id, p.kind, p.resolution,
    case
      when p.resolved_generation = e.generation then nullif(e.terminal_outcome, 'none')
      when p.resolution = 'satisfied' and (p.kind = 'success_only' or r.execution_id is not null)
        then 'success'::flowfabric.ff_terminal_outcome
    end as outcome,
    r.result, r.result_encoding,
    sum(coalesce(octet_length(r.result), 0)) over (order by p.edge_id) - coalesce(octet_length(r.result), 0)
      as bytes_before,
    count(*) over () as page_count
  from page p
  left join flowfabric.ff_exec_core e on e.execution_id = any (array[p.upstream_id])
  left join flowfabric.ff_exec_result r
    on r.execution_id = any (array[p.upstream_id]) and r.generation = any (array[p.resolved_generation])
) one
where bytes_before < $5
order by edge_id`,
})

type UpstreamRow = RowOf<typeof readUpstream.row>

const defaultLimit = 100
const mostBytes = limits.batchBodyBytes

export async function upstreamResults(
  sql: Sql,
  caller: Caller,
  executionId: string,
  request: UpstreamResultsRequest = {},
): Promise<UpstreamResultPage> {
  const { names } = checkFields('flows.upstreamResults', upstreamResultsFields, request)
  const execution = visibleExecution(caller, executionId)
  const { execution_id, partition_key: partition } = execution
  const order = orderBy(`upstream of ${execution_id}`, { edge_id: ascending.uuid })
  const { limit, after } = checkPage(request, order, (given = defaultLimit) => Math.max(1, pageLimit(given)))
  const [[owner], rows] = await sql.pipeline([
    call(readNamespace, execution),
    call(readUpstream, { execution_id, ...after, wanted_names: names ?? [], limit: limit + 1, most_bytes: mostBytes }),
  ])
  if (owner === undefined) {
    throw new EngineError('execution_not_found', `execution ${executionId} does not exist`, { executionId })
  }
  const shown = rows.slice(0, limit)
  const last = shown.at(-1)
  const hasMore = last !== undefined && last.page_count > shown.length
  return {
    results: shown.map((row) => decodeResult(partition, row)),
    nextCursor: hasMore ? order.encode(last) : null,
  }
}

function decodeResult(partition: number, row: UpstreamRow): UpstreamResult {
  return {
    edgeId: row.edge_id,
    name: row.name,
    upstreamId: formatExecutionId(partition, row.upstream_id),
    kind: row.kind,
    state: row.resolution ?? 'pending',
    outcome: row.outcome,
    result: row.result,
    encoding: row.result_encoding,
  }
}
