import { checkTagKey } from '../../model/tag.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { visibleFlow } from '../kernel/visible.ts'

const readTag = statement({
  name: 'flow.get-tag',
  params: { flow_id: 'uuid', partition_key: 'int2', namespace: 'text?', key: 'text' },
  row: { tag_value: 'text' },
  text: `
select t.tag_value
from flowfabric.ff_flow_core f
join flowfabric.ff_flow_tag t on t.flow_id = any (array[f.flow_id])
where f.flow_id = $1 and f.partition_key = $2 and ($3::text is null or f.namespace = $3) and t.tag_key = $4`,
})

export async function getFlowTag(sql: Sql, caller: Caller, flowId: string, key: string): Promise<string | null> {
  const [row] = await sql.query(readTag, { ...visibleFlow(caller, flowId), key: checkTagKey(key) })
  return row?.tag_value ?? null
}
