// The resolver's plain form, for most hops: members that are counted, groups that still wait or let their downstream go, and
// outermost flows that end. It is a statement of its own because a statement takes the longer to start the more it could do
// (measured: 0.4 ms against 0.7 for nothing, 1.0 against 1.4 for one hop). The rules are the same fragments.
//
// What needs more is left as it is, as if it were held, and the answer says so: endings, starts and cancels of others, members
// that stand for flows, flows that end in which a member did not succeed, rows that owe others too, and those of a generation
// that is over.
import { statement } from '../../sql/statement.ts'
import { judgeFlawlessFlows } from '../transition/flow-ending.ts'
import { isCutShort, judgeEdges } from './judge-edges.ts'
import { openMembers } from './open-members.ts'
import { countMembers, payDispatches, settle, settledAnswer } from './settle.ts'
import {
  dispatchDuty,
  heldTrees,
  lockTrees,
  lookAtDispatches,
  oldestDispatches,
  oldestSeen,
} from './take-dispatches.ts'

const isPlain = `c.generation = e.generation and f.flow_id is not null and s.sub_flow_id is null and not c.owes_others`

export const resolvePlainDispatches = statement({
  name: 'dispatch.plain',
  params: { batch: 'int8', passed_over: 'uuid[]', from_ms: 'int8' },
  row: {
    seen: 'int8',
    processed: 'int8',
    oldest_ms: 'int8?',
    ready_queue_ids: 'int4[]',
    shortest_delay_ms: 'int8?',
    ended_flow_ids: 'uuid[]',
    is_cut_short: 'bool',
    /** Flows whose tree another holds. */
    held_flow_ids: 'uuid[]',
    /** Some of those that were not processed need the whole form. */
    needs_more: 'bool',
  },
  text: `
with ${lookAtDispatches(`(${oldestDispatches})`, { isStarting: 'false', isTaken: isPlain })},
${lockTrees},
${judgeEdges},
${countMembers},
${judgeFlawlessFlows},
fired as materialized (
  select g.downstream_id as execution_id, g.seen_row, g.seen_xmin,
    g.state = 'impossible' or g.is_flow or c.is_cancelling as needs_more
  from grouped g
  -- Where every edge is resolved, nobody is left to cancel.
  cross join lateral (
    select g.on_satisfied = 'cancel_remaining' and g.satisfied + g.failed + g.skipped < g.total as is_cancelling
  ) c
  where g.is_fired and not g.is_cancelled and (g.is_blocked or c.is_cancelling)
),
target as materialized (
  select e.execution_id, e.ctid as target_row, e.partition_key, 'unblock' as act
  from fired g
  join flowfabric.ff_exec_core e on e.ctid = g.seen_row and e.xmin = g.seen_xmin
  where not g.needs_more
  order by g.execution_id
  for no key update of e skip locked
),
stuck as materialized (
  select execution_id
  from fired
  where execution_id not in (select execution_id from target)
  union all
  select standing_id
  from flow_after
  where standing_id is not null
),
${settle('select flow_id from flow_after where is_flawed')},
${openMembers(dispatchDuty)},
${payDispatches('settled')}
select (select count(*) from dispatch) as seen, (select count(*) from settled) as processed, ${oldestSeen}, ${settledAnswer},
  ${isCutShort} as is_cut_short,
  array(${heldTrees}) as held_flow_ids,
  exists (select from dispatch where not is_taken) or exists (select from fired where needs_more)
    or exists (select from flow_after where standing_id is not null or is_flawed) as needs_more`,
})
