// The shape of a graph: members by number, edges between them.

export interface Arc {
  readonly from: number
  readonly to: number
}

/**
 * A cycle, as its members in the order of its edges, beginning anywhere; null without one. Members without an inbound
 * edge are removed until none is left: the remaining ones are on a cycle or behind one.
 */
export function findCycle(memberCount: number, arcs: readonly Arc[]): number[] | null {
  const inbound = new Uint32Array(memberCount)
  const outgoing: number[][] = Array.from({ length: memberCount }, () => [])
  for (const { from, to } of arcs) {
    inbound[to]! += 1
    outgoing[from]!.push(to)
  }
  const free: number[] = []
  for (let member = 0; member < memberCount; member += 1) if (inbound[member] === 0) free.push(member)
  let taken = 0
  for (let member = free.pop(); member !== undefined; member = free.pop()) {
    taken += 1
    for (const next of outgoing[member]!) {
      inbound[next]! -= 1
      if (inbound[next] === 0) free.push(next)
    }
  }
  return taken === memberCount ? null : walkBack(inbound, arcs)
}

// Every remaining member has an inbound edge from a remaining member, so walking back reaches a member twice.
function walkBack(inbound: Uint32Array, arcs: readonly Arc[]): number[] {
  const before = new Map<number, number>()
  for (const { from, to } of arcs) if (inbound[from]! > 0 && inbound[to]! > 0) before.set(to, from)
  const walked: number[] = []
  const seenAt = new Map<number, number>()
  let member = before.keys().next().value!
  while (!seenAt.has(member)) {
    seenAt.set(member, walked.length)
    walked.push(member)
    member = before.get(member)!
  }
  return walked.slice(seenAt.get(member)).toReversed()
}

/**
 * `a -> b -> a`: the names on a cycle, with the first one repeated at the end; the middle of a long one is left out.
 */
export function showCycle(names: readonly string[]): string {
  const most = 20
  const shown =
    names.length <= most ? names : [...names.slice(0, most - 1), `… ${names.length - most} more …`, names.at(-1)!]
  return [...shown, names[0]!].join(' -> ')
}
