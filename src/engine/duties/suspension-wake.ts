// The moment in which time alone satisfies a condition: the execution goes on. When that is, whoever judged the condition
// last has written; with each new fact it can only come nearer.
import { inScope } from '../kernel/candidate.ts'
import type { Duty } from '../kernel/duty.ts'
import { evaluatedDuty } from './evaluated-duty.ts'

const name = 'suspension-wake'
const timer = 'ff_suspension_current.wake_at_ms'

const due = `
select e.execution_id
from flowfabric.ff_suspension_current s
join flowfabric.ff_exec_core e on e.execution_id = any (array[s.execution_id])
where s.wake_at_ms <= flowfabric.ff_now_ms()
  and ${inScope(name)}
order by s.wake_at_ms, s.execution_id
limit $1`

export const suspensionWake: Duty = {
  name,
  watch: { column: timer, isPrompt: true },
  intervalMs: 1000,
  runOnce: evaluatedDuty(name, `duty.${name}.due`, due),
}
