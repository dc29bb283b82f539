// Cancels the members that the cancelling process has left in the backlog.
import { cancelBacklogDuty, cancelMembers, dueCancels } from '../dispatch/cancel-backlog.ts'
import type { Duty } from '../kernel/duty.ts'
import { runDuty } from '../kernel/run-duty.ts'

const parts = { name: cancelBacklogDuty, due: dueCancels, act: cancelMembers }

export const cancelBacklog: Duty = {
  name: cancelBacklogDuty,
  watch: { column: 'ff_cancel_backlog.created_at_ms', isPrompt: false },
  intervalMs: 1000,
  runOnce: (sql, options) => runDuty(sql, parts, options),
}
