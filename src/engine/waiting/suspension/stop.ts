// Stops an execution that was asked to stop when its holder wants to suspend it. It ends, or if it has a compensation,
// it returns to the queue for its clean-up. An earlier statement of the transaction has locked these executions and
// checked their leases.
import { call } from '../../../sql/sql.ts'
import { statement } from '../../../sql/statement.ts'
import { pendingDispatchOfEnded } from '../../kernel/pending-dispatch.ts'
import type { Stopped } from './evaluate.ts'
import { leaveHolderWhole } from '../../transition/requeue.ts'

const stopStatement = statement({
  name: 'execution.stop',
  params: { execution_ids: 'uuid[]', ended_ats_ms: 'int8[]', actors: 'text[]' },
  row: { pending_dispatch: 'int4', ready_queue_ids: 'int4[]' },
  text: `
with leaving as materialized (
  select e.*, i.ended_at_ms as left_at_ms, i.actor as left_actor, 'cancel_requested' as left_reason,
    'released'::flowfabric.ff_event_type as leave_event,
    'revoked'::flowfabric.ff_lease_effect as leave_effect,
    'attempt_interrupted'::flowfabric.ff_attempt_state as next_attempt_state,
    'cancelled'::flowfabric.ff_interruption as next_interruption,
    null::int8 as next_at_ms,
    0 as next_expiry_count,
    'interrupted' as attempt_outcome,
    null::text as failure_category,
    null::bytea as error,
    null::text as error_encoding,
    'none'::flowfabric.ff_terminal_outcome as forced_outcome
  from unnest($1::uuid[], $2::int8[], $3::text[]) as i (execution_id, ended_at_ms, actor)
  join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
),
${leaveHolderWhole}
select ${pendingDispatchOfEnded} as pending_dispatch, coalesce((select array_agg(distinct queue_id) from requeued), '{}'::int4[]) as ready_queue_ids`,
})

export interface StoppedRow {
  readonly pending_dispatch: number
  readonly ready_queue_ids: readonly number[]
}

/** The result of `stopCall`. */
export function stoppedIn(rows: readonly unknown[] | undefined): StoppedRow {
  return (rows as readonly StoppedRow[] | undefined)?.[0] ?? { pending_dispatch: 0, ready_queue_ids: [] }
}

export function stopCall(stopped: readonly Stopped[]) {
  return call(stopStatement, {
    execution_ids: stopped.map(({ item }) => item.uuid),
    ended_ats_ms: stopped.map(({ row }) => row.now_ms),
    actors: stopped.map(({ item }) => item.actor),
  })
}
