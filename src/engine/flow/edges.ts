// The edges of a flow in the order of their ids: all of them, those that lead from a member, or those that lead to it.
import { EngineError } from '../../model/errors.ts'
import { id } from '../../model/field-kinds.ts'
import { checkFields, type RequestOf } from '../../model/field.ts'
import { parseExecutionId } from '../../model/id.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { ascending, orderBy, pageFields, readPage } from '../kernel/page.ts'
import { visibleFlow } from '../kernel/visible.ts'
import { decodeEdge, edgeColumns, edgeRow, type Edge } from './edge.ts'

export const listEdgesFields = {
  /** Only edges that lead from this member. */
  from: id('execution').optional(),
  /** Only edges that lead to this member. */
  to: id('execution').optional(),
  ...pageFields,
}

export interface ListEdgesRequest extends RequestOf<typeof listEdgesFields> {}

export interface EdgePage {
  readonly edges: readonly Edge[]
  readonly nextCursor: string | null
}

// Each column has an index in the order of edges.
function edgesBy(name: string, column: 'flow_id' | 'upstream_id' | 'downstream_id') {
  return statement({
    name,
    params: {
      flow_id: 'uuid',
      partition_key: 'int2',
      namespace: 'text?',
      edge_id: 'uuid',
      limit: 'int8',
      end_id: 'uuid',
    },
    row: edgeRow,
    text: `
select ${edgeColumns}
from flowfabric.ff_flow_core f
join flowfabric.ff_edge x on x.flow_id = f.flow_id
where f.flow_id = $1 and f.partition_key = $2 and ($3::text is null or f.namespace = $3)
  and x.${column} = $6 and x.edge_id > $4
order by x.edge_id
limit $5`,
  })
}

const ofFlow = edgesBy('flow.edges', 'flow_id')
const fromMember = edgesBy('flow.edges.from', 'upstream_id')
const toMember = edgesBy('flow.edges.to', 'downstream_id')

/** Empty for a flow or member that does not exist, or is not the caller's. */
export async function listEdges(
  sql: Sql,
  caller: Caller,
  flowId: string,
  request: ListEdgesRequest = {},
): Promise<EdgePage> {
  checkFields('flows.edges', listEdgesFields, request)
  const { from, to } = request
  if (from !== undefined && to !== undefined) {
    const sentence = 'from and to are both given; pass only one of them'
    throw new EngineError('invalid_input', sentence, { fields: ['from', 'to'] })
  }
  const flow = visibleFlow(caller, flowId)
  const partition = flow.partition_key
  const order = orderBy(`edges of ${flow.flow_id}, ${from ?? ''} to ${to ?? ''}`, { edge_id: ascending.uuid })
  const member = from ?? to
  const end = member === undefined ? { partition, uuid: flow.flow_id } : parseExecutionId(member)
  const ofMember = to === undefined ? fromMember : toMember
  const { rows, nextCursor } = await readPage(request, order, (after, limit) => {
    // Members share their flow's partition, so an id with another N is none.
    if (end.partition !== partition) return []
    return sql.query(member === undefined ? ofFlow : ofMember, { ...flow, ...after, limit, end_id: end.uuid })
  })
  return { edges: rows.map((row) => decodeEdge(partition, row)), nextCursor }
}
