// A random flow as the database has it, and random changes to the queues of owed work.
import type { Ending } from '../../../src/model/edge-group.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { type MemberState } from '../../model/flow-reference.ts'
import { rows, type Row } from '../../support/raw.ts'

export interface FoundMember {
  readonly state: MemberState
  readonly reason: string | null
  readonly generation: number
  readonly group: unknown
}

/** By name, of the whole tree. */
export async function findMembers(sql: Sql, root: string): Promise<ReadonlyMap<string, FoundMember>> {
  const found = await rows(sql, membersOf(root))
  return new Map(found.map((row) => [row['member_name'] as string, memberOf(row)]))
}

/** `standing` is the name of the member that the flow stands for. */
export function findFlows(sql: Sql, root: string): Promise<Row[]> {
  return rows(sql, flowsOf(root))
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

const membersOf = (root: string) => `
select m.member_name, e.terminal_outcome, e.eligibility_state, e.generation, g.state, g.satisfied, g.failed, g.skipped,
  coalesce(e.failure_reason, e.cancellation_reason) as reason
from flowfabric.ff_flow_core f
join flowfabric.ff_flow_member m on m.flow_id = f.flow_id
join flowfabric.ff_exec_core e on e.execution_id = m.execution_id
left join flowfabric.ff_edge_group g on g.downstream_id = e.execution_id
where f.root_flow_id = '${root}'`

const flowsOf = (root: string) => `
select f.*, m.member_name as standing
from flowfabric.ff_flow_core f
left join flowfabric.ff_flow_member m on m.execution_id = f.member_id
where f.root_flow_id = '${root}'`

export const reorder = `
update flowfabric.ff_dispatch set created_at_ms = 1 + floor(random() * 1000);
update flowfabric.ff_cancel_backlog set created_at_ms = 1 + floor(random() * 1000)`

/** Repeats some resolutions that were done before, of this generation or the last. */
export const repeatEndings = (root: string) => `
insert into flowfabric.ff_dispatch (execution_id, generation, flow_id, created_at_ms, outcome, is_counted)
select e.execution_id, e.generation - g.ago, e.flow_id, 1, case g.ago when 0 then e.terminal_outcome else 'failed' end, true
from flowfabric.ff_flow_core f
join flowfabric.ff_exec_core e on e.flow_id = f.flow_id
cross join generate_series(0, 1) as g (ago)
where f.root_flow_id = '${root}' and e.generation >= g.ago and (g.ago = 1 or e.terminal_outcome <> 'none')
order by random()
limit 5
on conflict do nothing`
