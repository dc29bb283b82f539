// The calls that write the decisions, while the executions are locked. A suspension is recorded before its execution leaves the
// holder. Executions that return to their queue at once come last.
import { EngineError } from '../../../model/errors.ts'
import type { Call } from '../../../sql/sql.ts'
import { stopCalls } from './stop.ts'
import { rowLocked } from '../../kernel/merge.ts'
import { storedConditionSignal } from './open-suspensions.ts'
import { numbersTakenBy, type Decided, type SuspendDecision, type NewlySuspended } from './evaluate.ts'
import { closeWaitpointsCall, openWaitpointsCall } from './open-waitpoints.ts'
import { parkCall } from '../../transition/park.ts'
import { recordCall } from './record.ts'
import { takeSignalsCall } from '../../transition/take-signals.ts'
import type { SuspendedDirectly } from './suspend-directly.ts'
import { answeredBy, interruptionBy, wakeCall, type Waking } from '../../transition/wake.ts'

export function writesOf(decisions: readonly SuspendDecision[]): readonly Call[] {
  const stopped = decisions.filter((decision) => isKind(decision, 'stop'))
  const suspended = decisions.filter((decision) => isKind(decision, 'suspend'))
  const parked = suspended.filter(({ isAtOnce }) => !isAtOnce)
  const woken = parked.filter(({ evaluation }) => evaluation.satisfied)
  const taken = suspended.flatMap(takenBy)
  return [
    ...stopCalls(stopped),
    ...(suspended.length > 0 ? [recordCall(suspended)] : []),
    ...(parked.length > 0 ? [parkCall(parked.map(({ item }) => item))] : []),
    ...(parked.some(({ waitpoints }) => waitpoints.length > 0) ? [openWaitpointsCall(parked)] : []),
    ...(suspended.some(({ closing }) => closing.length > 0) ? [closeWaitpointsCall(suspended)] : []),
    ...(taken.length > 0 ? [takeSignalsCall(taken, suspended[0]!.row.now_ms)] : []),
    ...(woken.length > 0 ? [wakeCall(woken.map(wakingOf))] : []),
  ]
}

export function isKind<Kind extends (Decided | SuspendedDirectly)['kind']>(
  decision: SuspendDecision | SuspendedDirectly,
  kind: Kind,
): decision is Extract<Decided | SuspendedDirectly, { readonly kind: Kind }> {
  return decision !== rowLocked && !EngineError.is(decision) && decision.kind === kind
}

function takenBy(suspended: NewlySuspended) {
  const { uuid, suspensionId } = suspended.item
  return numbersTakenBy(suspended).map((signalNumber) => ({ uuid, suspensionId, signalNumber }))
}

function wakingOf(suspended: NewlySuspended): Waking {
  const { item, row, evaluation, signals } = suspended
  return {
    uuid: item.uuid,
    interruption: interruptionBy(evaluation, item.condition),
    delayMs: item.resumeDelayMs,
    wokenAt: row.now_ms,
    actor: item.actor,
    reason: null,
    closeReason: 'resumed',
    outcome: evaluation,
    answered: answeredBy(evaluation, signals.map(storedConditionSignal)),
    signalNumbers: numbersTakenBy(suspended),
  }
}
