import { checkFields } from '../../model/field.ts'
import type { Sql } from '../../sql/sql.ts'
import { oneOf, statement, type RowOf } from '../../sql/statement.ts'
import { namespaceToRead, type Caller } from '../kernel/caller.ts'
import { ascending, orderBy, namespacePageFields, readPage, type NamespacePageRequest } from '../kernel/page.ts'

export type LaneState = 'active' | 'paused' | 'draining' | 'disabled'

export interface Lane {
  readonly namespace: string
  readonly lane: string
  readonly state: LaneState
  readonly registeredAt: number
  readonly registeredBy: string
}

export type ListLanesRequest = NamespacePageRequest

export interface LanePage {
  readonly lanes: readonly Lane[]
  readonly nextCursor: string | null
}

const listStatement = statement({
  name: 'lane.list',
  params: { in_namespace: 'text?', namespace: 'text', lane_id: 'text', limit: 'int8' },
  row: {
    namespace: 'text',
    lane_id: 'text',
    lane_state: oneOf<LaneState>(),
    registered_at_ms: 'int8',
    registered_by: 'text',
  },
  text: `
select namespace, lane_id, lane_state, registered_at_ms, registered_by
from flowfabric.ff_lane_registry
where ($1::text is null or namespace = $1)
  and (namespace, lane_id) > ($2, $3)
order by namespace, lane_id
limit $4`,
})

const order = orderBy('lanes', { namespace: ascending.text, lane_id: ascending.text })

export async function listLanes(sql: Sql, caller: Caller, request: ListLanesRequest): Promise<LanePage> {
  checkFields('lanes.list', namespacePageFields, request)
  const { namespace, isForeign } = namespaceToRead(caller, request.namespace)
  const { rows, nextCursor } = await readPage(request, order, (after, limit) =>
    isForeign ? [] : sql.query(listStatement, { in_namespace: namespace, ...after, limit }),
  )
  return { lanes: rows.map(decodeLane), nextCursor }
}

function decodeLane(row: RowOf<typeof listStatement.row>): Lane {
  return {
    namespace: row.namespace,
    lane: row.lane_id,
    state: row.lane_state,
    registeredAt: row.registered_at_ms,
    registeredBy: row.registered_by,
  }
}
