// Effects: the notifications that a committed write owes to others. An operation returns them as a value, and one place
// publishes them after the commit (`publish` in `src/engine/publisher.ts`). A lost effect costs a poll: every waiter polls
// too, and a duty dispatches the rows that remain.

/** Timers that are announced when they are due soon, so that the supervisor polls in time. */
export type HintedTimer = 'delay' | 'timeout' | 'wake'

export interface Effects {
  /** Queues that received claimable executions. */
  readonly readyQueueIds?: readonly number[]
  /** More such queues. The write itself sent the NOTIFY, so that only this process must be notified. */
  readonly notifiedQueueIds?: readonly number[]
  /** Timers that the write has set: the time until the first of each kind is due. */
  readonly dueInMs?: Readonly<Partial<Record<HintedTimer, number>>>
  /** Work for the dispatcher, as bits of `pendingDispatch`. */
  readonly pendingDispatch?: number
  /** Running executions, by uuid, that were ended or asked to stop without their holder. */
  readonly stoppedRunIds?: readonly string[]
  /** Flows, by uuid, that have ended or may have ended. */
  readonly endedFlowIds?: readonly string[]
  /** The log has new events, and executions may have ended. */
  readonly wroteEvents?: boolean
}

/** Sends the effects of a committed write to this process and to others. */
export type Publish = (effects: Effects) => void

export const noEffects: Effects = {}

/** A write that has events in the log and no other effect. */
export const onlyEvents: Effects = { wroteEvents: true }

export function mergeEffects(one: Effects, other: Effects): Effects {
  if (one === other || other === noEffects) return one
  if (one === noEffects) return other
  return {
    readyQueueIds: union(one.readyQueueIds, other.readyQueueIds),
    notifiedQueueIds: union(one.notifiedQueueIds, other.notifiedQueueIds),
    dueInMs: soonest(one.dueInMs, other.dueInMs),
    pendingDispatch: (one.pendingDispatch ?? 0) | (other.pendingDispatch ?? 0),
    stoppedRunIds: union(one.stoppedRunIds, other.stoppedRunIds),
    endedFlowIds: union(one.endedFlowIds, other.endedFlowIds),
    wroteEvents: one.wroteEvents === true || other.wroteEvents === true,
  }
}

function union<Id>(one: readonly Id[] = [], other: readonly Id[] = []): readonly Id[] {
  if (other.length === 0) return one
  return one.length === 0 ? other : [...new Set([...one, ...other])]
}

type DueTimes = NonNullable<Effects['dueInMs']>

function soonest(one: DueTimes = {}, other: DueTimes = {}): DueTimes {
  const merged: Partial<Record<HintedTimer, number>> = { ...one }
  for (const [timer, inMs] of Object.entries(other)) {
    merged[timer as HintedTimer] = Math.min(merged[timer as HintedTimer] ?? inMs, inMs)
  }
  return merged
}
