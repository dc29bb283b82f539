// Create writes a claimable execution: hot row, cold row, tags, idempotency key, and the ready row unless it is delayed.
import { attached } from '../../model/attached.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { statement, type RowOf } from '../../sql/statement.ts'
import type { Effects } from '../kernel/effects.ts'
import type { HintCarrier } from '../kernel/hint.ts'
import type { Outcome, Sent, SetOperation } from '../kernel/merge.ts'
import type { QueueRegistry } from '../queue/intern.ts'
import { answerOf, created, existingRow, type CreateResult, type ExistingRow } from './create-answer.ts'
import { bytesOf, columnsOf, keyColumnsOf, keyColumns } from './create-columns.ts'
import type { NewExecution } from '../transition/new-execution.ts'
import { forgetExpiredKeys } from './forget-keys.ts'
import { columnArrays, columnNames, columns, insertNew, writeFresh } from '../transition/new-rows.ts'

// All or nothing, without `on conflict`: the statement first reads which items exist and omits them. A row that another
// transaction inserted meanwhile fails the statement with 23505; the set is then sent again and finds the row. So every insert
// reads from `fresh` alone; joining one insert's `returning` to the input would be a nested loop over two unindexed sets.
//
// It locks only its new rows. It returns rows only for items that existed before or that have a delay; every other item was
// created and waits.
const insertExecutions = statement({
  name: 'execution.create',
  params: { ...columns, ...keyColumns },
  row: existingRow,
  text: `
with input as materialized (
  select i.*, c.now_ms,
    coalesce(i.delay_until_ms, c.now_ms + i.delay_ms) as due_ms,
    coalesce(i.deadline_at_ms, c.now_ms + i.deadline_ms) as deadline_due_ms,
    coalesce(k.execution_id, e.execution_id) as existing_id,
    k.request_hash as existing_request_hash
  from (select flowfabric.ff_now_ms() as now_ms offset 0) c
  cross join unnest(${columnArrays}, $15::jsonb[], $16::text[], $17::int8[], $18::bytea[])
    with ordinality as i (${columnNames}, tags, idempotency_key, idempotency_ttl_ms, request_hash, ordinal)
  left join flowfabric.ff_idempotency_key k
    on k.namespace = any (array[i.namespace])
    and k.scope_id = '00000000-0000-0000-0000-000000000000'
    and k.idempotency_key = any (array[i.idempotency_key])
  left join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
),
fresh as materialized (
  select *, coalesce(due_ms > now_ms, false) as is_delayed,
    case when tags is null then 0 else ${attached.tags} end as attached
  from input
  where existing_id is null
),
${writeFresh},
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
  select namespace, '00000000-0000-0000-0000-000000000000', idempotency_key, execution_id,
    now_ms + idempotency_ttl_ms, request_hash
  from fresh
  where idempotency_key is not null
)
select i.ordinal, i.existing_id, e.partition_key as existing_partition, e.namespace as existing_namespace, i.existing_request_hash,
  coalesce(e.public_state,
    case when i.due_ms > i.now_ms then 'delayed'::flowfabric.ff_public_state
      else 'waiting'::flowfabric.ff_public_state end) as public_state
from input i
left join flowfabric.ff_exec_core e on e.execution_id = any (array[i.existing_id])
where i.existing_id is not null or i.due_ms is not null`,
})

// How long a set of creates waits for uncommitted rows of another transaction. The time is short, because all items of the set
// would wait for one row; the halves of a set wait practically not at all.
const setLockTimeoutMs = 50
const halfLockTimeoutMs = 1

export function lockTimeoutOf(isHalf: boolean): number {
  return isHalf ? halfLockTimeoutMs : setLockTimeoutMs
}

/** Creates with ids that this process minted and without a key: no row in the database can conflict with them. */
export function createUnkeyed(
  sql: Sql,
  queues: QueueRegistry,
  carrier: HintCarrier,
): SetOperation<NewExecution, CreateResult> {
  const sendNew = async (items: readonly NewExecution[]) => {
    const values = await columnsOf(items, queues)
    const isPlain = items.every((item) => item.delayMs === null && item.delayUntil === null)
    const hint = isPlain ? carrier.carriedBy(values.queue_ids) : null
    const rows = await sql.query(insertNew, { ...values, channel: hint?.channel ?? null, hint: hint?.payload ?? null })
    const outcomes = decodeNew(items, rows)
    return { outcomes, effects: createdEffects(items, values.queue_ids, outcomes, hint !== null) }
  }
  const sendOther = async (items: readonly NewExecution[], again: boolean) => {
    const values = await columnsOf(items, queues)
    const outcomes = decode(items, await sql.query(insertExecutions, { ...values, ...keyColumnsOf(items) }), again)
    return { outcomes, effects: createdEffects(items, values.queue_ids, outcomes) }
  }
  const send = (items: readonly NewExecution[], again: boolean): Promise<Sent<CreateResult>> => {
    const isNew = !again && items.every((item) => item.tags === null)
    return isNew ? sendNew(items) : sendOther(items, again)
  }
  return {
    keyOf: (item) => item.uuid,
    bytesOf,
    send,
    sendAlone: (item, again) => send([item], again),
  }
}

/** Creates that may wait for an uncommitted row with the same id or key; in sets of their own. */
export function createKeyed(sql: Sql, queues: QueueRegistry): SetOperation<NewExecution, CreateResult> {
  const sendWithin = async (items: readonly NewExecution[], again: boolean, lockTimeoutMs: number) => {
    const values = await columnsOf(items, queues)
    const calls = [forgetExpiredKeys(items), call(insertExecutions, { ...values, ...keyColumnsOf(items) })] as const
    const [, rows] = await sql.pipeline(calls, { lockTimeoutMs })
    const outcomes = decode(items, rows, again)
    return { outcomes, effects: createdEffects(items, values.queue_ids, outcomes) }
  }
  return {
    keyOf: ({ uuid, queue, idempotencyKey }) =>
      idempotencyKey === null ? uuid : `${queue.namespace}\0${idempotencyKey}`,
    bytesOf,
    send: (items, again, isHalf) => sendWithin(items, again, lockTimeoutOf(isHalf)),
    sendAlone: (item, again, lockTimeoutMs) => sendWithin([item], again, lockTimeoutMs),
  }
}

/** A create writes no event. `isNotified`: the write carried the hint for its queues. */
export function createdEffects(
  items: readonly NewExecution[],
  queueIds: readonly number[],
  outcomes: readonly Outcome<CreateResult>[],
  isNotified = false,
): Effects {
  const ready = new Set<number>()
  let delay = Infinity
  for (let index = 0; index < items.length; index++) {
    const { delayMs } = items[index]!
    if ((outcomes[index] as Partial<CreateResult>).publicState === 'waiting') ready.add(queueIds[index]!)
    if (delayMs !== null && delayMs < delay) delay = delayMs
  }
  const dueInMs = delay === Infinity ? {} : { delay }
  return isNotified ? { notifiedQueueIds: [...ready], dueInMs } : { readyQueueIds: [...ready], dueInMs }
}

function decode(items: readonly NewExecution[], rows: readonly ExistingRow[], again: boolean): Outcome<CreateResult>[] {
  const outcomes: Outcome<CreateResult>[] = items.map((item) => created(item, 'waiting'))
  for (const row of rows) outcomes[row.ordinal - 1] = answerOf(items[row.ordinal - 1]!, row, again)
  return outcomes
}

function decodeNew(items: readonly NewExecution[], rows: readonly RowOf<typeof insertNew.row>[]): CreateResult[] {
  const delayed = new Set(rows.flatMap((row) => (row.is_delayed ? [row.ordinal] : [])))
  return items.map((item, index) => created(item, delayed.has(index + 1) ? 'delayed' : 'waiting'))
}
