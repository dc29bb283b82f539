// What endings owe others, where the process that wrote them did not get to it: it crashed, or found something held.
import { childrenDuty, childrenSteps } from '../dispatch/children.ts'
import { mostJudged, parentDuty, parentSteps } from '../dispatch/parent.ts'
import { flowSteps } from '../dispatch/sets.ts'
import { dispatchDuty } from '../dispatch/take-dispatches.ts'
import { together, type Duty } from '../kernel/duty.ts'
import { scopeOf } from '../kernel/scope.ts'
import { runDuty } from '../kernel/run-duty.ts'

export const dispatch: Duty = {
  name: dispatchDuty,
  // The process that wrote an ending resolves it within milliseconds.
  watch: { column: 'ff_dispatch.created_at_ms', isPrompt: false },
  intervalMs: 1000,
  async runOnce(sql, options = {}) {
    const batch = Math.min(scopeOf(options).batch, mostJudged)
    const runs = [
      await runDuty(sql, dispatchDuty, flowSteps(sql), options),
      await runDuty(sql, parentDuty, parentSteps(sql), { ...options, batch }),
      await runDuty(sql, childrenDuty, childrenSteps(sql), options),
    ]
    return runs.reduce(together)
  },
}
