// Members that are cancelled because of what a set decided: the other upstream members of a group that fired, and the members of a
// flow whose representative ended. They are put into the backlog, without a lock; `cancel-backlog.ts` ends them.
import type { ResolvedGroup } from '../../model/resolve-endings.ts'
import { call } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { orWriteAgain } from './cancel-backlog.ts'
import { dispatchDuty } from './take-dispatches.ts'

// A member that is cancelled for both reasons has one row.
const cancel = statement({
  name: 'dispatch.cancel-members',
  params: { downstream_ids: 'uuid[]', group_states: 'text[]', flow_ids: 'uuid[]', now_ms: 'int8' },
  row: { backlogged: 'int8' },
  text: `
with cancelling as materialized (
  select distinct on (c.execution_id) c.*
  from (
    select u.execution_id, u.generation, u.flow_id, 'sibling_quorum_' || i.state as reason, '${dispatchDuty}' as actor
    from unnest($1::uuid[], $2::text[]) as i (downstream_id, state)
    join flowfabric.ff_edge x on x.downstream_id = any (array[i.downstream_id])
    join flowfabric.ff_exec_core u on u.execution_id = any (array[x.upstream_id])
    where x.kind <> 'start' and u.lifecycle_phase <> 'terminal'
    union all
    select u.execution_id, u.generation, u.flow_id, 'flow_cancelled', 'cancel_flow'
    from unnest($3::uuid[]) as i (flow_id)
    cross join lateral (
      select u.execution_id, u.generation, u.flow_id
      from flowfabric.ff_flow_member m
      join flowfabric.ff_exec_core u on u.execution_id = any (array[m.execution_id])
      where m.flow_id = i.flow_id and u.lifecycle_phase <> 'terminal'
      offset 0
    ) u
  ) c
  order by c.execution_id, c.reason desc
),
backlogged as (
  insert into flowfabric.ff_cancel_backlog as b (execution_id, generation, flow_id, created_at_ms, reason, actor)
  select execution_id, generation, flow_id, $4, reason, actor
  from cancelling
  ${orWriteAgain}
  returning b.execution_id
)
select count(*) as backlogged
from backlogged`,
})

export function cancelMembersCall(groups: readonly ResolvedGroup[], flowIds: readonly string[], now: number) {
  return call(cancel, {
    downstream_ids: groups.map(({ fact }) => fact.downstreamId),
    group_states: groups.map(({ state }) => state),
    flow_ids: flowIds,
    now_ms: now,
  })
}
