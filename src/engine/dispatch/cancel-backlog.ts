// Members that are to be cancelled: with their flow, because their siblings were enough, or with what they belonged to. One
// statement ends a set of them, whoever holds them; what is locked or was changed meanwhile stays in the backlog.
//
// A row names the generation that was seen alive, and a restart looks neither at it nor at the flow: it may even come between
// the snapshot that found the member and the commit of its row. So it is here that a cancel follows a member through its
// restarts. It does not follow one that has ended meanwhile: a replay is somebody's will, and later than the cancel.
import { attached } from '../../model/attached.ts'
import { statement } from '../../sql/statement.ts'
import { clockAfter } from '../kernel/after-lock.ts'
import { askedBy, askToStop, isAskedByCancelSql } from '../transition/ask-to-stop.ts'
import { endExecutionsWhole, endsWithoutMore } from '../transition/ending.ts'
import { calledOffAmong, inScope, dutyParams, dutyRow, takenUp } from '../kernel/candidate.ts'
import { pendingDispatchOfEnded } from '../kernel/pending-dispatch.ts'

export const cancelBacklogDuty = 'cancel-backlog'

/**
 * Whether `ff_exec_core k` lives the same life as in an earlier generation: it has restarted since, and never ended. A
 * generation that a restart has left has one attempt that says so, written with the execution's row.
 */
export function isSameLifeSql(k: string, generation: string): string {
  return `(${k}.generation = ${generation} or ${k}.generation - ${generation} = (
      select count(*)
      from flowfabric.ff_attempt a
      where a.execution_id = any (array[${k}.execution_id]) and a.outcome = 'restarted'
        and a.generation >= ${generation} and a.generation < ${k}.generation))`
}

/**
 * The end of an insert into the backlog, under the lock of a tree: a row that is there is written again, so that nobody who
 * holds it deletes it by an older policy. It waits for whoever does at this moment, who waits for no flow.
 */
export const orOweAgain = 'on conflict (execution_id, generation) do update set created_at_ms = b.created_at_ms'

export const dueCancels = `
select b.execution_id, b.generation, b.flow_id, b.reason, b.actor, b.xmin as row_xmin
from flowfabric.ff_cancel_backlog b
join flowfabric.ff_exec_core e on e.execution_id = any (array[b.execution_id])
where b.created_at_ms > 0
  and ${inScope(cancelBacklogDuty)}
order by b.created_at_ms, b.execution_id
limit $1
for update of b skip locked`

export const cancelBacklogged = statement({
  name: `duty.${cancelBacklogDuty}`,
  params: dutyParams,
  row: dutyRow,
  text: `
with due as materialized (${dueCancels}
),
named as materialized (
  select b.execution_id, b.generation, b.flow_id, b.reason, b.actor, b.xmin as row_xmin
  from unnest($5::uuid[]) as o (execution_id)
  join flowfabric.ff_cancel_backlog b on b.execution_id = any (array[o.execution_id])
  for update of b skip locked
),
candidate as materialized (
  select c.execution_id, c.generation, c.reason, c.actor, c.row_xmin, e.xmin as seen_xmin,
    -- Then one that has begun since goes on; a member that stands for a flow never runs.
    c.reason = 'flow_cancelled' and e.attached & ${attached.subFlow} = 0
      and coalesce(f.cancel_policy = 'cancel_pending', false) as is_only_pending
  from (select * from due union all select * from named) c
  join flowfabric.ff_exec_core e on e.execution_id = any (array[c.execution_id])
  left join flowfabric.ff_flow_core f on f.flow_id = any (array[c.flow_id])
),
-- Whoever cancels more of a flow writes to the rows that he finds, with the policy: one that is not as it was when this
-- statement began is not spared by the policy of that time, and is met again.
unchanged as materialized (
  select *
  from candidate c
  where not c.is_only_pending or c.row_xmin = (
    select b.xmin
    from flowfabric.ff_cancel_backlog b
    where b.execution_id = any (array[c.execution_id]) and b.generation = c.generation)
),
target as materialized (
  select e.*, c.generation as backlog_generation, c.reason, c.actor, c.is_only_pending
  from unchanged c
  join flowfabric.ff_exec_core e on e.execution_id = any (array[c.execution_id]) and e.xmin = c.seen_xmin
  order by c.execution_id
  for no key update of e skip locked
),
${clockAfter('target')},
looked as materialized (
  select t.*, c.now_ms
  from target t
  cross join clock c
),
-- One that has restarted may have a row for each of its generations.
leaving as materialized (
  select distinct on (k.execution_id) k.*, ${isAskedByCancelSql('k')} as cleans_up
  from looked k
  where k.lifecycle_phase <> 'terminal' and ${isSameLifeSql('k', 'k.backlog_generation')}
    and not (k.is_only_pending and k.started_at_ms is not null)
  order by k.execution_id, k.backlog_generation desc
),
asking as materialized (
  select k.*, ${askedBy('k', 'null::flowfabric.ff_terminal_outcome', 'k.reason', 'k.actor')}
  from leaving k
  where k.cleans_up and k.cancel_requested_at_ms is null
),${askToStop},
ending as materialized (
  select k.*, 'cancelled'::flowfabric.ff_terminal_outcome as ending_outcome, k.reason as ending_reason,
    k.actor as ending_actor, k.now_ms as ended_at_ms, ${endsWithoutMore}
  from leaving k
  where not k.cleans_up
),
${endExecutionsWhole},
acknowledged as (
  delete from flowfabric.ff_cancel_backlog b
  using looked k
  where b.execution_id = any (array[k.execution_id]) and b.generation = k.backlog_generation
),
${takenUp(cancelBacklogDuty, 'looked')}
select (select count(*) from candidate) as seen, (select count(*) from looked) as processed,
  coalesce((select array_agg(distinct queue_id) from asked_ready), '{}'::int4[]) as ready_queue_ids, ${pendingDispatchOfEnded} as owes,
  ${calledOffAmong('leaving')} as called_off_ids`,
})
