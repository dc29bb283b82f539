// A list reads the one index that is in its order. Each source is a statement that takes the same filter and the key of
// the last row seen, and gives the rows after it; what its index does not decide, it checks row by row.
import type { CursorField } from '../../../model/cursor.ts'
import type { PublicState } from '../../../model/state.ts'
import type { Queries } from '../../../sql/sql.ts'
import type { ExecutionRow } from '../snapshot.ts'

/** Everything that narrows a list. Null admits all. */
export interface ListFilter {
  readonly namespace: string | null
  readonly lane: string | null
  readonly kind: string | null
  readonly state: PublicState | null
  readonly tagKey: string | null
  readonly tagValue: string | null
  readonly parentId: string | null
  readonly partition: number | null
  /** The first and the last uuid of the range. */
  readonly idPrefix: { readonly first: string; readonly last: string } | null
}

type Key = readonly (string | number)[]

export interface ListSource {
  /** Part of the cursor, so that a cursor of another list is refused. */
  readonly name: string
  readonly shape: readonly CursorField[]
  /** A key before all others. */
  readonly start: Key
  keyOf(row: ExecutionRow): Key
  read(sql: Queries, filter: ListFilter, after: Key, limit: number): Promise<ExecutionRow[]>
}

export const firstUuid = '00000000-0000-0000-0000-000000000000'
export const lastUuid = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
export const firstTime = -1
export const lastTime = Number.MAX_SAFE_INTEGER

/** `$1` to `$4` of a source that checks the filter row by row. */
export const filterParams = { namespace: 'text?', lane: 'text?', kind: 'text?', state: 'text?' } as const

export function filterValues({ namespace, lane, kind, state }: ListFilter) {
  return { namespace, lane, kind, state }
}

/** What a row must be; `e` is the hot row and `q` its queue. */
export const filterCondition = `
    ($1::text is null or e.namespace = $1)
    and ($2::text is null or q.lane_id = $2)
    and ($3::text is null or q.execution_kind = $3)
    and ($4::text is null or e.public_state = $4::flowfabric.ff_public_state)`

/** `$1` to `$3` of a source that reads only the queues which the filter admits. */
export const queueParams = { namespace: 'text?', lane: 'text?', kind: 'text?' } as const

export function queueValues({ namespace, lane, kind }: ListFilter) {
  return { namespace, lane, kind }
}

/** Which queues a filter admits; `q` is the queue. */
export const queueCondition = `
    ($1::text is null or q.namespace = $1)
    and ($2::text is null or q.lane_id = $2)
    and ($3::text is null or q.execution_kind = $3)`
