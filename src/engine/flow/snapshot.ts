// A flow as a reader sees it. `describe`, `list` and `wait` select the same columns, so that one decoder serves them
// all.
//
// The resolver has counted a part of the endings, and each later ending has a row in `ff_dispatch`. Both are read in
// one statement, so the sum is exact at every moment. A row may also belong to an ending that is counted already, for a
// later edge.
import { describeActor } from '../../model/actor.ts'
import { attached } from '../../model/attached.ts'
import { formatExecutionId, formatFlowId, type ExecutionId, type FlowId } from '../../model/id.ts'
import { sortedTags } from '../../model/tag.ts'
import { oneOf, type RowOf } from '../../sql/statement.ts'
import type { CancelPolicy } from './cancel.ts'

export const flowStates = ['open', 'running', 'completed', 'failed', 'cancelled'] as const

/**
 * `open` until a member, of it or of an inner flow, starts or ends; `cancelled` from the cancel on, though members may
 * still have to end.
 */
export type FlowState = (typeof flowStates)[number]

export interface FlowCancellation {
  readonly policy: CancelPolicy
  readonly reason: string | null
  readonly by: string | null
  readonly at: number
}

/** How many members have ended, by outcome. */
export interface EndedCounts {
  readonly completed: number
  readonly failed: number
  readonly cancelled: number
  readonly expired: number
  readonly skipped: number
}

export interface Flow {
  readonly flowId: FlowId
  readonly namespace: string
  readonly kind: string
  readonly state: FlowState
  /** The outermost flow; itself, unless it is within another. */
  readonly rootFlowId: FlowId
  /** The member of another flow that it represents. */
  readonly memberId: ExecutionId | null
  readonly creator: string
  /** Increases with every change of the graph. */
  readonly graphRevision: number
  readonly memberCount: number
  readonly edgeCount: number
  readonly ended: EndedCounts
  readonly tags: Readonly<Record<string, string>>
  readonly cancellation: FlowCancellation | null
  /** Times are milliseconds since 1970, by the database's clock. */
  readonly createdAt: number
  readonly lastMutationAt: number
  /** Since when it accepts no more members and edges. */
  readonly closedAt: number | null
  /** Closed, and all its members have ended. */
  readonly endedAt: number | null
}

export const flowRow = {
  flow_id: 'uuid',
  partition_key: 'int2',
  namespace: 'text',
  flow_kind: 'text',
  state: oneOf<FlowState>(),
  root_flow_id: 'uuid',
  member_id: 'uuid?',
  creator_identity: 'text',
  graph_revision: 'int8',
  member_count: 'int4',
  edge_count: 'int4',
  success_count: 'int8',
  failed_count: 'int8',
  cancelled_count: 'int8',
  expired_count: 'int8',
  skipped_count: 'int8',
  tags: 'jsonb',
  cancel_policy: oneOf<CancelPolicy | null>(),
  cancel_reason: 'text?',
  cancelled_by: 'text?',
  created_at_ms: 'int8',
  last_mutation_at_ms: 'int8',
  closed_at_ms: 'int8?',
  cancelled_at_ms: 'int8?',
  ended_at_ms: 'int8?',
} as const

export type FlowRow = RowOf<typeof flowRow>

/** Follows `select`; the joins of `flowJoins` provide the names. */
export const flowColumns = `
  f.flow_id, f.partition_key, f.namespace, f.flow_kind, s.state, f.root_flow_id, f.member_id, f.creator_identity,
  f.graph_revision, f.member_count, f.edge_count, f.success_count + o.success_count as success_count,
  f.failed_count + o.failed_count as failed_count, f.cancelled_count + o.cancelled_count as cancelled_count,
  f.expired_count + o.expired_count as expired_count, f.skipped_count + o.skipped_count as skipped_count,
  coalesce(t.tags, '{}') as tags, f.cancel_policy, f.cancel_reason, f.cancelled_by, f.created_at_ms,
  f.last_mutation_at_ms, f.closed_at_ms, f.cancelled_at_ms, f.ended_at_ms`

/**
 * Follows `from ff_flow_core f`. A flow without an ending is running when some member has started, of it or of its
 * inner flows, which a member only represents. Members are read only for such flows, until the first that has started.
 */
export const flowJoins = `
cross join lateral (
  select count(*) filter (where d.outcome = 'success') as success_count,
    count(*) filter (where d.outcome = 'failed') as failed_count,
    count(*) filter (where d.outcome = 'cancelled') as cancelled_count,
    count(*) filter (where d.outcome = 'expired') as expired_count,
    count(*) filter (where d.outcome = 'skipped') as skipped_count,
    count(*) as owed_count
  from flowfabric.ff_dispatch d
  join flowfabric.ff_exec_core e on e.execution_id = any (array[d.execution_id]) and e.generation = d.generation
  where d.flow_id = f.flow_id and d.outcome <> 'none' and not d.is_counted
) o
cross join lateral (
  select case
    when f.cancelled_at_ms is not null then 'cancelled'
    when f.ended_at_ms is not null then case f.outcome when 'success' then 'completed' else 'failed' end
    when f.success_count + f.failed_count + f.cancelled_count + f.expired_count + f.skipped_count + o.owed_count > 0
      then 'running'
    when exists (
      with recursive within (flow_id) as (
        select f.flow_id
        union all
        select m.sub_flow_id
        from within w
        join flowfabric.ff_flow_member m on m.flow_id = any (array[w.flow_id])
        where m.sub_flow_id is not null
      )
      select
      from within w
      cross join lateral (
        select
        from flowfabric.ff_flow_member m
        join flowfabric.ff_exec_core e on e.execution_id = any (array[m.execution_id])
        where m.flow_id = w.flow_id
          and (e.started_at_ms is not null and e.attached & ${attached.subFlow} = 0 or e.lifecycle_phase = 'terminal')
        limit 1
      ) e
    ) then 'running'
    else 'open'
  end as state
) s
left join lateral (
  select jsonb_object_agg(g.tag_key, g.tag_value) as tags
  from flowfabric.ff_flow_tag g
  where g.flow_id = any (array[f.flow_id])
) t on true`

export function decodeFlow(row: FlowRow): Flow {
  return {
    flowId: formatFlowId(row.partition_key, row.flow_id),
    namespace: row.namespace,
    kind: row.flow_kind,
    state: row.state,
    rootFlowId: formatFlowId(row.partition_key, row.root_flow_id),
    memberId: row.member_id === null ? null : formatExecutionId(row.partition_key, row.member_id),
    creator: row.creator_identity,
    graphRevision: row.graph_revision,
    memberCount: row.member_count,
    edgeCount: row.edge_count,
    ended: {
      completed: row.success_count,
      failed: row.failed_count,
      cancelled: row.cancelled_count,
      expired: row.expired_count,
      skipped: row.skipped_count,
    },
    tags: sortedTags(row.tags as Record<string, string>),
    cancellation: decodeCancellation(row),
    createdAt: row.created_at_ms,
    lastMutationAt: row.last_mutation_at_ms,
    closedAt: row.closed_at_ms,
    endedAt: row.ended_at_ms,
  }
}

function decodeCancellation(row: FlowRow): FlowCancellation | null {
  if (row.cancelled_at_ms === null) return null
  return {
    policy: row.cancel_policy!,
    reason: row.cancel_reason,
    by: row.cancelled_by === null ? null : describeActor(row.cancelled_by),
    at: row.cancelled_at_ms,
  }
}
