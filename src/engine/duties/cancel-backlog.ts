// Whatever was to be cancelled and whose canceller did not get to it.
import { cancelBacklogDuty, cancelBacklogged, dueCancels } from '../dispatch/cancel-backlog.ts'
import type { Duty } from '../kernel/duty.ts'
import { runDuty, dutySteps } from '../kernel/run-duty.ts'

const steps = dutySteps(cancelBacklogDuty, dueCancels, cancelBacklogged)

export const cancelBacklog: Duty = {
  name: cancelBacklogDuty,
  watch: { column: 'ff_cancel_backlog.created_at_ms', isPrompt: false },
  intervalMs: 1000,
  runOnce: (sql, options) => runDuty(sql, cancelBacklogDuty, steps(sql), options),
}
