// Creates with a parent. The statement locks the parent's row and sets its `children` bit under that lock: a later ending of
// the parent sees the bit and leaves a dispatch for the children. A parent that has ended by then gets no more children.
import { attached } from '../../model/attached.ts'
import { EngineError } from '../../model/errors.ts'
import { limits } from '../../model/limits.ts'
import { isEnded, type PublicState } from '../../model/state.ts'
import { call, type Call, type Sql } from '../../sql/sql.ts'
import { oneOf, statement, type RowOf } from '../../sql/statement.ts'
import { rowLocked, type Outcome, type SetOperation } from '../kernel/merge.ts'
import type { QueueRegistry } from '../queue/intern.ts'
import { answerOf, existingRow, type CreateResult } from './create-answer.ts'
import { bytesOf, columnsOf, keyColumns, keyColumnsOf } from './create-columns.ts'
import type { NewExecution } from '../transition/new-execution.ts'
import { createdEffects, lockTimeoutOf } from './create.ts'
import { forgetExpiredKeys } from './forget-keys.ts'
import { columnArrays, columnNames, columns, writeFreshWith } from '../transition/new-rows.ts'
import { lockAlone } from '../transition/operator-set.ts'

const row = {
  ...existingRow,
  /** Null when there is no such parent. */
  parent_state: oneOf<PublicState | null>(),
  parent_depth: 'int4',
  is_sub_flow: 'bool?',
  is_locked: 'bool',
} as const

// Locks the parents in the order of their ids. It passes over parents that another transaction has locked, or that were changed
// since the statement began, and writes nothing for their children. It joins the parent to each child, so that a child's row
// has the columns of its parent that it needs. An existing child is found in any state of its parent. Each item has a row of
// its own in the result.
const insertChildren = statement({
  name: 'execution.create-child',
  params: { ...columns, ...keyColumns, parent_ids: 'uuid[]', on_parent_ends: 'text[]' },
  row,
  text: `
with input as materialized (
  select i.*, c.now_ms,
    coalesce(i.delay_until_ms, c.now_ms + i.delay_ms) as due_ms,
    coalesce(i.deadline_at_ms, c.now_ms + i.deadline_ms) as deadline_due_ms,
    coalesce(k.execution_id, e.execution_id) as existing_id,
    k.request_hash as existing_request_hash
  from (select flowfabric.ff_now_ms() as now_ms offset 0) c
  cross join unnest(${columnArrays}, $15::jsonb[], $16::text[], $17::int8[], $18::bytea[], $19::uuid[], $20::text[])
    with ordinality as i (${columnNames}, tags, idempotency_key, idempotency_ttl_ms, request_hash, parent_id,
      parent_end, ordinal)
  left join flowfabric.ff_idempotency_key k
    on k.namespace = any (array[i.namespace])
    and k.scope_id = any (array[i.parent_id])
    and k.idempotency_key = any (array[i.idempotency_key])
  left join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
),
born as materialized (
  select i.*, p.lifecycle_phase as parent_phase, p.attached as parent_attached,
    coalesce(n.child_depth, 0) + 1 as child_depth
  from input i
  join flowfabric.ff_exec_core seen
    on seen.execution_id = any (array[i.parent_id])
    and seen.partition_key = i.partition_key
    and seen.namespace = i.namespace
  join flowfabric.ff_exec_core p on p.execution_id = any (array[i.parent_id]) and p.xmin = seen.xmin
  join flowfabric.ff_exec_input n
    on n.partition_key = any (array[i.partition_key]) and n.execution_id = any (array[i.parent_id])
  where i.existing_id is null
  order by i.parent_id
  for no key update of p skip locked
),
fresh as materialized (
  select b.*, coalesce(b.due_ms > b.now_ms, false) as is_delayed, ${attached.parent} | case when b.tags is null then 0 else ${attached.tags} end as attached,
    b.parent_end::flowfabric.ff_on_parent_end as on_parent_end
  from born b
  where b.parent_phase <> 'terminal' and b.child_depth <= ${limits.childDepth}
    and b.parent_attached & ${attached.subFlow} = 0
),
parents as (
  update flowfabric.ff_exec_core p
  set attached = p.attached | ${attached.children}
  from (select distinct parent_id from fresh where parent_attached & ${attached.children} = 0) f
  where p.execution_id = any (array[f.parent_id])
),
${writeFreshWith(['parent_id', 'on_parent_end'], ['parent_id', 'child_depth'])},
tagged as (
  insert into flowfabric.ff_exec_tag (execution_id, created_at_ms, namespace, tag_key, tag_value)
  select f.execution_id, f.now_ms, f.namespace, t.key, t.value
  from fresh f
  cross join lateral jsonb_each_text(f.tags) t
  where f.tags is not null
),
keyed as (
  insert into flowfabric.ff_idempotency_key
    (namespace, scope_id, idempotency_key, execution_id, expires_at_ms, request_hash)
  select namespace, parent_id, idempotency_key, execution_id, now_ms + idempotency_ttl_ms, request_hash
  from fresh
  where idempotency_key is not null
)
select i.ordinal, i.existing_id, e.partition_key as existing_partition, e.namespace as existing_namespace, i.existing_request_hash,
  coalesce(e.public_state,
    case when i.due_ms > i.now_ms then 'delayed'::flowfabric.ff_public_state
      else 'waiting'::flowfabric.ff_public_state end) as public_state,
  p.public_state as parent_state, coalesce(n.child_depth, 0)::int4 as parent_depth,
  p.attached & ${attached.subFlow} <> 0 as is_sub_flow,
  i.ordinal in (select ordinal from born) as is_locked
from input i
left join flowfabric.ff_exec_core e on e.execution_id = any (array[i.existing_id])
left join flowfabric.ff_exec_core p
  on p.execution_id = any (array[i.parent_id]) and p.partition_key = i.partition_key and p.namespace = i.namespace
left join flowfabric.ff_exec_input n
  on n.partition_key = any (array[i.partition_key]) and n.execution_id = any (array[i.parent_id])`,
})

/** Children of any parents; in sets of their own, because they may wait for rows of other transactions. */
export function createChildren(sql: Sql, queues: QueueRegistry): SetOperation<NewExecution, CreateResult> {
  const sendBehind = async (
    first: readonly Call[],
    items: readonly NewExecution[],
    again: boolean,
    lockTimeoutMs: number,
  ) => {
    const values = { ...(await columnsOf(items, queues)), ...keyColumnsOf(items), ...parentColumnsOf(items) }
    const calls = [call(insertChildren, values), forgetExpiredKeys(items), ...first].toReversed()
    const rows = (await sql.pipeline(calls, { lockTimeoutMs })).at(-1) as unknown as readonly AnswerRow[]
    const outcomes: Outcome<CreateResult>[] = []
    for (const row of rows) outcomes[row.ordinal - 1] = answer(items[row.ordinal - 1]!, row, again)
    return { outcomes, effects: createdEffects(items, values.queue_ids, outcomes) }
  }
  return {
    keyOf: ({ uuid, parent, idempotencyKey }) =>
      idempotencyKey === null ? uuid : `${parent!.uuid}\0${idempotencyKey}`,
    bytesOf,
    // One parent often gets many children at once, and two sets of them would need the same row.
    rowOf: ({ parent }) => parent!.uuid,
    send: (items, again, isHalf) => sendBehind([], items, again, lockTimeoutOf(isHalf)),
    sendAlone(item, again, lockTimeoutMs) {
      const lock = call(lockAlone, { execution_id: item.parent!.uuid })
      return sendBehind([lock], [item], again, lockTimeoutMs)
    },
  }
}

function parentColumnsOf(items: readonly NewExecution[]) {
  return {
    parent_ids: items.map((item) => item.parent!.uuid),
    on_parent_ends: items.map((item) => item.parent!.onParentEnd),
  }
}

type AnswerRow = RowOf<typeof row>

function answer(item: NewExecution, row: AnswerRow, again: boolean): Outcome<CreateResult> {
  if (row.existing_id !== null) return answerOf(item, row, again)
  const parentId = item.parent!.executionId
  const { parent_state: publicState, parent_depth: depth } = row
  if (publicState === null) {
    const sentence = `parent ${parentId} does not exist in namespace '${item.queue.namespace}'`
    return new EngineError('execution_not_found', sentence, { executionId: parentId })
  }
  if (!row.is_locked) return rowLocked
  if (isEnded(publicState)) {
    const sentence = `parent ${parentId} is ${publicState}; only an execution that has not ended can have children`
    return new EngineError('execution_terminal', sentence, { executionId: parentId, publicState })
  }
  if (row.is_sub_flow === true) {
    const sentence = `parent ${parentId} represents a nested flow and cannot have children; add a member to that flow`
    return new EngineError('invalid_dependency', sentence, { executionId: parentId })
  }
  if (depth >= limits.childDepth) {
    const sentence = `parent ${parentId} is at the maximum child depth of ${depth}; create this execution without a parent`
    return new EngineError('child_depth_limit', sentence, { executionId: parentId, depth })
  }
  return answerOf(item, row, again)
}
