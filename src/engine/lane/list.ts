import { decodeCursor, encodeCursor } from '../../model/cursor.ts'
import { checkNamespace } from '../../model/name.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import type { Sql } from '../../sql/sql.ts'
import { oneOf, statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { pageLimit } from '../kernel/page.ts'

export type LaneState = 'active' | 'paused' | 'draining' | 'disabled'

export interface Lane {
  readonly namespace: string
  readonly lane: string
  readonly state: LaneState
  readonly registeredAt: number
  readonly registeredBy: string
}

export interface ListLanesRequest {
  readonly namespace?: string
  readonly limit?: number
  readonly cursor?: string
}

export interface LanePage {
  readonly lanes: readonly Lane[]
  readonly nextCursor: string | null
}

const listStatement = statement({
  name: 'lane.list',
  params: { namespace: 'text?', wanted: 'text?', after_namespace: 'text', after_lane: 'text', limit: 'int8' },
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
  and ($2::text is null or namespace = $2)
  and (namespace, lane_id) > ($3, $4)
order by namespace, lane_id
limit $5`,
})

export async function listLanes(sql: Sql, caller: Caller, request: ListLanesRequest): Promise<LanePage> {
  refuseUnknownFields('lanes.list', request, ['namespace', 'limit', 'cursor'])
  const { namespace, cursor } = request
  const limit = pageLimit(request.limit)
  const wanted = namespace === undefined ? null : checkNamespace(namespace)
  const [afterNamespace, afterLane] = cursor === undefined ? ['', ''] : decodeCursor('lanes', cursor, ['text', 'text'])
  if (limit === 0) return { lanes: [], nextCursor: null }
  const rows = await sql.query(listStatement, {
    namespace: caller.namespace,
    wanted,
    after_namespace: afterNamespace as string,
    after_lane: afterLane as string,
    limit: limit + 1,
  })
  const lanes = rows.slice(0, limit).map((row) => ({
    namespace: row.namespace,
    lane: row.lane_id,
    state: row.lane_state,
    registeredAt: row.registered_at_ms,
    registeredBy: row.registered_by,
  }))
  const last = lanes.at(-1)
  const hasMore = rows.length > limit && last !== undefined
  return { lanes, nextCursor: hasMore ? encodeCursor('lanes', [last.namespace, last.lane]) : null }
}
