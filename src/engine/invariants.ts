// The invariants of every transaction boundary. Each invariant is a query for its own violations, so no rows means that
// it holds. Tests run all of them after every test.
import { attached } from '../model/attached.ts'
import { call, type Sql } from '../sql/sql.ts'
import { flowInvariants } from './flow/invariants.ts'
import { invariant } from './kernel/invariant.ts'

export interface Violation {
  readonly name: string
  /** The first few rows that break it. */
  readonly rows: readonly { readonly subject: string; readonly found: string }[]
}

// With the pinned plans, in one round trip: plans are kept, and one that scans, made on an empty table, takes half a minute on
// a hundred thousand rows (measured).
export async function checkInvariants(sql: Sql): Promise<Violation[]> {
  const calls = invariants.map(([, query]) => call(query, {}))
  const found = await sql.pipeline(calls, { statementTimeoutMs })
  return invariants.map(([name], index) => ({ name, rows: found[index]! })).filter(({ rows }) => rows.length > 0)
}

/** They read every row. */
const statementTimeoutMs = 600_000

export const invariants = [
  invariant(
    'stranded',
    'no execution is stranded',
    `
select e.execution_id::text as subject, concat_ws('/', e.lifecycle_phase, e.eligibility_state, e.attempt_state) as found
from flowfabric.ff_exec_core e
left join flowfabric.ff_ready r
  on r.queue_id = e.queue_id and r.neg_priority = -e.priority and r.rank = e.rank and r.execution_id = e.execution_id
left join flowfabric.ff_lease l on l.execution_id = e.execution_id
where e.lifecycle_phase <> 'terminal'
  and r.execution_id is null
  and l.execution_id is null
  and e.delay_until_ms is null
  and e.parked_at_ms is null
  -- It left its queue when its flow was cancelled.
  and not exists (
    select from flowfabric.ff_cancel_backlog b where b.execution_id = e.execution_id and b.generation = e.generation)`,
  ),
  invariant(
    'ready',
    'the ready table has exactly the eligible executions',
    `
select r.execution_id::text as subject, coalesce(e.eligibility_state::text, 'no execution') as found
from flowfabric.ff_ready r
left join flowfabric.ff_exec_core e
  on e.execution_id = r.execution_id and e.queue_id = r.queue_id and e.priority = -r.neg_priority and e.rank = r.rank
where e.eligibility_state is distinct from 'eligible_now' or r.resumed <> (e.public_state = 'resumable')`,
  ),
  invariant(
    'lease',
    'a lease exists exactly while its execution is active, with the same id and epoch',
    `
select coalesce(e.execution_id, l.execution_id)::text as subject,
  concat_ws(' ', e.lifecycle_phase, 'epoch', e.lease_epoch, 'lease epoch', l.lease_epoch) as found
from (select * from flowfabric.ff_exec_core where lifecycle_phase = 'active') e
full join flowfabric.ff_lease l
  on l.execution_id = e.execution_id and l.lease_id = e.lease_id and l.lease_epoch = e.lease_epoch
where e.execution_id is null or l.execution_id is null`,
  ),
  invariant(
    'completion',
    'an ended execution has one completion event while the log is kept, and an open one has none',
    // The log begins with its first event once its first block, which has no lower bound, is dropped. Times ascend with ids
    // but for the moments that a transaction takes.
    `
with log as materialized (
  select (select v.occurred_at_ms from flowfabric.ff_event v order by v.event_id limit 1) + 60000 as since_ms
  where not exists (
    select
    from pg_inherits i
    join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'flowfabric.ff_event'::regclass and pg_get_expr(c.relpartbound, c.oid) like '%MINVALUE%')
)
select e.execution_id::text as subject, concat(e.public_state, ' with ', count(v.event_id), ' events') as found
from flowfabric.ff_exec_core e
left join flowfabric.ff_event v
  on v.execution_id = e.execution_id and v.event_type = 'ended' and v.generation = e.generation
group by e.execution_id
having count(v.event_id) <> case when e.lifecycle_phase = 'terminal' then 1 else 0 end
  and not (count(v.event_id) = 0 and coalesce(e.terminal_at_ms < (select since_ms from log), false))`,
  ),
  invariant(
    'outcome',
    'the completion event has the stored outcome',
    `
select e.execution_id::text as subject, concat(e.terminal_outcome, ' but the event says ', v.outcome) as found
from flowfabric.ff_exec_core e
join flowfabric.ff_event v
  on v.execution_id = e.execution_id and v.event_type = 'ended' and v.generation = e.generation
where v.outcome is distinct from e.terminal_outcome`,
  ),
  invariant(
    'attempt',
    'an execution that ended after a run has an ended record of its last attempt',
    `
select e.execution_id::text as subject, coalesce(a.outcome, 'no record') as found
from flowfabric.ff_exec_core e
left join flowfabric.ff_attempt a on a.execution_id = e.execution_id and a.attempt_index = e.attempt_index
where e.lifecycle_phase = 'terminal' and e.attempt_state = 'attempt_terminal' and a.ended_at_ms is null`,
  ),
  invariant(
    'pairs',
    'every core row has its input row, and its queue and lane exist',
    `
select coalesce(e.execution_id, n.execution_id)::text as subject,
  concat_ws(' ', e.partition_key, n.partition_key, q.lane_id) as found
from flowfabric.ff_exec_core e
full join flowfabric.ff_exec_input n
  on n.execution_id = e.execution_id and n.partition_key = e.partition_key and n.queue_id = e.queue_id
left join flowfabric.ff_queue q on q.queue_id = e.queue_id and q.namespace = e.namespace
left join flowfabric.ff_lane_registry r on r.namespace = q.namespace and r.lane_id = q.lane_id
where e.execution_id is null or n.execution_id is null or r.lane_id is null`,
  ),
  invariant(
    'suspension',
    'a suspension is open exactly while its execution is suspended, with the same attempt, and the flag of the execution is set',
    `
select coalesce(e.execution_id, s.execution_id)::text as subject,
  concat_ws(' ', e.lifecycle_phase, 'attached', e.attached, 'suspension', s.suspension_id) as found
from (select * from flowfabric.ff_exec_core where lifecycle_phase = 'suspended') e
full join (select * from flowfabric.ff_suspension_current where closed_at_ms is null) s
  on s.execution_id = e.execution_id and s.generation = e.generation and s.attempt_index = e.attempt_index
    and s.lease_epoch = e.lease_epoch
where e.execution_id is null or s.execution_id is null or e.attached & ${attached.suspension} = 0`,
  ),
  invariant(
    'waitpoint',
    'a waitpoint is open only while its suspension is open, or while its execution can still suspend and has the flag set',
    `
select p.execution_id::text as subject,
  concat_ws(' ', p.waitpoint_key, p.state, 'of', e.public_state, 'attached', e.attached) as found
from flowfabric.ff_waitpoint_pending p
left join flowfabric.ff_exec_core e on e.execution_id = p.execution_id and e.partition_key = p.partition_key
left join flowfabric.ff_suspension_current s
  on s.execution_id = p.execution_id and s.suspension_id = p.suspension_id and s.closed_at_ms is null
where p.state = 'active' and s.execution_id is null
  or p.state = 'pending' and (coalesce(e.lifecycle_phase, 'terminal') = 'terminal'
    or e.attached & ${attached.waitpoints} = 0)`,
  ),
  invariant(
    'signal',
    'the flag for unread named signals matches the signals of the execution',
    `
select e.execution_id::text as subject, concat(g.signal_name, ' waits, attached ', e.attached) as found
from flowfabric.ff_signal g
join flowfabric.ff_exec_core e on e.execution_id = g.execution_id and e.generation = g.generation
where g.waitpoint_id is null and g.taken_at_ms is null and e.lifecycle_phase <> 'terminal'
  and e.attached & ${attached.signals} = 0`,
  ),
  invariant(
    'taken-signal',
    'no signal was taken from an open waitpoint',
    `
select g.execution_id::text as subject, concat(g.signal_name, ' was taken, ', p.waitpoint_key, ' is ', p.state) as found
from flowfabric.ff_signal g
join flowfabric.ff_waitpoint_pending p on p.waitpoint_id = g.waitpoint_id
where g.taken_at_ms is not null and p.state <> 'closed'`,
  ),
  invariant(
    'step',
    'the newest step of a generation has the right totals, and no step is of a later generation',
    `
select s.execution_id::text as subject, concat(count(*), ' steps, the newest says ', max(s.newest_count)) as found
from (
  select f.execution_id, f.generation, e.generation as current_generation,
    first_value(f.total_count) over (partition by f.execution_id, f.generation order by f.step_no desc) as newest_count
  from flowfabric.ff_step f
  join flowfabric.ff_exec_core e on e.execution_id = f.execution_id
) s
group by s.execution_id, s.generation
having count(*) <> max(s.newest_count) or s.generation > max(s.current_generation)`,
  ),
  invariant(
    'tag',
    'the tag flag of an execution matches its tags',
    `
select e.execution_id::text as subject, concat(t.tag_key, ', attached ', e.attached) as found
from flowfabric.ff_exec_tag t
join flowfabric.ff_exec_core e on e.execution_id = t.execution_id
where e.attached & ${attached.tags} = 0`,
  ),
  invariant(
    'compensation',
    'the flag for compensations matches the steps of the execution, and an execution that was asked to stop has a deadline',
    `
select s.execution_id::text as subject, concat(s.kind, ' ', s.step_name, ', attached ', e.attached) as found
from flowfabric.ff_step s
join flowfabric.ff_exec_core e on e.execution_id = s.execution_id and e.generation = s.generation
where s.kind in ('compensation', 'hook') and e.attached & ${attached.compensation | attached.onFailure} = 0
union all
select e.execution_id::text, concat('asked to stop without a deadline, ', e.public_state)
from flowfabric.ff_exec_core e
where e.lifecycle_phase <> 'terminal' and e.cancel_requested_at_ms is not null and e.cancel_deadline_at_ms is null`,
  ),
  invariant(
    'policy-bounds',
    'the flags for policy limits match the policy of the execution',
    `
select e.execution_id::text as subject, concat('attached ', e.attached) as found
from flowfabric.ff_exec_input n
join flowfabric.ff_exec_core e on e.execution_id = n.execution_id
where (e.attached & ${attached.attemptTimeout} <> 0) <> coalesce(n.policy ? 'attemptTimeoutMs', false)
  or (e.attached & ${attached.signalLimit} <> 0) <> coalesce(n.policy ? 'maxSignalCount', false)`,
  ),
  invariant(
    'orphans',
    'no row belongs to a deleted execution',
    `
select o.execution_id::text as subject, o.origin as found
from (
  select execution_id, 'tag' as origin from flowfabric.ff_exec_tag
  union all
  select execution_id, 'result' from flowfabric.ff_exec_result
  union all
  select execution_id, 'dispatch' from flowfabric.ff_dispatch
  union all
  select execution_id, 'attempt' from flowfabric.ff_attempt
  union all
  select execution_id, 'progress' from flowfabric.ff_progress
  union all
  select execution_id, 'request' from flowfabric.ff_request
  union all
  select execution_id, 'grant' from flowfabric.ff_grant
  union all
  select execution_id, 'step' from flowfabric.ff_step
  union all
  select execution_id, 'suspension' from flowfabric.ff_suspension_current
  union all
  select execution_id, 'waitpoint' from flowfabric.ff_waitpoint_pending
  union all
  select execution_id, 'signal' from flowfabric.ff_signal
  union all
  select execution_id, 'key' from flowfabric.ff_idempotency_key
  union all
  select execution_id, 'cancel' from flowfabric.ff_cancel_backlog
  union all
  select execution_id, 'member' from flowfabric.ff_flow_member
  union all
  select upstream_id, 'edge from' from flowfabric.ff_edge
  union all
  select downstream_id, 'edge to' from flowfabric.ff_edge
  union all
  select downstream_id, 'group' from flowfabric.ff_edge_group
) o
left join flowfabric.ff_exec_core e on e.execution_id = o.execution_id
where e.execution_id is null`,
  ),
  ...flowInvariants,
]
