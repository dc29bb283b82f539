// What a write leaves for others to do, as bits of its answer: the process that wrote it does it behind the commit, and
// whatever it does not get to is found by the reconcilers.
import { attached } from '../../model/attached.ts'

export const owed = {
  flow: attached.flow,
  parent: attached.parent,
  children: attached.children,
  /** Of what is owed to flows, what the resolver's plain form has left. No bit of an execution. */
  moreOfFlow: 1 << 29,
  /** Rows in `ff_cancel_backlog`. No bit of an execution. */
  cancels: 1 << 30,
} as const

const byEnding = owed.flow | owed.parent | owed.children

/** What the ending of an execution owes, of its `attached` bits. */
export function owedBySql(attachedBits: string): string {
  return `${attachedBits} & ${byEnding}`
}

/** The same over all rows of a CTE `ended`; zero when there is none. */
export const owedByEnded = `coalesce((select bit_or(${owedBySql('attached')}) from ended), 0)`
