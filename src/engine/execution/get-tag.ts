import { checkTagKey } from '../../model/tag.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { visibleExecution } from '../kernel/visible.ts'

const readTag = statement({
  name: 'execution.get-tag',
  params: { execution_id: 'uuid', partition_key: 'int2', namespace: 'text?', key: 'text' },
  row: { tag_value: 'text' },
  text: `
select t.tag_value
from flowfabric.ff_exec_core e
join flowfabric.ff_exec_tag t on t.execution_id = any (array[e.execution_id])
where e.execution_id = $1 and e.partition_key = $2 and ($3::text is null or e.namespace = $3) and t.tag_key = $4`,
})

export async function getTag(sql: Sql, caller: Caller, executionId: string, key: string): Promise<string | null> {
  const [row] = await sql.query(readTag, { ...visibleExecution(caller, executionId), key: checkTagKey(key) })
  return row?.tag_value ?? null
}
