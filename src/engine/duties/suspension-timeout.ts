// Suspensions whose deadline has passed. Each ends its execution, resumes it with a signal of the timeout, or escalates.
import { timerDuty } from './timer-duty.ts'
import { mostDecided, processDueSuspensions } from './due-suspensions.ts'

const name = 'suspension-timeout'

export const suspensionTimeout = timerDuty({
  name,
  timer: { column: 'ff_suspension_current.timeout_at_ms', passes: '<' },
  intervalMs: 2000,
  largestBatch: mostDecided,
  act: (sql, uuids) => processDueSuspensions(sql, name, uuids),
})
