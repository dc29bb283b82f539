// The invariants after a test.
import { checkInvariants, invariants, type Violation } from '../../src/engine/invariants.ts'
import type { Sql } from '../../src/sql/sql.ts'
import { rows } from './raw.ts'

// One statement for all: one by one they take ten times as long on the embedded database (measured: 20 ms of each test).
const violated = invariants
  .map(([, { text }], index) => `select ${index} as index where exists (${text})`)
  .join('\nunion all\n')

/** As `checkInvariants`, and faster where every invariant holds. */
export async function findViolations(sql: Sql): Promise<readonly (Violation | string)[]> {
  const found = await rows(sql, violated)
  if (found.length === 0) return []
  const violations = await checkInvariants(sql)
  return violations.length > 0 ? violations : found.map((row) => invariants[row['index'] as number]![0])
}
