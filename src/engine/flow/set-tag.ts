import { EngineError } from '../../model/errors.ts'
import { parseFlowId, type FlowId } from '../../model/id.ts'
import { limits } from '../../model/limits.ts'
import { checkTagKey, checkTagValue } from '../../model/tag.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../caller.ts'

// The flow is locked first, so that two writers of tags count one after the other; the count is read in the next statement,
// whose snapshot is later than the lock. It is the flow's own row, and nothing below it is locked or changed.
const lockFlow = statement({
  name: 'flow.set-tag.lock',
  params: { flow_id: 'uuid', partition_key: 'int2', namespace: 'text?' },
  row: { flow_id: 'uuid' },
  text: `
select flow_id
from flowfabric.ff_flow_core
where flow_id = $1 and partition_key = $2 and ($3::text is null or namespace = $3)
for no key update`,
})

const writeTag = statement({
  name: 'flow.set-tag',
  params: { flow_id: 'uuid', partition_key: 'int2', namespace: 'text?', key: 'text', value: 'text', limit: 'int8' },
  row: { flow_id: 'uuid' },
  text: `
with tagged as (
  insert into flowfabric.ff_flow_tag as t (flow_id, created_at_ms, namespace, tag_key, tag_value)
  select f.flow_id, f.created_at_ms, f.namespace, $4, $5
  from flowfabric.ff_flow_core f
  where f.flow_id = $1 and f.partition_key = $2 and ($3::text is null or f.namespace = $3)
    and (select count(*) from flowfabric.ff_flow_tag o where o.flow_id = $1 and o.tag_key <> $4) < $6
  on conflict (flow_id, tag_key) do update set tag_value = excluded.tag_value
  returning t.flow_id
)
update flowfabric.ff_flow_core f
set last_mutation_at_ms = greatest(flowfabric.ff_now_ms(), f.last_mutation_at_ms + 1)
from tagged
where f.flow_id = any (array[tagged.flow_id])
returning f.flow_id`,
})

const lockTimeoutMs = 2000

export async function setFlowTag(sql: Sql, caller: Caller, flowId: FlowId, key: string, value: string): Promise<void> {
  const { partition, uuid } = parseFlowId(flowId)
  const target = { flow_id: uuid, partition_key: partition, namespace: caller.namespace }
  const tag = { key: checkTagKey(key), value: checkTagValue(key, value), limit: limits.tagCount }
  const calls = [call(lockFlow, target), call(writeTag, { ...target, ...tag })] as const
  const [locked, written] = await sql.pipeline(calls, { lockTimeoutMs })
  if (locked.length === 0) throw new EngineError('flow_not_found', `flow ${flowId} does not exist`, { flowId })
  if (written.length > 0) return
  const sentence = `flow ${flowId} has ${limits.tagCount} tags already, which is the most`
  throw new EngineError('invalid_tag', sentence, { flowId, allowed: limits.tagCount })
}
