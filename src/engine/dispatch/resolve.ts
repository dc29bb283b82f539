// The resolver: what endings owe their flows. One statement for a set of dispatch rows, and one hop: the edges that lead
// from those members are resolved, groups that fire let their downstream go or skip it, members are counted, flows end. What
// ends by that writes dispatch rows of its own, and the next hop is the next statement's.
//
// It waits for no flow, and for no execution. Downstream executions are taken with skip locked after the trees; one that was
// changed since the statement began is passed over like one that is held. What stands behind something that was passed over
// keeps its dispatch row, and is found again.
import { statement } from '../../sql/statement.ts'
import { endExecutionsWhole, endsWithoutMore } from '../transition/ending.ts'
import { judgeFlows, standingEnding } from '../transition/flow-ending.ts'
import { restateSkips } from '../transition/evaluate-flow-ending.ts'
import { dutyRow, takenUp } from '../kernel/candidate.ts'
import { orOweAgain } from './cancel-backlog.ts'
import { isCutShort, judgeEdges, skipReason } from './judge-edges.ts'
import { openMembers, oweEndedAhead, oweStarts } from './open-members.ts'
import { pendingDispatch, pendingDispatchOfEnded } from '../kernel/pending-dispatch.ts'
import { countMembers, payDispatches, settle, settledAnswer } from './settle.ts'
import {
  dispatchColumns,
  dispatchDuty,
  dispatchParams,
  dueDispatches,
  heldTrees,
  lockTrees,
  lookAtDispatches,
  oldestSeen,
} from './take-dispatches.ts'

// Its start comes first, though both may be in this set.
const isStarting = `s.sub_flow_id is not null and c.outcome <> 'none' and (
      select w.generation
      from flowfabric.ff_dispatch w
      where w.execution_id = any (array[c.execution_id]) and w.generation = c.generation and w.outcome = 'none'
    ) is not null`

export const resolveDispatches = statement({
  name: `duty.${dispatchDuty}`,
  params: dispatchParams,
  row: {
    ...dutyRow,
    backlogged: 'int8',
    oldest_ms: 'int8?',
    shortest_delay_ms: 'int8?',
    ended_flow_ids: 'uuid[]',
    /** Flows whose tree another holds, or something on which they would act. */
    held_flow_ids: 'uuid[]',
  },
  text: `
with due as materialized (${dueDispatches}
),
named as materialized (
  select ${dispatchColumns}
  from unnest($5::uuid[]) as o (execution_id)
  join flowfabric.ff_dispatch d on d.execution_id = any (array[o.execution_id])
  for update of d skip locked
),
${lookAtDispatches('(select * from due union all select * from named)', { isStarting, isTaken: 'c.generation = e.generation' })},
${lockTrees},
${judgeEdges},
${countMembers},
${judgeFlows},
-- By name the acts are in the order in which they matter: what ends with the flow that it stands for does nothing else.
wanted as materialized (
  select distinct on (w.execution_id) w.*
  from (
    select g.downstream_id as execution_id, g.seen_row, g.seen_xmin,
      case when g.state = 'impossible' then 'skip' when g.is_flow then 'start' else 'unblock' end as act,
      'skipped'::flowfabric.ff_terminal_outcome as ending_outcome,
      case when g.state = 'impossible' then ${skipReason} end as ending_reason, '${dispatchDuty}' as ending_actor,
      null::uuid as ended_flow_id
    from grouped g
    where g.is_fired and g.is_blocked and not g.is_cancelled
    union all
    select a.standing_id, a.standing_row, a.standing_xmin, 'end', ${standingEnding}, a.flow_id
    from flow_after a
    where a.standing_id is not null
  ) w
  order by w.execution_id, w.act
),
target as materialized (
  select e.*, e.ctid as target_row, w.act, w.ending_outcome, w.ending_reason, w.ending_actor, w.ended_flow_id
  from wanted w
  join flowfabric.ff_exec_core e on e.ctid = w.seen_row and e.xmin = w.seen_xmin
  order by w.execution_id
  for no key update of e skip locked
),
stuck as materialized (
  select execution_id
  from wanted
  where execution_id not in (select execution_id from target)
),
restated as materialized (
  select r.ending_flow_id, r.reason, e.ctid as target_row
  from skip_change r
  join flowfabric.ff_exec_core e on e.ctid = r.seen_row and e.xmin = r.seen_xmin
  order by r.execution_id
  for no key update of e skip locked
),
${settle(`
  select r.ending_flow_id
  from (select ending_flow_id, 1 as missing from skip_change union all select ending_flow_id, -1 from restated) r
  group by r.ending_flow_id
  having sum(r.missing) > 0`)},
${restateSkips},
${openMembers(dispatchDuty)},
${oweStarts},
${oweEndedAhead},
ending as materialized (
  select t.*, k.now_ms as ended_at_ms, ${endsWithoutMore}
  from target t
  cross join clock k
  where t.act = 'skip' or t.act = 'end' and t.ended_flow_id not in (select flow_id from stuck_flow)
),
${endExecutionsWhole},
-- Whom several want cancelled has one row.
cancelling as materialized (
  select distinct on (c.execution_id) c.*
  from (
    select u.execution_id, u.generation, u.flow_id, k.now_ms, 'sibling_quorum_' || g.state::text as reason,
      '${dispatchDuty}' as actor
    from grouped g
    cross join clock k
    join flowfabric.ff_edge x on x.downstream_id = any (array[g.downstream_id])
    join flowfabric.ff_exec_core u on u.execution_id = any (array[x.upstream_id])
    where g.is_fired and g.on_satisfied = 'cancel_remaining' and not g.is_cancelled
      and g.downstream_id not in (select execution_id from stuck)
      and x.kind <> 'start' and u.lifecycle_phase <> 'terminal'
    union all
    select u.execution_id, u.generation, u.flow_id, a.now_ms, 'flow_cancelled', 'cancel_flow'
    from flow_after a
    cross join lateral (
      select u.execution_id, u.generation, u.flow_id
      from flowfabric.ff_flow_member m
      join flowfabric.ff_exec_core u on u.execution_id = any (array[m.execution_id])
      where m.flow_id = a.flow_id and u.lifecycle_phase <> 'terminal'
      offset 0
    ) u
    where a.is_marked
  ) c
  order by c.execution_id, c.reason desc
),
backlogged as (
  insert into flowfabric.ff_cancel_backlog as b (execution_id, generation, flow_id, created_at_ms, reason, actor)
  select execution_id, generation, flow_id, now_ms, reason, actor
  from cancelling
  ${orOweAgain}
  returning b.execution_id
),
-- The flow is told; so is nobody, where the flow is gone or the generation is over.
done as materialized (
  select execution_id, dispatch_row, owes_others
  from settled
  union all
  select execution_id, dispatch_row, owes_others
  from dispatch
  where is_seen and (root_flow_id is null or generation <> current_generation)
),
${payDispatches('done')},
paid_in_part as (
  update flowfabric.ff_dispatch d
  set flow_id = null, is_counted = true
  from done n
  where n.owes_others and d.ctid = n.dispatch_row
),
${takenUp(dispatchDuty, 'done')}
-- Those whom a row owes besides may have passed it over, because it was held here.
select (select count(*) from dispatch) as seen, (select count(*) from done) as processed, ${oldestSeen}, ${settledAnswer},
  ${pendingDispatchOfEnded}
    | case when exists (select from done where owes_others) then ${pendingDispatch.parent | pendingDispatch.children} else 0 end
    | case when exists (select from started) or exists (select from ended_ahead) or ${isCutShort} then ${pendingDispatch.flow} else 0 end
    | case when exists (select from backlogged) then ${pendingDispatch.cancels} else 0 end as owes,
  -- Nobody runs what it skips, or what stands for a flow.
  '{}'::uuid[] as called_off_ids,
  (select count(*) from backlogged) as backlogged,
  array(${heldTrees} union select flow_id from stuck_flow where not ${isCutShort}) as held_flow_ids`,
})
