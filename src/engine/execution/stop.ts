// What was asked to stop and whose holder leaves it ends cancelled, as whoever asked said. For executions that an earlier
// statement of the transaction has locked and found held.
import { call } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { owedByEnded } from '../dispatch/owed.ts'
import type { Stopped } from '../suspension/judge.ts'
import { endExecutionsWhole, endsWithoutMore } from './ending.ts'

const stopStatement = statement({
  name: 'execution.stop',
  params: { execution_ids: 'uuid[]', ended_ats_ms: 'int8[]', actors: 'text[]' },
  row: { owes: 'int4' },
  text: `
with ending as materialized (
  select e.execution_id, e.ownership_state, e.eligibility_state, e.attempt_state, e.queue_id, e.priority, e.rank,
    'cancelled'::flowfabric.ff_terminal_outcome as ending_outcome,
    coalesce(e.cancellation_reason, 'cancel_requested') as ending_reason, coalesce(e.cancelled_by, i.actor) as ending_actor,
    i.ended_at_ms, ${endsWithoutMore}
  from unnest($1::uuid[], $2::int8[], $3::text[]) as i (execution_id, ended_at_ms, actor)
  join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
),
${endExecutionsWhole}
select ${owedByEnded} as owes`,
})

/** Of what the call has answered. */
export function owesOf(rows: readonly unknown[] | undefined): number {
  return (rows as readonly { readonly owes: number }[] | undefined)?.[0]?.owes ?? 0
}

export function stopCall(stopped: readonly Stopped[]) {
  return call(stopStatement, {
    execution_ids: stopped.map(({ item }) => item.uuid),
    ended_ats_ms: stopped.map(({ row }) => row.now_ms),
    actors: stopped.map(({ item }) => item.actor),
  })
}
