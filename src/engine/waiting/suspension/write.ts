// The calls that write the decisions. In the order of locks: execution, lease, attempt; suspension; waitpoints; and
// last the executions that return to their queue at once.
import { EngineError } from '../../../model/errors.ts'
import type { Call } from '../../../sql/sql.ts'
import { stopCall } from './stop.ts'
import { rowLocked } from '../../kernel/merge.ts'
import { factOf } from './facts.ts'
import { numbersTakenBy, type Decided, type SuspendDecision, type NewlySuspended } from './evaluate.ts'
import { closeWaitpointsCall, openWaitpointsCall } from './open-waitpoints.ts'
import { parkCall } from '../../transition/park.ts'
import { recordCall } from './record.ts'
import { takeSignalsCall } from '../../transition/take-signals.ts'
import type { SuspendedDirectly } from './suspend-directly.ts'
import { answeredBy, interruptionBy, wakeCall, type Waking } from '../../transition/wake.ts'

export function writesOf(decisions: readonly SuspendDecision[]): readonly Call[] {
  const stopped = decisions.filter((decision) => isKind(decision, 'stop'))
  const judged = decisions.filter((decision) => isKind(decision, 'suspend'))
  const parked = judged.filter(({ isAtOnce }) => !isAtOnce)
  const woken = parked.filter(({ verdict }) => verdict.satisfied)
  const taken = judged.flatMap(takenBy)
  return [
    ...(stopped.length > 0 ? [stopCall(stopped)] : []),
    ...(parked.length > 0 ? [parkCall(parked)] : []),
    ...(judged.length > 0 ? [recordCall(judged)] : []),
    ...(parked.some(({ doors }) => doors.length > 0) ? [openWaitpointsCall(parked)] : []),
    ...(judged.some(({ closing }) => closing.length > 0) ? [closeWaitpointsCall(judged)] : []),
    ...(taken.length > 0 ? [takeSignalsCall(taken, judged[0]!.row.now_ms)] : []),
    ...(woken.length > 0 ? [wakeCall(woken.map(wakingOf))] : []),
  ]
}

export function isKind<Kind extends (Decided | SuspendedDirectly)['kind']>(
  decision: SuspendDecision | SuspendedDirectly,
  kind: Kind,
): decision is Extract<Decided | SuspendedDirectly, { readonly kind: Kind }> {
  return decision !== rowLocked && !EngineError.is(decision) && decision.kind === kind
}

function takenBy(judged: NewlySuspended) {
  const { uuid, suspensionId } = judged.item
  return numbersTakenBy(judged).map((signalNumber) => ({ uuid, suspensionId, signalNumber }))
}

function wakingOf(judged: NewlySuspended): Waking {
  const { item, row, verdict, signals } = judged
  return {
    uuid: item.uuid,
    interruption: interruptionBy(verdict, item.condition),
    delayMs: item.resumeDelayMs,
    wokenAt: row.now_ms,
    actor: item.actor,
    reason: null,
    closeReason: 'resumed',
    outcome: verdict,
    answered: answeredBy(verdict, signals.map(factOf)),
    signalNumbers: numbersTakenBy(judged),
  }
}
