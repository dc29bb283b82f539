// Suspensions whose condition time alone may have satisfied: the execution continues. The operation that evaluated the condition last
// has written the time; each new fact can only bring it nearer.
import { timerDuty } from './timer-duty.ts'
import { mostDecided, processDueSuspensions } from './due-suspensions.ts'

const name = 'suspension-wake'

export const suspensionWake = timerDuty({
  name,
  timer: { column: 'ff_suspension_current.wake_at_ms', passes: '<=' },
  intervalMs: 1000,
  largestBatch: mostDecided,
  act: (sql, uuids) => processDueSuspensions(sql, name, uuids),
})
