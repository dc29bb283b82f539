// Before a member is replayed: locks the root of its tree, then reads the part of the graph that its ending can have
// reached.
import { attached } from '../../model/attached.ts'
import type { EdgeResolution, GroupState, JoinPolicy, OnSatisfied } from '../../model/edge-group.ts'
import { limits } from '../../model/limits.ts'
import type { PublicState } from '../../model/state.ts'
import { call, type RowsOf } from '../../sql/sql.ts'
import { oneOf, statement, type RowOf } from '../../sql/statement.ts'
import { nextDeadlineSql } from '../transition/reopen.ts'

const lockRoot = statement({
  name: 'flow.replay.lock-root',
  params: { execution_id: 'uuid' },
  row: { flow_id: 'uuid' },
  text: `
select r.flow_id
from flowfabric.ff_exec_core e
join flowfabric.ff_flow_core f on f.flow_id = any (array[e.flow_id])
join flowfabric.ff_flow_core r on r.flow_id = any (array[f.root_flow_id])
where e.execution_id = $1
for no key update of r`,
})

// The first edge that can no longer be satisfied is the reason why it cannot run.
const readMember = statement({
  name: 'flow.replay.read',
  params: { execution_id: 'uuid' },
  row: {
    public_state: oneOf<PublicState>(),
    generation: 'int4',
    replay_count: 'int4',
    most_replays: 'int4',
    next_deadline_ms: 'int8?',
    deadline_dropped: 'bool',
    is_sub_flow: 'bool',
    group_state: oneOf<GroupState | null>(),
    lost_upstream_id: 'uuid?',
    lost_upstream_state: oneOf<PublicState | null>(),
  },
  text: `
select e.public_state, e.generation, e.replay_count,
  coalesce((n.policy ->> 'maxReplayCount')::int4, ${limits.defaultReplayCount}) as most_replays,
  ${nextDeadlineSql('c.now_ms')} as next_deadline_ms, coalesce(n.deadline_at_ms <= c.now_ms, false) as deadline_dropped,
  e.attached & ${attached.subFlow} <> 0 as is_sub_flow, g.state as group_state,
  u.execution_id as lost_upstream_id, u.public_state as lost_upstream_state
from flowfabric.ff_exec_core e
join flowfabric.ff_exec_input n on n.partition_key = any (array[e.partition_key]) and n.execution_id = any (array[e.execution_id])
cross join (select flowfabric.ff_now_ms() as now_ms offset 0) c
left join flowfabric.ff_edge_group g on g.downstream_id = any (array[e.execution_id])
left join lateral (
  select u.execution_id, u.public_state
  from flowfabric.ff_edge x
  join flowfabric.ff_exec_core u on u.execution_id = any (array[x.upstream_id])
  where g.state = 'impossible' and x.downstream_id = any (array[e.execution_id]) and x.resolution in ('failed', 'skipped')
  order by x.resolution, x.edge_id
  limit 1
) u on true
where e.execution_id = $1`,
})

// The member; and for each ended flow around it, the member that represents this flow, which reopens with it. A skipped
// member did not end with its flow, and stays as it is.
const line = `line (execution_id, flow_id, member_id, is_ended, is_cancelled) as (
  select e.execution_id, f.flow_id, f.member_id, f.ended_at_ms is not null, f.cancelled_at_ms is not null
  from flowfabric.ff_exec_core e
  join flowfabric.ff_flow_core f on f.flow_id = any (array[e.flow_id])
  where e.execution_id = $1
  union all
  select e.execution_id, f.flow_id, f.member_id, f.ended_at_ms is not null, f.cancelled_at_ms is not null
  from line l
  cross join lateral (
    select e.execution_id, e.flow_id
    from flowfabric.ff_exec_core e
    where e.execution_id = l.member_id and e.terminal_outcome <> 'skipped'
    offset 0
  ) e
  join flowfabric.ff_flow_core f on f.flow_id = any (array[e.flow_id])
  where l.is_ended
)`

const readLine = statement({
  name: 'flow.replay.line',
  params: { execution_id: 'uuid' },
  row: { execution_id: 'uuid', flow_id: 'uuid', is_cancelled: 'bool' },
  text: `
with recursive ${line}
select execution_id, flow_id, is_cancelled
from line`,
})

// As far as skips can have spread from the line: every resolved edge into a group that has not released its downstream.
// In a skipped flow, also the edges from members that had ended by themselves. Members that were cancelled with their
// flow stay as they are.
const readReach = statement({
  name: 'flow.replay.reach',
  params: { execution_id: 'uuid' },
  row: {
    edge_flow_id: 'uuid',
    edge_id: 'uuid',
    upstream_id: 'uuid',
    downstream_id: 'uuid',
    resolution: oneOf<EdgeResolution>(),
    policy: oneOf<JoinPolicy['kind']>(),
    on_satisfied: oneOf<OnSatisfied>(),
    quorum: 'int4?',
    state: oneOf<GroupState>(),
    total: 'int4',
    satisfied: 'int4',
    failed: 'int4',
    skipped: 'int4',
    is_sealed: 'bool',
    is_downstream_skipped: 'bool',
    // For an upstream that ended by itself in a skipped flow: the member that represents this flow.
    standing_id: 'uuid?',
  },
  text: `
with recursive ${line},
reach (execution_id, standing_id) as (
  select execution_id, null::uuid
  from line
  union
  select n.execution_id, n.standing_id
  from reach r
  cross join lateral (
    select x.downstream_id as execution_id, null::uuid as standing_id
    from flowfabric.ff_edge x
    join flowfabric.ff_flow_core f on f.flow_id = any (array[x.flow_id]) and f.cancelled_at_ms is null
    join flowfabric.ff_edge_group g on g.downstream_id = any (array[x.downstream_id])
    join flowfabric.ff_exec_core d on d.execution_id = any (array[x.downstream_id])
    where x.upstream_id = any (array[r.execution_id]) and g.state = 'impossible' and d.terminal_outcome = 'skipped'
    union all
    select e.execution_id, r.execution_id
    from flowfabric.ff_exec_core s
    join flowfabric.ff_flow_member m
      on m.flow_id = any (array[s.flow_id]) and m.execution_id = any (array[s.execution_id])
    join flowfabric.ff_flow_core f on f.flow_id = any (array[m.sub_flow_id]) and f.cancelled_at_ms is null
    cross join lateral (
      select e.execution_id
      from flowfabric.ff_flow_member i
      join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
      where i.flow_id = f.flow_id and e.terminal_outcome not in ('none', 'skipped')
      offset 0
    ) e
    where s.execution_id = any (array[r.execution_id]) and s.terminal_outcome = 'skipped'
  ) n
)
select x.flow_id as edge_flow_id, x.edge_id, x.upstream_id, x.downstream_id, x.resolution, g.policy, g.on_satisfied,
  g.quorum, g.state, g.total, g.satisfied, g.failed, g.skipped, g.is_sealed,
  d.terminal_outcome = 'skipped' as is_downstream_skipped, r.standing_id
from reach r
join flowfabric.ff_edge x on x.upstream_id = any (array[r.execution_id])
join flowfabric.ff_flow_core f on f.flow_id = any (array[x.flow_id]) and f.cancelled_at_ms is null
join flowfabric.ff_edge_group g on g.downstream_id = any (array[x.downstream_id])
join flowfabric.ff_exec_core d on d.execution_id = any (array[x.downstream_id])
where x.resolution is not null and g.state <> 'satisfied'`,
})

/** In this order, in one round trip. */
export function readCalls(uuid: string) {
  const key = { execution_id: uuid }
  return [call(lockRoot, key), call(readMember, key), call(readLine, key), call(readReach, key)] as const
}

export type ReplayRows = RowsOf<ReturnType<typeof readCalls>>
export type FoundMember = RowOf<typeof readMember.row>
export type LineMember = RowOf<typeof readLine.row>
export type ReachedEdge = RowOf<typeof readReach.row>
