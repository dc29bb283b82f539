// The deadline of an execution ends it, whatever it is doing or waiting for.
import { statement } from '../../sql/statement.ts'
import { askedBy, askToStop, isAskedByLimitSql } from '../transition/ask-to-stop.ts'
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

const name = 'execution-deadline'

const due = `
select e.execution_id, e.xmin as seen_xmin
from flowfabric.ff_exec_core e
where e.deadline_at_ms < flowfabric.ff_now_ms()
  and ${inScope(name)}
order by e.deadline_at_ms, e.execution_id
limit $1`

const expire = statement({
  name: `duty.${name}`,
  params: dutyParams,
  row: dutyRow,
  text: `
with ${candidates(due)},
${lockedExecutions},
asking as materialized (
  select k.*, ${askedBy('k', `'expired'::flowfabric.ff_terminal_outcome`, `'execution_deadline'`, `'${name}'`)}
  from looked k
  where k.deadline_at_ms < k.now_ms and ${isAskedByLimitSql('k')} and k.cancel_requested_at_ms is null
),${askToStop},
ending as materialized (
  select k.*, 'expired'::flowfabric.ff_terminal_outcome as ending_outcome, 'execution_deadline' as ending_reason,
    '${name}' as ending_actor, k.now_ms as ended_at_ms, ${endsWithoutMore}
  from looked k
  where k.deadline_at_ms < k.now_ms and not (${isAskedByLimitSql('k')} and k.cancel_requested_at_ms is null)
),
acted as materialized (
  select execution_id, ownership_state
  from looked
  where deadline_at_ms < now_ms
),
${endExecutionsWhole},
${takenUp(name, 'acted')}
${dutyAnswerOfEndings('acted', 'asked_ready')}`,
})

export const executionDeadline = statementDuty({
  name,
  timer: 'ff_exec_core.deadline_at_ms',
  intervalMs: 2000,
  due,
  act: expire,
})
