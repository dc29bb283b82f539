// Members that are to be cancelled: with their flow, because their siblings were enough, or with what they belonged to. One
// statement ends a set of them, whoever holds them; what is locked or was changed meanwhile stays in the backlog.
import { attached } from '../../model/attached.ts'
import { statement } from '../../sql/statement.ts'
import { endExecutionsWhole, endsWithoutMore } from '../execution/ending.ts'
import { calledOffAmong, inScope, sweepParams, sweepRow, takenUp } from '../reconcilers/candidate.ts'
import { owedByEnded } from './owed.ts'

export const cancelBacklogDuty = 'cancel-backlog'

export const dueCancels = `
select b.execution_id, b.generation, b.flow_id, b.reason, b.actor
from flowfabric.ff_cancel_backlog b
join flowfabric.ff_exec_core e on e.execution_id = any (array[b.execution_id])
where b.created_at_ms >= 0
  and ${inScope(cancelBacklogDuty)}
order by b.created_at_ms, b.execution_id
limit $1
for update of b skip locked`

export const cancelBacklogged = statement({
  name: `duty.${cancelBacklogDuty}`,
  params: sweepParams,
  row: sweepRow,
  text: `
with due as materialized (${dueCancels}
),
named as materialized (
  select b.execution_id, b.generation, b.flow_id, b.reason, b.actor
  from unnest($5::uuid[]) as o (execution_id)
  join flowfabric.ff_cancel_backlog b on b.execution_id = any (array[o.execution_id])
  for update of b skip locked
),
candidate as materialized (
  select c.execution_id, c.generation, c.reason, c.actor, e.xmin as seen_xmin,
    -- Then one that has begun since goes on; a member that stands for a flow never runs.
    c.reason = 'flow_cancelled' and e.attached & ${attached.subFlow} = 0
      and coalesce(f.cancel_policy = 'cancel_pending', false) as is_only_pending
  from (select * from due union all select * from named) c
  join flowfabric.ff_exec_core e on e.execution_id = any (array[c.execution_id])
  left join flowfabric.ff_flow_core f on f.flow_id = any (array[c.flow_id])
),
target as materialized (
  select e.*, c.generation as backlog_generation, c.reason, c.actor, c.is_only_pending
  from candidate c
  join flowfabric.ff_exec_core e on e.execution_id = any (array[c.execution_id]) and e.xmin = c.seen_xmin
  order by c.execution_id
  for no key update of e skip locked
),
looked as materialized (
  select t.*, c.now_ms
  from target t
  cross join lateral (select t.execution_id as of, flowfabric.ff_now_ms() as now_ms offset 0) c
),
ending as materialized (
  select k.*, 'cancelled'::flowfabric.ff_terminal_outcome as ending_outcome, k.reason as ending_reason,
    k.actor as ending_actor, k.now_ms as ended_at_ms, ${endsWithoutMore}
  from looked k
  where k.lifecycle_phase <> 'terminal' and k.generation = k.backlog_generation
    and not (k.is_only_pending and k.started_at_ms is not null)
),
${endExecutionsWhole},
acknowledged as (
  delete from flowfabric.ff_cancel_backlog b
  using looked k
  where b.execution_id = any (array[k.execution_id]) and b.generation = k.backlog_generation
),
${takenUp(cancelBacklogDuty, 'looked')}
select (select count(*) from candidate) as seen, (select count(*) from looked) as processed,
  '{}'::int4[] as ready_queue_ids, ${owedByEnded} as owes, ${calledOffAmong('ending')} as called_off_ids`,
})
