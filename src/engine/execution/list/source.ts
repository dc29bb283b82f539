// The filter of a list of executions, which all of its sources share.
import type { PublicState } from '../../../model/state.ts'
import { filteredOrder, sourceOf, type ListSource } from '../../kernel/list-source.ts'
import { descending } from '../../kernel/page.ts'
import type { ExecutionRow } from '../snapshot.ts'

/** A null field admits all rows. */
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

export type ExecutionSource = ListSource<ListFilter, ExecutionRow>

export const source = sourceOf<ListFilter, ExecutionRow>()

export function newestFirst(name: string) {
  return filteredOrder(name, { created_at_ms: descending.int, execution_id: descending.uuid })
}

/** `$1` to `$4` of a source that checks the filter row by row. */
export const filterParams = { namespace: 'text?', lane: 'text?', kind: 'text?', state: 'text?' } as const

export function filterValues({ namespace, lane, kind, state }: ListFilter) {
  return { namespace, lane, kind, state }
}

/** The filter as a condition on a row; `e` is the hot row and `q` its queue. */
export const filterCondition = `
    ($1::text is null or e.namespace = $1)
    and ($2::text is null or q.lane_id = $2)
    and ($3::text is null or q.execution_kind = $3)
    and ($4::text is null or e.public_state = $4::flowfabric.ff_public_state)`

/** `$1` to `$3` of a source that reads only the queues that the filter admits. */
export const queueParams = { namespace: 'text?', lane: 'text?', kind: 'text?' } as const

export function queueValues({ namespace, lane, kind }: ListFilter) {
  return { namespace, lane, kind }
}

/** The filter as a condition on a queue, `q`. */
export const queueCondition = `
    ($1::text is null or q.namespace = $1)
    and ($2::text is null or q.lane_id = $2)
    and ($3::text is null or q.execution_kind = $3)`
