// Flows that ended long ago: one statement deletes the outermost flow with all flows inside it, so no reader finds half a
// tree. Their members belong to no flow from then on, and are deleted like any other execution.
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { untilSent } from '../kernel/resend.ts'
import { scopeParams, type DutyScope } from '../kernel/scope.ts'

const params = { ...scopeParams, kept_for_ms: 'int8' } as const

// Every flow of the tree ended long enough ago, and none of them has pending dispatch.
const isPast = `f.ended_at_ms < flowfabric.ff_now_ms() - $5
    and (
      select i.flow_id
      from flowfabric.ff_flow_core i
      where i.root_flow_id = f.flow_id
        and ((i.ended_at_ms < flowfabric.ff_now_ms() - $5) is not true
          or (select d.flow_id from flowfabric.ff_dispatch d where d.flow_id = i.flow_id limit 1) is not null)
      limit 1) is null`

// A transaction that reopens a flow locks its root and writes to it; a root that was changed since is passed over.
const retire = statement({
  name: 'duty.retention.flows',
  params,
  row: { processed: 'int8' },
  text: `
with past as materialized (
  select f.flow_id, f.xmin as seen_xmin
  from flowfabric.ff_flow_core f
  where ${isPast}
    and f.root_flow_id = f.flow_id
    and ($2::text is null or f.namespace = $2)
    and ($3::text is null or $4::text = (
      select t.tag_value
      from flowfabric.ff_flow_tag t
      where t.flow_id = f.flow_id and t.tag_key = $3))
  order by f.ended_at_ms, f.flow_id
  limit $1
),
root as materialized (
  select f.flow_id
  from past p
  join flowfabric.ff_flow_core f on f.flow_id = any (array[p.flow_id]) and f.xmin = p.seen_xmin
  order by p.flow_id
  for update of f skip locked
),
gone as (
  delete from flowfabric.ff_flow_core f
  using root r
  where f.root_flow_id = any (array[r.flow_id])
  returning f.flow_id
),
tag as (
  delete from flowfabric.ff_flow_tag t
  using gone g
  where t.flow_id = any (array[g.flow_id])
)
select count(*) as processed
from root`,
})

export async function retireFlows(
  sql: Sql,
  scope: DutyScope,
  keptForMs: number,
): Promise<{ readonly processed: number; readonly isFull: boolean }> {
  const [row] = await untilSent(sql, { again: false }, () => sql.query(retire, { ...scope, kept_for_ms: keptForMs }))
  return { processed: row!.processed, isFull: row!.processed >= scope.batch }
}
