// A delay that is over: the execution becomes eligible and goes into the ready table. Its attempt and the way in which it
// was interrupted stay as they are.
import { statement } from '../../sql/statement.ts'
import { candidates, inScope, lockedExecutions, dutyParams, dutyRow, dutyAnswer, takenUp } from '../kernel/candidate.ts'
import { statementDuty } from '../kernel/run-duty.ts'

const name = 'delayed-promoter'

const due = `
select e.execution_id, e.xmin as seen_xmin
from flowfabric.ff_exec_core e
where e.delay_until_ms <= flowfabric.ff_now_ms()
  and ${inScope(name)}
order by e.delay_until_ms, e.execution_id
limit $1`

const promote = statement({
  name: `duty.${name}`,
  params: dutyParams,
  row: dutyRow,
  text: `
with ${candidates(due)},
${lockedExecutions},
promoted as (
  update flowfabric.ff_exec_core e
  set eligibility_state = 'eligible_now',
    delay_until_ms = null,
    last_mutation_at_ms = greatest(k.now_ms, k.last_mutation_at_ms)
  from looked k
  where e.execution_id = any (array[k.execution_id]) and k.delay_until_ms <= k.now_ms
  returning e.execution_id, e.queue_id, e.priority, e.rank, e.public_state
),
readied as (
  insert into flowfabric.ff_ready (queue_id, neg_priority, resumed, rank, execution_id)
  select queue_id, -priority, public_state = 'resumable', rank, execution_id
  from promoted
),
${takenUp(name, 'promoted')}
${dutyAnswer('promoted', 'promoted')}`,
})

export const delayedPromoter = statementDuty({
  name,
  timer: 'ff_exec_core.delay_until_ms',
  intervalMs: 1000,
  due,
  act: promote,
})
