// Writes flows that count members, begin, close, are cancelled or end, under the lock of the outermost flow. The changes were decided
// before (`src/model/resolve-endings.ts`).
import type { FlowChange } from '../../model/resolve-endings.ts'
import { call } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { changeFlows } from './flow-ending.ts'

const change = statement({
  name: 'flow.change',
  params: {
    flow_ids: 'uuid[]',
    success_counts: 'int4[]',
    failed_counts: 'int4[]',
    cancelled_counts: 'int4[]',
    expired_counts: 'int4[]',
    skipped_counts: 'int4[]',
    are_closing: 'bool[]',
    are_beginning: 'bool[]',
    cancel_policies: 'text?[]',
    flow_outcomes: 'text[]',
    cancel_reason: 'text?',
    actor: 'text',
    now_ms: 'int8',
  },
  row: {},
  text: `
with changing as materialized (
  select i.flow_id, i.success, i.failed, i.cancelled, i.expired, i.skipped, i.closes, i.begins,
    i.marks::flowfabric.ff_cancel_policy as marks, i.marks is not null as is_marked,
    i.ending_as::flowfabric.ff_terminal_outcome as ending_as, i.ending_as <> 'none' as is_ending,
    $11::text as mark_reason, $12::text as change_actor, $13::int8 as now_ms
  from unnest($1::uuid[], $2::int4[], $3::int4[], $4::int4[], $5::int4[], $6::int4[], $7::bool[], $8::bool[], $9::text[], $10::text[])
    as i (flow_id, success, failed, cancelled, expired, skipped, closes, begins, marks, ending_as)
),
${changeFlows('changing')}
select
from changed_flow
where false`,
})

export interface ChangedBy {
  readonly actor: string
  /** Of flows that are cancelled. */
  readonly cancelReason: string | null
  /** Read from the clock after all locks. */
  readonly now: number
}

export function changeFlowsCall(changes: readonly FlowChange[], { actor, cancelReason, now }: ChangedBy) {
  return call(change, {
    flow_ids: changes.map(({ flowId }) => flowId),
    success_counts: changes.map(({ counts }) => counts.success),
    failed_counts: changes.map(({ counts }) => counts.failed),
    cancelled_counts: changes.map(({ counts }) => counts.cancelled),
    expired_counts: changes.map(({ counts }) => counts.expired),
    skipped_counts: changes.map(({ counts }) => counts.skipped),
    are_closing: changes.map(({ closes }) => closes),
    are_beginning: changes.map(({ begins }) => begins),
    cancel_policies: changes.map(({ marks }) => marks),
    flow_outcomes: changes.map(({ endsAs }) => endsAs),
    cancel_reason: cancelReason,
    actor,
    now_ms: now,
  })
}

const restate = statement({
  name: 'flow-ending.restate',
  params: { execution_ids: 'uuid[]', reasons: 'text[]' },
  row: {},
  text: `
update flowfabric.ff_exec_core e
set failure_reason = i.reason
from unnest($1::uuid[], $2::text[]) as i (execution_id, reason)
where e.execution_id = any (array[i.execution_id])`,
})

/** The reasons of skips, corrected. The event of a skip keeps the reason that was known then. */
export function restateCall(reasons: ReadonlyMap<string, string>) {
  return call(restate, { execution_ids: [...reasons.keys()], reasons: [...reasons.values()] })
}
