// Transitions that a transaction decides in this process, of executions that an earlier statement has locked: each ends, returns to
// the queue, or is asked to stop. These are the calls that write them, and the effects of their commit.
import type { LockedExecution } from '../../model/locked-execution.ts'
import type { Call } from '../../sql/sql.ts'
import { noEffects, type Effects } from '../kernel/effects.ts'
import { pendingDispatchOf } from '../kernel/pending-dispatch.ts'
import { askToStopCall, type AskToStop } from './ask-to-stop.ts'
import { endCall, type Ending } from './end.ts'
import { requeueCall, type Requeue } from './requeue.ts'

interface Of<Kind, Item> {
  readonly kind: Kind
  /** As it was read under the lock. */
  readonly execution: LockedExecution
  readonly item: Item
}

export type Transition = Of<'end', Ending> | Of<'requeue', Requeue> | Of<'ask', AskToStop>

export function ends(execution: LockedExecution, ending: Omit<Ending, 'uuid' | 'endedAt'>): Transition {
  return { kind: 'end', execution, item: { uuid: execution.uuid, endedAt: execution.now, ...ending } }
}

export function requeues(execution: LockedExecution, requeue: Omit<Requeue, 'uuid' | 'leftAt'>): Transition {
  return { kind: 'requeue', execution, item: { uuid: execution.uuid, leftAt: execution.now, ...requeue } }
}

export function asks(execution: LockedExecution, request: Omit<AskToStop, 'uuid' | 'askedAt'>): Transition {
  return { kind: 'ask', execution, item: { uuid: execution.uuid, askedAt: execution.now, ...request } }
}

/** At most one statement for each kind. */
export function transitionCalls(transitions: readonly Transition[]): readonly Call[] {
  const endings = transitions.flatMap((one) => (one.kind === 'end' ? [one.item] : []))
  const requeued = transitions.flatMap((one) => (one.kind === 'requeue' ? [one.item] : []))
  const asked = transitions.flatMap((one) => (one.kind === 'ask' ? [one.item] : []))
  return [
    ...(asked.length === 0 ? [] : [askToStopCall(asked)]),
    ...(requeued.length === 0 ? [] : [requeueCall(requeued)]),
    ...(endings.length === 0 ? [] : [endCall(endings)]),
  ]
}

export function transitionEffects(transitions: readonly Transition[]): Effects {
  if (transitions.length === 0) return noEffects
  const readyQueueIds = new Set<number>()
  const stoppedRunIds: string[] = []
  let pendingDispatch = 0
  for (const one of transitions) {
    const { execution } = one
    if (becomesReady(one)) readyQueueIds.add(execution.queueId)
    if (execution.lifecyclePhase === 'active') stoppedRunIds.push(execution.uuid)
    if (one.kind === 'end') pendingDispatch |= pendingDispatchOf(execution.attached)
  }
  return { readyQueueIds: [...readyQueueIds], stoppedRunIds, pendingDispatch, wroteEvents: true }
}

function becomesReady(transition: Transition): boolean {
  const { execution } = transition
  switch (transition.kind) {
    case 'end':
      return false
    case 'requeue':
      return transition.item.nextAt === null || transition.item.nextAt <= execution.now
    case 'ask':
      // A second request moves only the deadline.
      return execution.lifecyclePhase !== 'active' && execution.stop === null
  }
}
