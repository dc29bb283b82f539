// A holder that was asked to stop and did not stop in time: the execution ends cancelled, or as the request demanded, with the reason
// and the actor of the request.
import { ends } from '../transition/transitions.ts'
import { decidedBy, timerDuty } from './timer-duty.ts'

const name = 'cancel-deadline'

export const cancelDeadline = timerDuty({
  name,
  timer: { column: 'ff_exec_core.cancel_deadline_at_ms', passes: '<=' },
  intervalMs: 1000,
  act: decidedBy({
    duty: name,
    reads: () => [],
    decide: (executions) =>
      executions.flatMap((execution) => {
        const { stop, now } = execution
        if (stop === null || stop.deadlineAt === null || stop.deadlineAt > now) return []
        const { outcome, reason, actor } = stop
        return [ends(execution, { outcome: outcome ?? 'cancelled', reason, actor: actor ?? name })]
      }),
  }),
})
