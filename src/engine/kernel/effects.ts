// Effects: the notifications that follow a committed write. An operation returns them as a value, and one place
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
  /** Running executions, by uuid, that another process ended or asked to stop. */
  readonly stoppedRunIds?: readonly string[]
  /** Flows, by uuid, that have ended or may have ended. */
  readonly endedFlowIds?: readonly string[]
  /** The log has new events, and executions may have ended. */
  readonly wroteEvents?: boolean
}

/** Sends the effects of a committed write to this process and to others. */
export type Publish = (effects: Effects) => void

/** The answer of an operation that is not merged with others. */
export interface Written<Answer> {
  readonly answer: Answer
  readonly effects: Effects
}

export const noEffects: Effects = {}

/** A write that has events in the log and no other effect. */
export const onlyEvents: Effects = { wroteEvents: true }

export function mergeEffects(one: Effects, other: Effects): Effects {
  if (one === other || other === noEffects) return one
  if (one === noEffects) return other
  return {
    ...one,
    ...other,
    ...union('readyQueueIds', one, other),
    ...union('notifiedQueueIds', one, other),
    ...union('stoppedRunIds', one, other),
    ...union('endedFlowIds', one, other),
    ...(one.dueInMs && other.dueInMs && { dueInMs: soonest(one.dueInMs, other.dueInMs) }),
    ...(one.pendingDispatch && { pendingDispatch: one.pendingDispatch | (other.pendingDispatch ?? 0) }),
    ...(one.wroteEvents && { wroteEvents: true }),
  }
}

/**
 * The effects of commits whose set has not returned yet. A set may need another statement after its commit; if that one fails
 * and the set is sent again, the repeat finds nothing to write, and the effects of the first try would be lost.
 */
export class Unpublished {
  #effects = noEffects

  add(effects: Effects): void {
    this.#effects = mergeEffects(this.#effects, effects)
  }

  take(): Effects {
    const effects = this.#effects
    this.#effects = noEffects
    return effects
  }
}

type IdsField = 'readyQueueIds' | 'notifiedQueueIds' | 'stoppedRunIds' | 'endedFlowIds'

/** The field, if both have it. */
function union(field: IdsField, one: Effects, other: Effects): Effects {
  const [ids, others] = [one[field], other[field]]
  return ids === undefined || others === undefined ? {} : { [field]: [...new Set<unknown>([...ids, ...others])] }
}

type DueTimes = NonNullable<Effects['dueInMs']>

function soonest(one: DueTimes, other: DueTimes): DueTimes {
  const merged: Partial<Record<HintedTimer, number>> = { ...one }
  for (const [timer, inMs] of Object.entries(other) as [HintedTimer, number][]) {
    merged[timer] = Math.min(merged[timer] ?? inMs, inMs)
  }
  return merged
}
