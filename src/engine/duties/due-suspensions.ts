// Suspensions whose deadline has passed, or whose condition time alone may have satisfied: both duties on suspensions decide by
// `src/model/suspension-timeout.ts`, from rows that are read under the lock.
import { decideDue, type DueDecision } from '../../model/suspension-timeout.ts'
import { cleanUpUntil } from '../../model/stop.ts'
import type { LockedExecution } from '../../model/locked-execution.ts'
import { mintUuid } from '../../model/uuid.ts'
import type { Call, Sql } from '../../sql/sql.ts'
import { releaseCall } from '../kernel/due.ts'
import { mergeEffects } from '../kernel/effects.ts'
import { decideRows, type DutySet } from '../kernel/run-duty.ts'
import { lockSetCall } from '../transition/lock-set.ts'
import { lockedExecutions, readLockedCall } from '../transition/read-locked.ts'
import { takeSignalsCall } from '../transition/take-signals.ts'
import { asks, ends, transitionCalls, transitionEffects, type Transition } from '../transition/transitions.ts'
import { wakeCall, type Waking } from '../transition/wake.ts'
import { timeoutSignalCall } from '../waiting/signal/timeout-signal.ts'
import { escalateCall } from '../waiting/suspension/escalate.ts'
import { openSuspensionCalls, openSuspensionsOf, type OpenSuspension } from '../waiting/suspension/open-suspensions.ts'
import { rearmCall } from '../waiting/suspension/rearm.ts'
import { takenBy, wakingBy } from '../waiting/suspension/satisfied.ts'

/** The most suspensions of a set: a condition and its signals may be large, and those of a whole set are in memory together. */
export const mostDecided = 200

// The actor of everything that a deadline does, whichever of the two duties came first.
const timeoutActor = 'suspension-timeout'

interface Due {
  readonly suspension: OpenSuspension
  readonly execution: LockedExecution
  /** The number for the signal of a timeout. */
  readonly freeSignalNumber: number
  readonly decision: Exclude<DueDecision, { readonly kind: 'none' }>
}

export async function processDueSuspensions(sql: Sql, duty: string, uuids: readonly string[]): Promise<DutySet> {
  let due: readonly Due[] = []
  let transitions: readonly Transition[] = []
  let wakings: readonly Waking[] = []
  await sql.decide(
    [lockSetCall(uuids), readLockedCall(uuids), ...openSuspensionCalls(uuids)],
    ([locked, rows, ...open]) => {
      const executions = lockedExecutions(locked, rows)
      const suspensions = openSuspensionsOf(open)
      due = open[0].flatMap(({ execution_id: uuid, free_signal_no: freeSignalNumber }) => {
        const [suspension, execution] = [suspensions.get(uuid), executions.get(uuid)]
        if (suspension === undefined || execution === undefined) return []
        const decision = decideRows(() => decideDue(suspension, execution))
        return decision.kind === 'none' ? [] : [{ suspension, execution, freeSignalNumber, decision }]
      })
      transitions = due.flatMap(transitionOf)
      wakings = due.flatMap((one) => wakingOf(duty, one))
      return [...transitionCalls(transitions), ...suspensionCalls(due, wakings), releaseCall(duty, due.map(uuidOf))]
    },
  )
  const ready = new Map(due.map(({ execution }) => [execution.uuid, execution.queueId]))
  const readyQueueIds = wakings.flatMap(({ uuid, delayMs }) => ((delayMs ?? 0) > 0 ? [] : [ready.get(uuid)!]))
  const woken = { readyQueueIds: [...new Set(readyQueueIds)], wroteEvents: due.length > 0 }
  const effects = mergeEffects(transitionEffects(transitions), woken)
  return { seen: uuids.length, processed: due.length, effects }
}

function uuidOf({ execution }: Due): string {
  return execution.uuid
}

function transitionOf({ execution, decision }: Due): Transition[] {
  if (decision.kind === 'asked') {
    const { outcome, reason } = decision
    return [asks(execution, { outcome, reason, actor: timeoutActor, until: cleanUpUntil(execution.now) })]
  }
  if (decision.kind !== 'ends') return []
  const { outcome, reason, closeReason } = decision
  const failure = outcome === 'cancelled' ? undefined : { category: 'timeout', error: null, errorEncoding: null }
  return [ends(execution, { outcome, reason, actor: timeoutActor, failure, closeReason })]
}

function wakingOf(duty: string, { suspension, freeSignalNumber, decision }: Due): Waking[] {
  if (decision.kind !== 'satisfied' && decision.kind !== 'resumes') return []
  if (decision.kind === 'satisfied') return [wakingBy(duty, { suspension, evaluation: decision.evaluation })]
  const waking = wakingBy(timeoutActor, { suspension, evaluation: decision.evaluation })
  return [
    {
      ...waking,
      interruption: 'timed_out',
      delayMs: null,
      reason: 'suspension_timeout_auto_resume',
      closeReason: 'timed_out_auto_resume',
      signalNumbers: [...waking.signalNumbers, freeSignalNumber],
    },
  ]
}

function suspensionCalls(due: readonly Due[], wakings: readonly Waking[]): Call[] {
  const resumed = due.flatMap(({ suspension, decision }) =>
    decision.kind === 'satisfied' || decision.kind === 'resumes'
      ? [{ suspension, evaluation: decision.evaluation }]
      : [],
  )
  const timedOut = due.filter(({ decision }) => decision.kind === 'resumes')
  const rearmed = due.flatMap(({ suspension: { uuid }, decision }) =>
    decision.kind === 'waits' ? [{ uuid, wakeAt: decision.evaluation.dueAt }] : [],
  )
  const escalated = due.flatMap(({ execution: { uuid, now }, decision }) =>
    decision.kind === 'escalates' ? [{ uuid, escalatedAt: now, wakeAt: decision.wakeAt }] : [],
  )
  const now = due.reduce((latest, { execution }) => Math.max(latest, execution.now), 0)
  return [
    ...(timedOut.length === 0 ? [] : [timeoutSignalCall(timedOut.map(signalOf), timeoutActor, now)]),
    ...(resumed.length === 0 ? [] : [wakeCall(wakings), takeSignalsCall(resumed.flatMap(takenBy), now)]),
    ...(rearmed.length === 0 ? [] : [rearmCall(rearmed)]),
    ...(escalated.length === 0 ? [] : [escalateCall(escalated, timeoutActor)]),
  ]
}

function signalOf({ suspension: { uuid, suspensionId }, freeSignalNumber }: Due) {
  return { uuid, suspensionId, signalId: mintUuid(), signalNumber: freeSignalNumber }
}
