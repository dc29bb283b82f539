// A lease that ran out: its holder is gone or too slow. The execution goes back to the queue with the same attempt, and
// the lapse is counted; after too many it fails, and when a cancel was asked for meanwhile it ends cancelled.
import { limits } from '../../model/limits.ts'
import { statement } from '../../sql/statement.ts'
import { clockAfter } from '../clock/after-lock.ts'
import { leaveHolderWhole } from '../execution/requeue.ts'
import { candidates, inScope, sweepParams, sweepRow, sweptEndings, takenUp } from './candidate.ts'
import { sweepingDuty } from './sweep.ts'

const name = 'lease-expiry'

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
  params: sweepParams,
  row: sweepRow,
  text: `
with ${candidates(due)},
target as materialized (
  select e.*, l.expires_at_ms
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
lapsed as materialized (
  select k.*,
    k.cancel_requested_at_ms is null
      and k.lease_reclaim_count >= coalesce((n.policy ->> 'maxReclaimCount')::int8, ${limits.defaultReclaimCount})
      as is_limit_reached
  from looked k
  join flowfabric.ff_exec_input n on n.partition_key = any (array[k.partition_key]) and n.execution_id = any (array[k.execution_id])
  where k.expires_at_ms < k.now_ms
),
leaving as materialized (
  select p.*, p.now_ms as left_at_ms, '${name}' as left_actor,
    case when p.is_limit_reached then 'reclaim_limit' end as left_reason,
    'lapsed'::flowfabric.ff_event_type as leave_event,
    'expired'::flowfabric.ff_lease_effect as leave_effect,
    'attempt_interrupted'::flowfabric.ff_attempt_state as next_attempt_state,
    'lapsed'::flowfabric.ff_interruption as next_interruption,
    null::int8 as next_at_ms,
    'lease_expired_reclaimable' as attempt_outcome,
    case when p.is_limit_reached then 'infra_crash' end as failure_category,
    null::bytea as error,
    null::text as error_encoding,
    case when p.is_limit_reached then 'failed' else 'none' end::flowfabric.ff_terminal_outcome as forced_outcome
  from lapsed p
),
${leaveHolderWhole},
${takenUp(name, 'leaving')}
${sweptEndings('leaving', 'requeued')}`,
})

export const leaseExpiry = sweepingDuty({
  name,
  timer: 'ff_lease.expires_at_ms',
  intervalMs: 1000,
  due,
  act: expire,
})
