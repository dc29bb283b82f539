// A holder that was asked to stop and did not within the grace: the execution ends cancelled, with the reason that was
// given and in the name of who asked.
import { statement } from '../../sql/statement.ts'
import { endExecutionsWhole, endsWithoutMore } from '../transition/ending.ts'
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

const name = 'cancel-deadline'

const due = `
select e.execution_id, e.xmin as seen_xmin
from flowfabric.ff_exec_core e
where e.cancel_deadline_at_ms <= flowfabric.ff_now_ms()
  and ${inScope(name)}
order by e.cancel_deadline_at_ms, e.execution_id
limit $1`

const cancel = statement({
  name: `duty.${name}`,
  params: dutyParams,
  row: dutyRow,
  text: `
with ${candidates(due)},
${lockedExecutions},
ending as materialized (
  select k.*, coalesce(k.stop_outcome, 'cancelled'::flowfabric.ff_terminal_outcome) as ending_outcome, k.cancellation_reason as ending_reason,
    coalesce(k.cancelled_by, '${name}') as ending_actor, k.now_ms as ended_at_ms, ${endsWithoutMore}
  from looked k
  where k.cancel_deadline_at_ms <= k.now_ms
),
${endExecutionsWhole},
${takenUp(name, 'ending')}
${dutyAnswerOfEndings('ending')}`,
})

export const cancelDeadline = statementDuty({
  name,
  timer: 'ff_exec_core.cancel_deadline_at_ms',
  intervalMs: 1000,
  due,
  act: cancel,
})
