// The invariants of flows, their members and edge groups. Retention deletes a flow before its members: members are
// checked only while their flow exists.
import { attached } from '../../model/attached.ts'
import { isSameLifeSql } from '../dispatch/cancel-backlog.ts'
import { invariant } from '../kernel/invariant.ts'
import { goesWithFlowSql } from '../transition/cancelled-flow.ts'

/** The rule of `model/edge-group.ts` in SQL, for a group `g` that has not fired: an audit reads more groups than a process should. */
export const groupRule = `case
      when g.quorum is null and g.failed + g.skipped > 0 then 'impossible'::flowfabric.ff_group_state
      when g.satisfied >= coalesce(g.quorum, g.total) then 'satisfied'::flowfabric.ff_group_state
      when g.is_sealed and g.failed + g.skipped > g.total - g.quorum then 'impossible'::flowfabric.ff_group_state
      else 'pending'::flowfabric.ff_group_state
    end`

const isBacklogged = `exists (
    select
    from flowfabric.ff_cancel_backlog b
    where b.execution_id = e.execution_id and ${isSameLifeSql('e', 'b.generation')})`

export const flowInvariants = [
  invariant(
    'flow-member',
    'the flags of a member match its flow and its nested flow',
    `
select m.execution_id::text as subject, concat_ws(' ', 'flow', e.flow_id, 'attached', e.attached) as found
from flowfabric.ff_flow_member m
join flowfabric.ff_exec_core e using (execution_id)
left join flowfabric.ff_flow_core i on i.flow_id = m.sub_flow_id and i.member_id = m.execution_id
where e.flow_id is distinct from m.flow_id
  or e.attached & ${attached.flow} = 0
  or (e.attached & ${attached.subFlow} <> 0) <> (m.sub_flow_id is not null)
  or m.sub_flow_id is not null and i.flow_id is null and exists (
    select from flowfabric.ff_flow_core f where f.flow_id = m.flow_id)`,
  ),
  invariant(
    'flow-blocked',
    'a blocked member waits for an edge, represents a nested flow that has not ended, or is about to be cancelled',
    `
select e.execution_id::text as subject, concat_ws(' ', 'group', g.state, g.satisfied, 'of', g.total) as found
from flowfabric.ff_flow_member m
join flowfabric.ff_exec_core e using (execution_id)
left join flowfabric.ff_edge_group g on g.downstream_id = e.execution_id
where e.eligibility_state = 'blocked_by_dependencies'
  and not (coalesce(g.state = 'pending', false) and (not g.is_sealed or exists (
    select from flowfabric.ff_edge x where x.downstream_id = e.execution_id and x.resolution is null)))
  and not exists (select from flowfabric.ff_flow_core i where i.flow_id = m.sub_flow_id and i.ended_at_ms is null)
  and not ${isBacklogged}`,
  ),
  invariant(
    'flow-group',
    'the counters of a group match its edges, and it waits only while they are undecided',
    `
select g.downstream_id::text as subject,
  concat_ws(' ', g.state, g.satisfied, g.failed, g.skipped, 'of', g.total, 'but', x.satisfied, x.failed, x.skipped, 'of',
    x.total) as found
from flowfabric.ff_edge_group g
join flowfabric.ff_flow_core f using (flow_id)
cross join lateral (
  select count(*) as total, count(*) filter (where x.resolution = 'satisfied') as satisfied,
    count(*) filter (where x.resolution = 'failed') as failed, count(*) filter (where x.resolution = 'skipped') as skipped
  from flowfabric.ff_edge x
  where x.downstream_id = g.downstream_id
) x
where (g.total, g.satisfied, g.failed, g.skipped) is distinct from (x.total, x.satisfied, x.failed, x.skipped)
  -- One that asks for more than it has edges, in a flow that was cancelled, is lost with the next ending.
  or g.state = 'pending' and ${groupRule} <> 'pending' and (g.quorum > g.total) is not true`,
  ),
  invariant(
    'flow-edge',
    'an edge from an ended execution is resolved, still queued, or in a flow that has not started',
    `
select x.edge_id::text as subject, concat(x.kind, ' from an upstream that is ', u.public_state) as found
from flowfabric.ff_edge x
join flowfabric.ff_flow_core f using (flow_id)
join flowfabric.ff_exec_core u on u.execution_id = x.upstream_id
where x.resolution is null and u.lifecycle_phase = 'terminal' and (x.kind = 'start' or not f.is_held)
  and not exists (
    select from flowfabric.ff_dispatch d
    where d.execution_id = x.upstream_id and d.generation = u.generation and d.flow_id is not null)`,
  ),
  invariant(
    'flow-counters',
    'the counters of a flow match its members whose endings are processed, and it has ended once it has started, is closed and all members are counted',
    `
select f.flow_id::text as subject,
  concat_ws(' ', f.outcome, f.success_count, f.failed_count, f.cancelled_count, f.expired_count, f.skipped_count, 'of',
    f.member_count, 'but', m.counted, 'of', m.total) as found
from flowfabric.ff_flow_core f
cross join lateral (
  select count(*) as total, count(e.execution_id) as counted,
    count(*) filter (where e.terminal_outcome = 'success') as success,
    count(*) filter (where e.terminal_outcome = 'failed') as failed,
    count(*) filter (where e.terminal_outcome = 'cancelled') as cancelled,
    count(*) filter (where e.terminal_outcome = 'expired') as expired,
    count(*) filter (where e.terminal_outcome = 'skipped') as skipped
  from flowfabric.ff_flow_member m
  left join flowfabric.ff_exec_core e on e.execution_id = m.execution_id and e.lifecycle_phase = 'terminal'
    and not exists (
      select from flowfabric.ff_dispatch d
      where d.execution_id = e.execution_id and d.generation = e.generation and d.outcome = e.terminal_outcome
        and not d.is_counted)
  where m.flow_id = f.flow_id
) m
where (f.member_count, f.success_count, f.failed_count, f.cancelled_count, f.expired_count, f.skipped_count)
    is distinct from (m.total, m.success, m.failed, m.cancelled, m.expired, m.skipped)
  or f.ended_at_ms is not null and (f.closed_at_ms is null or m.counted < m.total)
  or f.ended_at_ms is null and f.closed_at_ms is not null and m.counted = m.total and not f.is_held`,
  ),
  invariant(
    'flow-cancelled',
    'members of a cancelled flow have ended, or are about to be cancelled',
    `
select e.execution_id::text as subject, concat(e.public_state, ' in a flow cancelled by ', f.cancel_policy) as found
from flowfabric.ff_flow_core f
join flowfabric.ff_exec_core e using (flow_id)
where e.lifecycle_phase <> 'terminal' and e.attached & ${attached.subFlow} = 0
  and ${goesWithFlowSql('f.cancel_policy', 'e.started_at_ms')}
  and not ${isBacklogged}`,
  ),
]
