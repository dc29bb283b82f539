// The deadline of an execution ends it in any state. Code that has something to clean up is asked to stop first.
import { cleanUpUntil, limitAsks } from '../../model/stop.ts'
import { asks, ends } from '../transition/transitions.ts'
import { decidedBy, timerDuty } from './timer-duty.ts'

const name = 'execution-deadline'
const ending = { outcome: 'expired', reason: 'execution_deadline', actor: name } as const

export const executionDeadline = timerDuty({
  name,
  timer: { column: 'ff_exec_core.deadline_at_ms', passes: '<' },
  intervalMs: 2000,
  act: decidedBy({
    duty: name,
    reads: () => [],
    decide: (executions) =>
      executions
        .filter(({ deadlineAt, now }) => deadlineAt !== null && deadlineAt < now)
        .map((execution) =>
          limitAsks(execution)
            ? asks(execution, { ...ending, until: cleanUpUntil(execution.now) })
            : ends(execution, ending),
        ),
  }),
})
