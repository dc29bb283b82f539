// Executions with one tag, newest first: the newest of each namespace that the caller sees, merged.
import { statement } from '../../../sql/statement.ts'
import { executionColumns, executionJoins, executionRow } from '../snapshot.ts'
import { filterCondition, filterParams, filterValues, newestFirst, source } from './source.ts'

const listStatement = statement({
  name: 'execution.list.by-tag',
  params: {
    ...filterParams,
    tag_key: 'text',
    tag_value: 'text',
    created_at_ms: 'int8',
    execution_id: 'uuid',
    limit: 'int8',
  },
  row: executionRow,
  text: `
with page as materialized (
  select newest.execution_id
  from (
    select distinct r.namespace
    from flowfabric.ff_lane_registry r
    where $1::text is null or r.namespace = $1
  ) s
  cross join lateral (
    select t.created_at_ms, t.execution_id
    from flowfabric.ff_exec_tag t
    join flowfabric.ff_exec_core e on e.execution_id = any (array[t.execution_id])
    join flowfabric.ff_queue q on q.queue_id = e.queue_id
    where t.tag_key = $5 and t.tag_value = $6 and t.namespace = s.namespace
      and (t.created_at_ms, t.execution_id) < ($7, $8)
      and ${filterCondition}
    order by t.created_at_ms desc, t.execution_id desc
    limit $9
  ) newest
  order by newest.created_at_ms desc, newest.execution_id desc
  limit $9
)
select ${executionColumns}
from page
join flowfabric.ff_exec_core e on e.execution_id = any (array[page.execution_id])
${executionJoins}
order by e.created_at_ms desc, e.execution_id desc`,
})

export const byTag = source({
  order: newestFirst('executions by tag'),
  read: (sql, filter, after, limit) =>
    sql.query(listStatement, {
      ...filterValues(filter),
      tag_key: filter.tagKey!,
      tag_value: filter.tagValue!,
      ...after,
      limit,
    }),
})
