// Sweeps of suspensions whose condition must be judged. What is due is looked for first; then it is locked and its facts are
// read in one round trip, judged here, and written in another.
import { evaluate, evaluateAtDeadline } from '../../model/condition-evaluate.ts'
import { mintUuid } from '../../model/uuid.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { lockSetCall } from '../transition/lock-set.ts'
import { openSuspensionCalls, openSuspensionsOf, type OpenSuspension } from '../waiting/suspension/open-suspensions.ts'
import { rearmCall } from '../waiting/suspension/rearm.ts'
import { evaluatedAt, takenBy, wakingBy, type DecidedSuspension } from '../waiting/suspension/satisfied.ts'
import { takeSignalsCall } from '../transition/take-signals.ts'
import { timeoutSignalCall } from '../waiting/signal/timeout-signal.ts'
import { wakeCall, type Waking } from '../transition/wake.ts'
import { dutyParams, takenUpCall } from '../kernel/candidate.ts'
import type { Duty } from '../kernel/duty.ts'
import { scopeOf } from '../kernel/scope.ts'
import { emptyDutySet, runDuty, type DutySet, type DutySteps } from '../kernel/run-duty.ts'

// A condition and its signals may be large, and all of a set are here at once.
const mostJudged = 200

/** `due` is the query for them; it selects `execution_id`. */
export function evaluatedDuty(duty: string, lookName: string, due: string): Duty['runOnce'] {
  const look = statement({
    name: lookName,
    params: dutyParams,
    row: { execution_id: 'uuid' },
    text: `select execution_id from (${due}) due`,
  })
  return (sql, options = {}) => {
    const steps: DutySteps = {
      look: (scope) => sql.query(look, { ...scope, only: [] }),
      act: async (scope, only) => {
        const uuids = only.length > 0 ? only : (await steps.look(scope)).map((row) => row.execution_id)
        return wakeDue(sql, duty, uuids)
      },
    }
    const batch = Math.min(scopeOf(options).batch, mostJudged)
    return runDuty(sql, duty, steps, { ...options, batch })
  }
}

async function wakeDue(sql: Sql, duty: string, uuids: readonly string[]): Promise<DutySet> {
  if (uuids.length === 0) return emptyDutySet
  let judged: readonly DueSuspensions[] = []
  const [, woken] = await sql.decide([lockSetCall(uuids), ...openSuspensionCalls(uuids)], ([locked, ...facts]) => {
    const suspensions = openSuspensionsOf(facts)
    judged = locked.flatMap(({ execution_id: uuid }) => judge(suspensions.get(uuid)))
    return writesFor(duty, judged, new Map(facts[0].map((row) => [row.execution_id, row.free_signal_no])))
  })
  const ready = woken.filter((row) => row.delay_until_ms === null)
  return {
    seen: uuids.length,
    processed: judged.length,
    effects: { readyQueueIds: [...new Set(ready.map((row) => row.queue_id))], wroteEvents: judged.length > 0 },
  }
}

interface DueSuspensions extends DecidedSuspension {
  readonly as: 'satisfied' | 'timed_out' | 'waiting'
}

/** Nothing for what has been resumed, or put off, since it was looked for. */
function judge(suspension: OpenSuspension | undefined): DueSuspensions[] {
  if (suspension === undefined) return []
  const { condition, input, wakeAt, timeoutAt, timeoutBehaviour } = suspension
  const isOver = timeoutAt !== null && timeoutAt < input.now
  const isDue = wakeAt !== null && wakeAt <= input.now
  if (!isOver && !isDue) return []
  const evaluation = evaluate(condition, input)
  if (evaluation.satisfied) return [{ suspension, evaluation, as: 'satisfied' }]
  if (!isOver || timeoutBehaviour !== 'auto_resume_with_timeout_signal')
    return [{ suspension, evaluation, as: 'waiting' }]
  return [{ suspension, evaluation: evaluateAtDeadline(condition, input), as: 'timed_out' }]
}

/** `freeNumbers`, by the execution's uuid: of the signals that timeouts give. */
function writesFor(duty: string, judged: readonly DueSuspensions[], freeNumbers: ReadonlyMap<string, number>) {
  const now = evaluatedAt(judged)
  const timedOut = judged.filter(({ as }) => as === 'timed_out')
  const waiting = judged.filter(({ as }) => as === 'waiting')
  const waking = judged.filter(({ as }) => as !== 'waiting')
  return [
    timeoutSignalCall(
      timedOut.map(({ suspension: { uuid, suspensionId } }) => {
        return { uuid, suspensionId, signalId: mintUuid(), signalNumber: freeNumbers.get(uuid)! }
      }),
      duty,
      now,
    ),
    wakeCall(waking.map((item) => wakingOf(duty, item, freeNumbers))),
    takeSignalsCall(waking.flatMap(takenBy), now),
    rearmCall(waiting.map(({ suspension, evaluation }) => ({ uuid: suspension.uuid, wakeAt: evaluation.dueAt }))),
    takenUpCall(
      duty,
      judged.map(({ suspension }) => suspension.uuid),
    ),
  ] as const
}

function wakingOf(duty: string, due: DueSuspensions, freeNumbers: ReadonlyMap<string, number>): Waking {
  const waking = wakingBy(duty, due)
  if (due.as === 'satisfied') return waking
  return {
    ...waking,
    interruption: 'timed_out',
    delayMs: null,
    reason: 'suspension_timeout_auto_resume',
    closeReason: 'timed_out_auto_resume',
    signalNumbers: [...waking.signalNumbers, freeNumbers.get(waking.uuid)!],
  }
}
