// Attempts that have taken longer than their policy allows, renewed or not: a failure of category `timeout`
// (`src/model/attempt-timeout.ts`).
import { timeOutAttempt } from '../../model/attempt-timeout.ts'
import type { LockedExecution } from '../../model/locked-execution.ts'
import type { ExecutionPolicy } from '../../model/policy.ts'
import { RowFault } from '../kernel/run-duty.ts'
import { policiesOf, readPoliciesCall } from '../transition/read-locked.ts'
import { ends, requeues, type Transition } from '../transition/transitions.ts'
import { decidedBy, timerDuty } from './timer-duty.ts'

const name = 'attempt-timeout'
const reason = 'attempt_timeout'

export const attemptTimeout = timerDuty({
  name,
  timer: { column: 'ff_exec_core.attempt_deadline_at_ms', passes: '<' },
  intervalMs: 2000,
  act: decidedBy({
    duty: name,
    reads: (uuids) => [readPoliciesCall(uuids)],
    decide: (executions, [policies]) => {
      const policyOf = policiesOf(policies)
      return executions
        .filter(({ attemptDeadlineAt, now }) => attemptDeadlineAt !== null && attemptDeadlineAt < now)
        .map((execution) => timeOut(execution, checked(policyOf.get(execution.uuid) ?? null)))
    },
  }),
})

// A policy was checked when it was stored. An attempt with a policy that was damaged since must not be retried for ever.
function checked(policy: ExecutionPolicy | null): ExecutionPolicy | null {
  const attempts = policy?.retry?.attempts
  if (attempts === undefined || Number.isInteger(attempts)) return policy
  throw new RowFault(`its policy has ${JSON.stringify(attempts)} attempts, which is no whole number`)
}

const failure = { category: 'timeout', error: null, errorEncoding: null }

function timeOut(execution: LockedExecution, policy: ExecutionPolicy | null): Transition {
  const timeout = timeOutAttempt({ ...execution, policy }, name, Math.random())
  const requeue = { actor: name, reason, leaseEffect: 'expired', attemptOutcome: 'timed_out', failure } as const
  switch (timeout.kind) {
    case 'expired':
      return ends(execution, { outcome: 'expired', reason, actor: name, failure })
    case 'cancelled':
      return ends(execution, { outcome: 'cancelled', reason: timeout.reason, actor: timeout.actor, failure })
    case 'retried':
      return requeues(execution, {
        ...requeue,
        event: 'retried',
        attemptState: 'pending_retry_attempt',
        interruption: 'none',
        nextAt: timeout.nextAt,
        expiryCount: 0,
      })
    case 'cleans_up':
      return requeues(execution, {
        ...requeue,
        event: 'released',
        attemptState: 'attempt_interrupted',
        interruption: 'cancelled',
        nextAt: null,
        expiryCount: 0,
        stopOutcome: timeout.isAsked ? 'expired' : undefined,
      })
  }
}
