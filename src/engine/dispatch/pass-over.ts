// Somebody may hold a flow, or a parent, to which more is owed than one set takes. It is passed over for what stands behind it,
// and met again.
import { mergeEffects } from '../kernel/effects.ts'
import type { Dispatched } from './dispatched.ts'

export interface TakenSet extends Dispatched {
  /** There may be more behind it. */
  readonly isFull: boolean
  /** To whom something was owed and could not be told, because others hold them. */
  readonly heldIds: readonly string[]
}

// Those who are held at once may be more than these: then the others wait with them.
const mostPassedOver = 100

/** `take` takes a set of what is owed to any but these. */
export async function passingOver(take: (passedOver: readonly string[]) => Promise<TakenSet>): Promise<Dispatched> {
  const passedOver = new Set<string>()
  let { isFull, heldIds, ...taken } = await take([])
  while (isFull && heldIds.length > 0 && passedOver.size < mostPassedOver) {
    for (const id of heldIds) passedOver.add(id)
    const next = await take([...passedOver])
    taken = together(taken, next)
    isFull = next.isFull
    heldIds = next.heldIds
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
