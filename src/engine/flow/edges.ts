// The edges of a flow in the order of their ids: all of them, those that lead from a member, or those that lead to it.
import { decodeCursor, encodeCursor } from '../../model/cursor.ts'
import { EngineError } from '../../model/errors.ts'
import { parseExecutionId, parseFlowId } from '../../model/id.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { firstUuid } from '../execution/list/source.ts'
import { pageLimit } from '../kernel/page.ts'
import { decodeEdge, edgeColumns, edgeRow, type Edge, type EdgeRow } from './edge.ts'

export interface ListEdgesRequest {
  /** Only those that lead from this member. */
  readonly from?: string
  /** Only those that lead to this member. */
  readonly to?: string
  /** Nought is an empty page, more than 1,000 is 1,000; 50 when left out. */
  readonly limit?: number
  /** `nextCursor` of the page before, with the same member. */
  readonly cursor?: string
}

export interface EdgePage {
  readonly edges: readonly Edge[]
  readonly nextCursor: string | null
}

const params = { flow_id: 'uuid', partition_key: 'int2', namespace: 'text?', after: 'uuid', limit: 'int8' } as const

const ofFlow = statement({
  name: 'flow.edges',
  params,
  row: edgeRow,
  text: `
select ${edgeColumns}
from flowfabric.ff_flow_core f
join flowfabric.ff_edge x on x.flow_id = f.flow_id
where f.flow_id = $1 and f.partition_key = $2 and ($3::text is null or f.namespace = $3)
  and x.flow_id = $1 and x.edge_id > $4
order by x.edge_id
limit $5`,
})

const fromMember = statement({
  name: 'flow.edges.from',
  params: { ...params, member_id: 'uuid' },
  row: edgeRow,
  text: `
select ${edgeColumns}
from flowfabric.ff_flow_core f
join flowfabric.ff_edge x on x.flow_id = f.flow_id
where f.flow_id = $1 and f.partition_key = $2 and ($3::text is null or f.namespace = $3)
  and x.upstream_id = $6 and x.edge_id > $4
order by x.edge_id
limit $5`,
})

const toMember = statement({
  name: 'flow.edges.to',
  params: { ...params, member_id: 'uuid' },
  row: edgeRow,
  text: `
select ${edgeColumns}
from flowfabric.ff_flow_core f
join flowfabric.ff_edge x on x.flow_id = f.flow_id
where f.flow_id = $1 and f.partition_key = $2 and ($3::text is null or f.namespace = $3)
  and x.downstream_id = $6 and x.edge_id > $4
order by x.edge_id
limit $5`,
})

/** Empty for a flow or member that does not exist, or is not the caller's. */
export async function listEdges(
  sql: Sql,
  caller: Caller,
  flowId: string,
  request: ListEdgesRequest = {},
): Promise<EdgePage> {
  refuseUnknownFields('flows.edges', request, ['from', 'to', 'limit', 'cursor'])
  const { from, to, cursor } = request
  if (from !== undefined && to !== undefined) {
    const sentence = 'from and to are both given; pass only one of them'
    throw new EngineError('invalid_input', sentence, { fields: ['from', 'to'] })
  }
  const { partition, uuid } = parseFlowId(flowId)
  const listName = `edges of ${uuid}, ${from ?? ''} to ${to ?? ''}`
  const [after] = cursor === undefined ? [firstUuid] : decodeCursor(listName, cursor, ['uuid'])
  const limit = pageLimit(request.limit)
  const rows = await readEdges(sql, from, to, {
    flow_id: uuid,
    partition_key: partition,
    namespace: caller.namespace,
    after: after as string,
    limit: limit + 1,
  })
  const edges = rows.slice(0, limit).map((row) => decodeEdge(partition, row))
  const hasMore = edges.length > 0 && rows.length > limit
  return { edges, nextCursor: hasMore ? encodeCursor(listName, [edges.at(-1)!.edgeId]) : null }
}

interface Page {
  readonly flow_id: string
  readonly partition_key: number
  readonly namespace: string | null
  readonly after: string
  readonly limit: number
}

// Members share their flow's partition, so an id with another N is none.
async function readEdges(sql: Sql, from: string | undefined, to: string | undefined, page: Page): Promise<EdgeRow[]> {
  const member = from ?? to
  if (member === undefined) return sql.query(ofFlow, page)
  const { partition, uuid } = parseExecutionId(member)
  if (partition !== page.partition_key) return []
  return sql.query(to === undefined ? fromMember : toMember, { ...page, member_id: uuid })
}
