// A lease that expired: its holder died or is too slow. The execution returns to the queue with the same attempt. When a
// cancel was requested meanwhile, it ends cancelled.
//
// A started run that expires is counted until there is progress. From the second expiry in a row on the reclaim waits, and
// past the limit of the policy the execution fails.
import { limits } from '../../model/limits.ts'
import { statement } from '../../sql/statement.ts'
import { clockAfter } from '../kernel/after-lock.ts'
import { isAskedByLimitSql } from '../transition/ask-to-stop.ts'
import { hasRecordedSql } from '../transition/expiry-count.ts'
import { leaveHolderAsking } from '../transition/requeue.ts'
import { candidates, inScope, dutyParams, dutyRow, dutyAnswerOfEndings, takenUp } from '../kernel/candidate.ts'
import { statementDuty } from '../kernel/run-duty.ts'

const name = 'lease-expiry'

const longestDoubling = 6
// Executions that lost one worker together are tried again apart, so that the one that kills its process is alone in the
// end. Delays are promoted once a second: less than several seconds would bring them back together.
const spreadMs = 10_000

const due = `
select e.execution_id, e.xmin as seen_xmin
from flowfabric.ff_lease l
join flowfabric.ff_exec_core e on e.execution_id = any (array[l.execution_id])
where l.expires_at_ms > 0 and l.expires_at_ms < flowfabric.ff_now_ms()
  and ${inScope(name)}
order by l.expires_at_ms, l.execution_id
limit $1`

// Locks the lease too, after its execution: a renewal touches the lease alone.
const expire = statement({
  name: `duty.${name}`,
  params: dutyParams,
  row: dutyRow,
  text: `
with ${candidates(due)},
target as materialized (
  select e.*, l.expires_at_ms, l.is_started, l.worker_instance_id as last_holder
  from candidate c
  join flowfabric.ff_exec_core e on e.execution_id = any (array[c.execution_id]) and e.xmin = c.seen_xmin
  join flowfabric.ff_lease l on l.execution_id = any (array[e.execution_id])
  order by c.execution_id
  for no key update of e, l skip locked
),
${clockAfter('target')},
looked as materialized (
  select t.*, c.now_ms
  from target t
  cross join clock c
),
counted as materialized (
  select k.*, case when ${hasRecordedSql('k')} then 0 else k.consecutive_expiry_count end
      + case when k.is_started then 1 else 0 end as next_expiry_count,
    count(*) over (partition by k.last_holder) > 1 as has_neighbours
  from looked k
  where k.expires_at_ms < k.now_ms
),
lapsed as materialized (
  select k.*,
    k.is_started and k.cancel_requested_at_ms is null
      and k.next_expiry_count > coalesce((n.policy ->> 'maxReclaimCount')::int8, ${limits.defaultReclaimCount})
      as is_limit_reached,
    case when k.is_started and k.next_expiry_count > 1 then k.now_ms
      + least(${limits.reclaimDelayMs} * (1 << least(k.next_expiry_count - 2, ${longestDoubling})), ${limits.reclaimDelayMaxMs})
      + case when k.has_neighbours then floor(random() * ${spreadMs})::int8 else 0 end end as retry_at_ms
  from counted k
  join flowfabric.ff_exec_input n on n.partition_key = any (array[k.partition_key]) and n.execution_id = any (array[k.execution_id])
),
leaving as materialized (
  select p.*, p.now_ms as left_at_ms, '${name}' as left_actor,
    case when p.is_limit_reached then 'reclaim_limit' end as left_reason,
    'lapsed'::flowfabric.ff_event_type as leave_event,
    'expired'::flowfabric.ff_lease_effect as leave_effect,
    'attempt_interrupted'::flowfabric.ff_attempt_state as next_attempt_state,
    'lapsed'::flowfabric.ff_interruption as next_interruption,
    p.retry_at_ms as next_at_ms,
    'lease_expired_reclaimable' as attempt_outcome,
    case when p.is_limit_reached then 'infra_crash' end as failure_category,
    null::bytea as error,
    null::text as error_encoding,
    case when p.is_limit_reached and not ${isAskedByLimitSql('p')} then 'failed' else 'none' end::flowfabric.ff_terminal_outcome
      as forced_outcome,
    case when p.is_limit_reached and ${isAskedByLimitSql('p')} then 'failed'::flowfabric.ff_terminal_outcome end as asked_outcome
  from lapsed p
),
${leaveHolderAsking},
${takenUp(name, 'leaving')}
${dutyAnswerOfEndings('leaving', `requeued where eligibility_state = 'eligible_now'`)}`,
})

export const leaseExpiry = statementDuty({
  name,
  timer: 'ff_lease.expires_at_ms',
  intervalMs: 1000,
  due,
  act: expire,
})
