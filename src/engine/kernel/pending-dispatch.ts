// Work that a write leaves to the dispatcher, as bits of its answer. The process that wrote it does the work after the commit; a
// duty finds what remains.
import { attached } from '../../model/attached.ts'

export const pendingDispatch = {
  flow: attached.flow,
  parent: attached.parent,
  children: attached.children,
  /** Rows in `ff_cancel_backlog`. Not a bit of an execution. */
  cancels: 1 << 30,
} as const

const byEnding = pendingDispatch.flow | pendingDispatch.parent | pendingDispatch.children

/** The dispatch that the ending of an execution needs, from its `attached` bits. */
export function pendingDispatchSql(attachedBits: string): string {
  return `${attachedBits} & ${byEnding}`
}

/** The same in this process. */
export function pendingDispatchOf(attachedBits: number): number {
  return attachedBits & byEnding
}

/** The same over all rows of a CTE `ended`; zero when there is none. */
export const pendingDispatchOfEnded = `coalesce((select bit_or(${pendingDispatchSql('attached')}) from ended), 0)`
