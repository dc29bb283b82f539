import { attached } from '../../model/attached.ts'
import { EngineError } from '../../model/errors.ts'
import { limits } from '../../model/limits.ts'
import { checkTagKey, checkTagValue } from '../../model/tag.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { visibleExecution } from '../kernel/visible.ts'

// The hot row is locked first, so that two writers of tags count one after the other; the count is read in the next
// statement, whose snapshot is later than the lock.
const lockExecution = statement({
  name: 'execution.set-tag.lock',
  params: { execution_id: 'uuid', partition_key: 'int2', namespace: 'text?' },
  row: { execution_id: 'uuid' },
  text: `
select execution_id
from flowfabric.ff_exec_core
where execution_id = $1 and partition_key = $2 and ($3::text is null or namespace = $3)
for no key update`,
})

const writeTag = statement({
  name: 'execution.set-tag',
  params: {
    execution_id: 'uuid',
    partition_key: 'int2',
    namespace: 'text?',
    key: 'text',
    value: 'text',
    limit: 'int8',
  },
  row: { execution_id: 'uuid' },
  text: `
with tagged as (
  insert into flowfabric.ff_exec_tag as t (execution_id, created_at_ms, namespace, tag_key, tag_value)
  select e.execution_id, e.created_at_ms, e.namespace, $4, $5
  from flowfabric.ff_exec_core e
  where e.execution_id = $1 and e.partition_key = $2 and ($3::text is null or e.namespace = $3)
    and (select count(*) from flowfabric.ff_exec_tag o where o.execution_id = $1 and o.tag_key <> $4) < $6
  on conflict (execution_id, tag_key) do update set tag_value = excluded.tag_value
  returning t.execution_id
)
update flowfabric.ff_exec_core e
set attached = e.attached | ${attached.tags},
  last_mutation_at_ms = greatest(flowfabric.ff_now_ms(), e.last_mutation_at_ms + 1)
from tagged
where e.execution_id = any (array[tagged.execution_id])
returning e.execution_id`,
})

const lockTimeoutMs = 2000

export async function setTag(sql: Sql, caller: Caller, executionId: string, key: string, value: string): Promise<void> {
  const target = visibleExecution(caller, executionId)
  const tag = { key: checkTagKey(key), value: checkTagValue(key, value), limit: limits.tagCount }
  const calls = [call(lockExecution, target), call(writeTag, { ...target, ...tag })] as const
  const [locked, written] = await sql.pipeline(calls, { lockTimeoutMs })
  if (locked.length === 0) {
    throw new EngineError('execution_not_found', `execution ${executionId} does not exist`, { executionId })
  }
  if (written.length === 0) {
    throw new EngineError(
      'invalid_tag',
      `execution ${executionId} has ${limits.tagCount} tags already, the maximum; overwrite one of them`,
      {
        executionId,
        allowed: limits.tagCount,
      },
    )
  }
}
