import { parseEdgeId } from '../../model/id.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { visibleFlow } from '../kernel/visible.ts'
import { decodeEdge, edgeColumns, edgeRow, type Edge } from './edge.ts'

const describeStatement = statement({
  name: 'flow.describe-edge',
  params: { flow_id: 'uuid', partition_key: 'int2', namespace: 'text?', edge_id: 'uuid' },
  row: edgeRow,
  text: `
select ${edgeColumns}
from flowfabric.ff_flow_core f
join flowfabric.ff_edge x on x.flow_id = any (array[f.flow_id]) and x.edge_id = $4
where f.flow_id = $1 and f.partition_key = $2 and ($3::text is null or f.namespace = $3)`,
})

export async function describeEdge(sql: Sql, caller: Caller, flowId: string, edgeId: string): Promise<Edge | null> {
  const flow = visibleFlow(caller, flowId)
  const [row] = await sql.query(describeStatement, { ...flow, edge_id: parseEdgeId(edgeId) })
  return row === undefined ? null : decodeEdge(flow.partition_key, row)
}
