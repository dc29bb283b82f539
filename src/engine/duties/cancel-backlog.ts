// Whatever was to be cancelled and whose canceller did not get to it.
import { cancelBacklogDuty, cancelBacklogged, dueCancels } from '../dispatch/cancel-backlog.ts'
import type { Duty } from '../kernel/duty.ts'
import { sweep, sweepSteps } from '../kernel/sweep.ts'

const steps = sweepSteps(cancelBacklogDuty, dueCancels, cancelBacklogged)

export const cancelBacklog: Duty = {
  name: cancelBacklogDuty,
  watch: { column: 'ff_cancel_backlog.created_at_ms', isPrompt: false },
  intervalMs: 1000,
  runOnce: (sql, options) => sweep(sql, cancelBacklogDuty, steps(sql), options),
}
