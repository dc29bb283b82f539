// A holding that took longer than its policy allows, renewed or not: a failure of category `timeout`. It is retried by
// the policy; when no attempt is left, the execution expires.
import { statement } from '../../sql/statement.ts'
import { endsWhenLeftSql, isAskedByLimitSql } from '../transition/ask-to-stop.ts'
import { leaveHolderAsking } from '../transition/requeue.ts'
import { retryDelaySql, shouldRetrySql } from '../transition/retry.ts'
import {
  candidates,
  inScope,
  lockedExecutions,
  dutyParams,
  dutyRow,
  dutyAnswerOfEndings,
  takenUp,
} from '../kernel/candidate.ts'
import { statementDuty } from '../kernel/run-duty.ts'

const name = 'attempt-timeout'

const due = `
select e.execution_id, e.xmin as seen_xmin
from flowfabric.ff_exec_core e
where e.attempt_deadline_at_ms < flowfabric.ff_now_ms()
  and ${inScope(name)}
order by e.attempt_deadline_at_ms, e.execution_id
limit $1`

// The lease is deleted and not locked before: a renewal under way moves its expiry, which decides nothing here.
const timeOut = statement({
  name: `duty.${name}`,
  params: dutyParams,
  row: dutyRow,
  text: `
with ${candidates(due)},
${lockedExecutions},
overdue as materialized (
  select k.*, ${shouldRetrySql('n.policy', 'k.retry_count', `'timeout'::text`, 'false')} as is_retried,
    ${retryDelaySql('n.policy', 'k.retry_count')} as retry_delay_ms
  from looked k
  join flowfabric.ff_exec_input n on n.partition_key = any (array[k.partition_key]) and n.execution_id = any (array[k.execution_id])
  where k.attempt_deadline_at_ms < k.now_ms
),
decided as materialized (
  select o.*,
    -- Its code runs once more in the same attempt, to clean up.
    ${isAskedByLimitSql('o')} and (not o.is_retried or o.cancel_requested_at_ms is not null)
      and not ${endsWhenLeftSql('o')} as cleans_up
  from overdue o
),
leaving as materialized (
  select o.*, o.now_ms as left_at_ms, '${name}' as left_actor, 'attempt_timeout' as left_reason,
    case when o.cleans_up then 'released' else 'retried' end::flowfabric.ff_event_type as leave_event,
    'expired'::flowfabric.ff_lease_effect as leave_effect,
    case when o.cleans_up then 'attempt_interrupted' else 'pending_retry_attempt' end::flowfabric.ff_attempt_state
      as next_attempt_state,
    case when o.cleans_up then 'cancelled' else 'none' end::flowfabric.ff_interruption as next_interruption,
    case when o.retry_delay_ms > 0 and not o.cleans_up then o.now_ms + o.retry_delay_ms end as next_at_ms,
    0 as next_expiry_count,
    'timed_out' as attempt_outcome,
    'timeout' as failure_category,
    null::bytea as error,
    null::text as error_encoding,
    case when o.is_retried or o.cleans_up then 'none' else 'expired' end::flowfabric.ff_terminal_outcome as forced_outcome,
    case when o.cleans_up and o.cancel_requested_at_ms is null then 'expired'::flowfabric.ff_terminal_outcome end
      as asked_outcome
  from decided o
),
${leaveHolderAsking},
${takenUp(name, 'leaving')}
${dutyAnswerOfEndings('leaving', `requeued where eligibility_state = 'eligible_now'`)}`,
})

export const attemptTimeout = statementDuty({
  name,
  timer: 'ff_exec_core.attempt_deadline_at_ms',
  intervalMs: 2000,
  due,
  act: timeOut,
})
