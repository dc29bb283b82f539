// The words for the states of executions: events and attempts are shown with the states that `list` shows.
import type { LogEvent } from '../engine/event/log-event.ts'
import type { EventKind } from '../model/event-kind.ts'
import type { PublicState, TerminalOutcome } from '../model/state.ts'

/** The database stores `success`; all output calls it `completed`. */
export function outcomeWord(outcome: Exclude<TerminalOutcome, 'none'>): PublicState {
  return outcome === 'success' ? 'completed' : outcome
}

/** How an attempt ended, or why it was interrupted: `completed`, `lease expired`. */
export function attemptWord(outcome: string): string {
  if (outcome === 'success') return outcomeWord(outcome)
  return attemptWords[outcome] ?? outcome.replaceAll('_', ' ')
}

const attemptWords: Readonly<Record<string, string>> = {
  running: 'active',
  lease_expired_reclaimable: 'lease expired',
}

/** The state of an execution after this event; null when the event changes none. */
export function stateAfter({ kind, outcome }: Pick<LogEvent, 'kind' | 'outcome'>): PublicState | null {
  if (kind === 'ended' && outcome !== null) return outcomeWord(outcome)
  return stateBehind[kind] ?? null
}

const stateBehind: Readonly<Partial<Record<EventKind, PublicState>>> = {
  acquired: 'active',
  lapsed: 'waiting',
  revoked: 'waiting',
  released: 'waiting',
  delayed: 'delayed',
  retried: 'delayed',
  suspended: 'suspended',
  resumed: 'resumable',
  replayed: 'waiting',
  restarted: 'waiting',
}

/** How the execution reached its state, where the state does not show it. */
export function wayInto({ kind, leaseEffect, attemptIndex }: LogEvent): string {
  if (kind === 'acquired') {
    const attempt = attemptIndex === null || attemptIndex === 0 ? '' : `attempt ${attemptIndex + 1}`
    return leaseEffect === 'reclaimed' ? `${attempt} taken over`.trim() : attempt
  }
  return ways[kind] ?? ''
}

const ways: Readonly<Partial<Record<EventKind, string>>> = {
  lapsed: 'lease expired',
  revoked: 'lease revoked',
  released: 'released by its worker',
  retried: 'to retry',
  replayed: 'replayed',
  restarted: 'restarted',
}
