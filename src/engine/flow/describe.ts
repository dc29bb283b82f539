// One flow with the exact number of its members in each state and what they wait for, all of one moment.
import { publicStates, type PublicState } from '../../model/state.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { visibleFlow } from '../kernel/visible.ts'
import { decodeGroup, groupJson, type EdgeGroup, type GroupJson } from './edge-group.ts'
import { decodeFlow, flowColumns, flowJoins, flowRow, type Flow } from './snapshot.ts'

export interface FlowDetail extends Flow {
  readonly members: Readonly<Record<PublicState, number>>
  /** What its members wait for, or waited for; the first thousand, `graph` has them all. */
  readonly groups: readonly EdgeGroup[]
  readonly hasMoreGroups: boolean
}

const mostGroups = 1000

// Members that have ended are counted by the flow, and may be gone when it is old; the others are counted here. Of a flow that
// has ended there are no others, and none is read.
const describeStatement = statement({
  name: 'flow.describe',
  params: { flow_id: 'uuid', partition_key: 'int2', namespace: 'text?', most_groups: 'int8' },
  row: { ...flowRow, live: 'jsonb', groups: 'jsonb' },
  text: `
select ${flowColumns}, l.live, g.groups
from flowfabric.ff_flow_core f
${flowJoins}
cross join lateral (
  select coalesce(jsonb_object_agg(c.public_state, c.member_count), '{}') as live
  from (
    select e.public_state, count(*) as member_count
    from flowfabric.ff_flow_member m
    join flowfabric.ff_exec_core e on e.execution_id = any (array[m.execution_id])
    where m.flow_id = f.flow_id and f.ended_at_ms is null and e.lifecycle_phase <> 'terminal'
    group by e.public_state
  ) c
) l
cross join lateral (
  select coalesce(jsonb_agg(${groupJson} order by g.downstream_id), '[]') as groups
  from (
    select *
    from flowfabric.ff_edge_group g
    where g.flow_id = f.flow_id
    order by g.downstream_id
    limit $4
  ) g
) g
where f.flow_id = $1 and f.partition_key = $2 and ($3::text is null or f.namespace = $3)`,
})

export async function describeFlow(sql: Sql, caller: Caller, flowId: string): Promise<FlowDetail | null> {
  const target = visibleFlow(caller, flowId)
  const [row] = await sql.query(describeStatement, { ...target, most_groups: mostGroups + 1 })
  if (row === undefined) return null
  const flow = decodeFlow(row)
  const groups = row.groups as readonly GroupJson[]
  const counts = { ...(row.live as Partial<Record<PublicState, number>>), ...flow.ended }
  return {
    ...flow,
    members: Object.fromEntries(publicStates.map((state) => [state, counts[state] ?? 0])) as Record<
      PublicState,
      number
    >,
    groups: groups.slice(0, mostGroups).map((group) => decodeGroup(target.partition_key, group)),
    hasMoreGroups: groups.length > mostGroups,
  }
}
