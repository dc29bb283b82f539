// `ctx.now()`: the time of a record, so that every run reads the same one.
import type { History } from './history.ts'
import type { Holder } from './holder.ts'
import { recordedWhole } from './inside-step.ts'
import type { Rest } from './rest.ts'
import type { Steps } from './steps.ts'

/** What a call of the code needs to leave a record. */
export interface Recording {
  readonly holder: Holder
  readonly history: History
  readonly rest: Rest
  readonly steps: Steps
}

export async function recordedNow({ holder, history, rest, steps }: Recording): Promise<number> {
  steps.refuseInside('ctx.now()', recordedWhole)
  const met = history.meet('value', 'ctx.now')
  if (met.recorded !== null) {
    await steps.inTurn(met.recorded)
    return met.recorded.recordedAt
  }
  const { recordedAt } = await rest.fresh(() => rest.recorded(holder.record(met, { state: 'succeeded' })))
  return recordedAt
}
