// Whether an edge would close a cycle: whether its upstream is already behind its downstream.
import { statement, type RowOf } from '../../sql/statement.ts'

interface Pair {
  readonly upstream_id: string
  readonly downstream_id: string
}

// Visits each member behind the downstream once. Returns their edges when the upstream is among them, otherwise
// nothing.
export const edgesBehind = statement({
  name: 'flow.connect.edges-behind',
  params: { flow_id: 'uuid', upstream_id: 'uuid', downstream_id: 'uuid' },
  row: { upstream_id: 'uuid', downstream_id: 'uuid', upstream_name: 'text' },
  text: `
with recursive behind (execution_id) as (
  select $3::uuid
  union
  select e.downstream_id
  from behind b
  join flowfabric.ff_edge e on e.upstream_id = any (array[b.execution_id]) and e.kind <> 'start'
)
select e.upstream_id, e.downstream_id, m.member_name as upstream_name
from behind b
join flowfabric.ff_edge e on e.upstream_id = any (array[b.execution_id]) and e.kind <> 'start'
cross join lateral (
  select n.member_name
  from flowfabric.ff_flow_member n
  where n.flow_id = $1 and n.execution_id = b.execution_id
  offset 0
) m
where exists (select from behind where execution_id = $2)`,
})

type EdgeBehind = RowOf<typeof edgesBehind.row>

/** The names on the shortest path from the downstream to the upstream, which the edge would close. */
export function pathOf(edges: readonly EdgeBehind[], pair: Pair, upstreamName: string): string[] {
  const outgoing = new Map<string, EdgeBehind[]>()
  for (const edge of edges) {
    const known = outgoing.get(edge.upstream_id)
    if (known === undefined) outgoing.set(edge.upstream_id, [edge])
    else known.push(edge)
  }
  const cameBy = new Map<string, EdgeBehind>()
  const waiting = [pair.downstream_id]
  for (const member of waiting) {
    for (const edge of outgoing.get(member) ?? []) {
      if (cameBy.has(edge.downstream_id)) continue
      cameBy.set(edge.downstream_id, edge)
      waiting.push(edge.downstream_id)
    }
  }
  const names = [upstreamName]
  for (let at = cameBy.get(pair.upstream_id); at !== undefined; at = cameBy.get(at.upstream_id)) {
    names.unshift(at.upstream_name)
    if (at.upstream_id === pair.downstream_id) break
  }
  return names
}
