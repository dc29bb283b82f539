// Statements that write or read a whole flow at once. Their time grows with the flow, which may have 100,000 members: if the time
// limit of other statements stopped one, it would stop every further try too.
import type { StatementOptions } from '../../sql/sql.ts'

// Measured on a busy machine: 6 s to submit 58,000 members with 290,000 edges, 3 s to end such a flow.
export const wholeFlow = { statementTimeoutMs: 60_000 } as const satisfies StatementOptions

/** Up to this many rows, the limit of other statements is enough; setting a longer one would cost a statement. */
const mostOfSmallFlow = 1000

export function forRows(count: number): StatementOptions {
  return count > mostOfSmallFlow ? wholeFlow : {}
}
