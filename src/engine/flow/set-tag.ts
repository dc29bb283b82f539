import { EngineError } from '../../model/errors.ts'
import { limits } from '../../model/limits.ts'
import { checkTagKey, checkTagValue } from '../../model/tag.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { visibleFlow } from '../kernel/visible.ts'
import { flowNotFound, lockTree } from './edit.ts'

// The root of the tree is locked first, and written: its version is the version of the whole tree, and the resolver relies
// on the places of the rows that it has read. So two writers of tags also count one after the other: the count is read in
// a later statement, whose snapshot is later than the lock.
const findFlow = statement({
  name: 'flow.set-tag.find',
  params: { flow_id: 'uuid', partition_key: 'int2', namespace: 'text?' },
  row: { flow_id: 'uuid' },
  text: `
select flow_id
from flowfabric.ff_flow_core
where flow_id = $1 and partition_key = $2 and ($3::text is null or namespace = $3)`,
})

const writeTag = statement({
  name: 'flow.set-tag',
  params: { flow_id: 'uuid', partition_key: 'int2', namespace: 'text?', key: 'text', value: 'text', limit: 'int8' },
  row: { flow_id: 'uuid' },
  text: `
with flow as materialized (
  select flow_id, root_flow_id, created_at_ms, namespace
  from flowfabric.ff_flow_core
  where flow_id = $1 and partition_key = $2 and ($3::text is null or namespace = $3)
    and (select count(*) from flowfabric.ff_flow_tag o where o.flow_id = $1 and o.tag_key <> $4) < $6
),
tagged as (
  insert into flowfabric.ff_flow_tag (flow_id, created_at_ms, namespace, tag_key, tag_value)
  select flow_id, created_at_ms, namespace, $4, $5
  from flow
  on conflict (flow_id, tag_key) do update set tag_value = excluded.tag_value
)
update flowfabric.ff_flow_core f
set last_mutation_at_ms = case when f.flow_id = t.flow_id
    then greatest(flowfabric.ff_now_ms(), f.last_mutation_at_ms + 1) else f.last_mutation_at_ms end
from flow t
where f.flow_id = any (array[t.flow_id, t.root_flow_id])
returning f.flow_id`,
})

const lockTimeoutMs = 2000

export async function setFlowTag(sql: Sql, caller: Caller, flowId: string, key: string, value: string): Promise<void> {
  const target = visibleFlow(caller, flowId)
  const tag = { key: checkTagKey(key), value: checkTagValue(key, value), limit: limits.tagCount }
  const calls = [
    call(lockTree, { flow_id: target.flow_id }),
    call(findFlow, target),
    call(writeTag, { ...target, ...tag }),
  ] as const
  const [, found, written] = await sql.pipeline(calls, { lockTimeoutMs })
  if (found.length === 0) throw flowNotFound(flowId)
  if (written.length > 0) return
  const sentence = `flow ${flowId} has ${limits.tagCount} tags already, the maximum; overwrite one of them`
  throw new EngineError('invalid_tag', sentence, { flowId, allowed: limits.tagCount })
}
