// `ctx.now()`: the time of a record, so that every run reads the same one.
import type { History } from './history.ts'
import type { Holder } from './holder.ts'
import { recordedWhole } from './inside-step.ts'
import type { IdleDetector } from './idle.ts'
import type { Steps } from './steps.ts'

/** The parts of a run that a call needs to leave a record. */
export interface Recording {
  readonly holder: Holder
  readonly history: History
  readonly idle: IdleDetector
  readonly steps: Steps
}

export async function recordedNow({ holder, history, idle, steps }: Recording): Promise<number> {
  steps.refuseInside('ctx.now()', recordedWhole)
  const call = history.reach('value', 'ctx.now')
  if (call.recorded !== null) {
    await steps.inTurn(call.recorded)
    return call.recorded.recordedAt
  }
  const { recordedAt } = await idle.fresh(() => idle.recorded(holder.record(call, { state: 'succeeded' })))
  return recordedAt
}
