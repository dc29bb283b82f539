// The members of a random flow, as the database has them.
import type { Ending } from '../../../src/model/edge-group.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { type MemberState } from '../../model/flow-reference.ts'
import type { Row } from '../../support/raw.ts'
import { membersOfTree } from '../../support/reads.ts'

export interface FoundMember {
  readonly state: MemberState
  readonly reason: string | null
  readonly generation: number
  readonly group: unknown
}

/** By name, of the whole tree. */
export async function findMembers(sql: Sql, root: string): Promise<ReadonlyMap<string, FoundMember>> {
  const found = await membersOfTree(sql, root)
  return new Map(found.map((row) => [row['member_name'] as string, memberOf(row)]))
}

function memberOf(row: Row): FoundMember {
  const { terminal_outcome: outcome, eligibility_state: eligibility, state, satisfied, failed, skipped } = row
  const live = eligibility === 'blocked_by_dependencies' ? 'blocked' : 'ready'
  return {
    state: outcome === 'none' ? live : (outcome as Ending),
    reason: row['reason'] as string | null,
    generation: row['generation'] as number,
    group: state === null ? null : { state, satisfied, failed, skipped },
  }
}
