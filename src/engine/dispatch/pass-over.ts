// Another transaction may have locked a flow, or a parent, with more pending dispatch than one set takes. The set then passes over
// its rows and takes those behind them; a later set takes the rows again.
import { mergeEffects } from '../kernel/effects.ts'
import type { Dispatched } from './dispatched.ts'

export interface TakenSet extends Dispatched {
  /** More rows may follow. */
  readonly isFull: boolean
  /** The flows or parents that other transactions had locked, so that their dispatch is still pending. */
  readonly lockedIds: readonly string[]
}

// If more than these are locked at once, the rows behind them wait too.
const mostPassedOver = 100

/** `take` takes a set of rows, without those of the flows or parents in its argument. */
export async function passingOver(take: (passedOver: readonly string[]) => Promise<TakenSet>): Promise<Dispatched> {
  const passedOver = new Set<string>()
  let { isFull, lockedIds, ...taken } = await take([])
  while (isFull && lockedIds.length > 0 && passedOver.size < mostPassedOver) {
    for (const id of lockedIds) passedOver.add(id)
    const next = await take([...passedOver])
    taken = together(taken, next)
    isFull = next.isFull
    lockedIds = next.lockedIds
  }
  return taken
}

function together(one: Dispatched, other: Dispatched): Dispatched {
  return {
    seen: one.seen + other.seen,
    done: one.done + other.done,
    oldestMs: smaller(one.oldestMs, other.oldestMs),
    effects: mergeEffects(one.effects, other.effects),
  }
}

function smaller(one: number | null, other: number | null): number | null {
  if (one === null || other === null) return one ?? other
  return Math.min(one, other)
}
