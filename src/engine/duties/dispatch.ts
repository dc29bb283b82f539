// The dispatch that endings need, where the process that wrote them did not get to it: it crashed, or another transaction had locked
// the rows.
import { childrenParts } from '../dispatch/children.ts'
import { parentParts } from '../dispatch/parent.ts'
import { flowParts } from '../dispatch/sets.ts'
import { dispatchDuty } from '../dispatch/take-dispatches.ts'
import { together, type Duty, type Run } from '../kernel/duty.ts'
import { runDuty } from '../kernel/run-duty.ts'

export const dispatch: Duty = {
  name: dispatchDuty,
  // The process that wrote an ending resolves it within milliseconds.
  watch: { column: 'ff_dispatch.created_at_ms', isPrompt: false },
  intervalMs: 1000,
  async runOnce(sql, options = {}) {
    const runs: Run[] = []
    for (const parts of [flowParts, parentParts, childrenParts]) runs.push(await runDuty(sql, parts, options))
    return runs.reduce(together)
  },
}
