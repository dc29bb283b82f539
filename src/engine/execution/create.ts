// Create writes a claimable execution: hot row, cold row, tags, idempotency key, and the ready row unless it is delayed.
import { EngineError } from '../../model/errors.ts'
import { formatExecutionId, type ExecutionId } from '../../model/id.ts'
import type { PublicState } from '../../model/state.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { oneOf, statement, type RowOf } from '../../sql/statement.ts'
import type { Hints } from '../hint.ts'
import type { Outcome, SetOperation } from '../merge.ts'
import type { QueueRegistry } from '../queue/intern.ts'
import type { NewExecution } from './create-request.ts'
import { columnArrays, columnNames, columns, insertNew, writeFresh } from './new-rows.ts'

export type CreateResult = Created | Duplicate

export interface Created {
  readonly kind: 'created'
  readonly executionId: ExecutionId
  readonly publicState: PublicState
  /** What was not taken as given. */
  readonly adjusted?: { readonly priority: { readonly given: number; readonly used: number } }
}

export interface Duplicate {
  readonly kind: 'duplicate'
  /** The first one's id. */
  readonly executionId: ExecutionId
  readonly publicState: PublicState
}

// A key that has run out is free again. In a statement of its own, before the insert: the row must be gone from the
// insert's snapshot, and of two creates that meet it the second waits here and then finds the first one's new row.
const forgetExpiredKeys = statement({
  name: 'execution.create.forget-expired-keys',
  params: { namespaces: 'text[]', keys: 'text[]' },
  row: {},
  text: `
delete from flowfabric.ff_idempotency_key k
using unnest($1::text[], $2::text[]) as i (namespace, idempotency_key)
where k.namespace = i.namespace
  and k.scope_id = '00000000-0000-0000-0000-000000000000'
  and k.idempotency_key = i.idempotency_key
  and k.expires_at_ms <= flowfabric.ff_now_ms()`,
})

const metRow = {
  ordinal: 'int8',
  met_id: 'uuid?',
  met_partition: 'int2?',
  met_namespace: 'text?',
  met_request_hash: 'bytea?',
  public_state: oneOf<PublicState>(),
} as const

type MetRow = RowOf<typeof metRow>

// All or nothing, without `on conflict`: what exists is left out by looking first, and a row that another transaction
// inserted meanwhile fails the statement with 23505, whereupon the set is sent again and finds it. So every insert reads
// from `fresh` alone; joining one insert's `returning` to the input would be a nested loop over two unindexed sets.
//
// Takes no locks but those of its new rows. Answers only for items that were met before or that carry a delay; every
// other item was created and waits.
const insertExecutions = statement({
  name: 'execution.create',
  params: {
    ...columns,
    tags: 'jsonb?[]',
    idempotency_keys: 'text?[]',
    idempotency_ttls_ms: 'int8?[]',
    request_hashes: 'bytea?[]',
  },
  row: metRow,
  text: `
with input as materialized (
  select i.*, c.now_ms,
    coalesce(i.delay_until_ms, c.now_ms + i.delay_ms) as due_ms,
    coalesce(i.deadline_at_ms, c.now_ms + i.deadline_ms) as deadline_due_ms,
    coalesce(k.execution_id, e.execution_id) as met_id,
    k.request_hash as met_request_hash
  from (select flowfabric.ff_now_ms() as now_ms offset 0) c
  cross join unnest(${columnArrays}, $15::jsonb[], $16::text[], $17::int8[], $18::bytea[])
    with ordinality as i (${columnNames}, tags, idempotency_key, idempotency_ttl_ms, request_hash, ordinal)
  left join flowfabric.ff_idempotency_key k
    on k.namespace = i.namespace
    and k.scope_id = '00000000-0000-0000-0000-000000000000'
    and k.idempotency_key = i.idempotency_key
  left join flowfabric.ff_exec_core e on e.execution_id = any (array[i.execution_id])
),
fresh as materialized (
  select *, coalesce(due_ms > now_ms, false) as is_delayed
  from input
  where met_id is null
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
select i.ordinal, i.met_id, e.partition_key as met_partition, e.namespace as met_namespace, i.met_request_hash,
  coalesce(e.public_state,
    case when i.due_ms > i.now_ms then 'delayed'::flowfabric.ff_public_state
      else 'waiting'::flowfabric.ff_public_state end) as public_state
from input i
left join flowfabric.ff_exec_core e on e.execution_id = any (array[i.met_id])
where i.met_id is not null or i.due_ms is not null`,
})

// How long a set of creates that can meet another's uncommitted rows waits for them: hardly, because all its items would
// wait for one; and its halves not at all.
const setLockTimeoutMs = 50
const halfLockTimeoutMs = 1

/** Creates whose ids are ours and that carry no key: nothing in the database can stand in their way. */
export function createUnkeyed(sql: Sql, queues: QueueRegistry, hints: Hints): SetOperation<NewExecution, CreateResult> {
  const sendNew = async (items: readonly NewExecution[]) => {
    const values = await columnsOf(items, queues)
    const isPlain = items.every((item) => item.delayMs === null && item.delayUntil === null)
    const hint = isPlain ? hints.carriedBy(values.queue_ids) : null
    const rows = await sql.query(insertNew, { ...values, channel: hint?.channel ?? null, hint: hint?.payload ?? null })
    const outcomes = decodeNew(items, rows)
    hints.ring(readyQueueIds(values.queue_ids, outcomes), hint !== null)
    return outcomes
  }
  const sendOther = async (items: readonly NewExecution[], again: boolean) => {
    const values = await columnsOf(items, queues)
    const outcomes = decode(items, await sql.query(insertExecutions, { ...values, ...keyColumnsOf(items) }), again)
    hints.ring(readyQueueIds(values.queue_ids, outcomes))
    return outcomes
  }
  const send = async (items: readonly NewExecution[], again: boolean) => {
    const isNew = !again && items.every((item) => item.tags === null)
    const outcomes = await (isNew ? sendNew(items) : sendOther(items, again))
    tellDelay(items, (inMs) => hints.delayed(inMs))
    return outcomes
  }
  return {
    keyOf: (item) => item.uuid,
    bytesOf,
    send,
    sendAlone: async (item, again) => (await send([item], again))[0]!,
  }
}

/** Creates that may wait for another's uncommitted row with the same id or key; in sets of their own. */
export function createKeyed(
  sql: Sql,
  queues: QueueRegistry,
  onReady: (queueIds: Iterable<number>) => void,
  onDelay: (inMs: number) => void,
): SetOperation<NewExecution, CreateResult> {
  const sendWithin = async (items: readonly NewExecution[], again: boolean, lockTimeoutMs: number) => {
    const values = await columnsOf(items, queues)
    const keyed = items.filter((item) => item.idempotencyKey !== null)
    const keys = {
      namespaces: keyed.map((item) => item.queue.namespace),
      keys: keyed.map((item) => item.idempotencyKey!),
    }
    const calls = [
      call(forgetExpiredKeys, keys),
      call(insertExecutions, { ...values, ...keyColumnsOf(items) }),
    ] as const
    const [, rows] = await sql.pipeline(calls, { lockTimeoutMs })
    const outcomes = decode(items, rows, again)
    onReady(readyQueueIds(values.queue_ids, outcomes))
    tellDelay(items, onDelay)
    return outcomes
  }
  return {
    keyOf: ({ uuid, queue, idempotencyKey }) =>
      idempotencyKey === null ? uuid : `${queue.namespace}\0${idempotencyKey}`,
    bytesOf,
    send: (items, again, isHalf) => sendWithin(items, again, isHalf ? halfLockTimeoutMs : setLockTimeoutMs),
    sendAlone: async (item, again, lockTimeoutMs) => (await sendWithin([item], again, lockTimeoutMs))[0]!,
  }
}

/** The queues into which something was put that can be claimed now. */
function readyQueueIds(queueIds: readonly number[], outcomes: readonly Outcome<CreateResult>[]): ReadonlySet<number> {
  const isReady = (outcome: Outcome<CreateResult>) => (outcome as Partial<CreateResult>).publicState === 'waiting'
  return new Set(queueIds.filter((_, index) => isReady(outcomes[index]!)))
}

function tellDelay(items: readonly NewExecution[], onDelay: (inMs: number) => void): void {
  const delays = items.flatMap((item) => (item.delayMs === null ? [] : [item.delayMs]))
  if (delays.length > 0) onDelay(Math.min(...delays))
}

const rowOverheadBytes = 512

function bytesOf({ payload, tags, policy, idempotencyKey, creator }: NewExecution): number {
  const words =
    (tags === null ? 0 : JSON.stringify(tags).length) + (policy === null ? 0 : JSON.stringify(policy).length)
  return rowOverheadBytes + (payload?.byteLength ?? 0) + words + (idempotencyKey?.length ?? 0) + creator.length
}

async function columnsOf(items: readonly NewExecution[], queues: QueueRegistry) {
  return {
    execution_ids: items.map((item) => item.uuid),
    partition_keys: items.map((item) => item.partition),
    namespaces: items.map((item) => item.queue.namespace),
    queue_ids: await queues.idsOf(items.map((item) => item.queue)),
    priorities: items.map((item) => item.priority),
    creators: items.map((item) => item.creator),
    payloads: items.map((item) => item.payload),
    payload_encodings: items.map((item) => item.payloadEncoding),
    task_versions: sparse(items, (item) => item.queue.version),
    delays_ms: sparse(items, (item) => item.delayMs),
    delays_until_ms: sparse(items, (item) => item.delayUntil),
    deadlines_ms: sparse(items, (item) => item.deadlineMs),
    deadlines_at_ms: sparse(items, (item) => item.deadlineAt),
    policies: sparse(items, (item) => item.policy),
  }
}

function keyColumnsOf(items: readonly NewExecution[]) {
  return {
    tags: sparse(items, (item) => item.tags),
    idempotency_keys: sparse(items, (item) => item.idempotencyKey),
    idempotency_ttls_ms: sparse(items, (item) => item.idempotencyTtlMs),
    request_hashes: sparse(items, (item) => item.requestHash),
  }
}

// `unnest` fills a shorter array up with nulls. Most sets use few of these columns, and an empty array costs nothing.
function sparse<T>(items: readonly NewExecution[], column: (item: NewExecution) => T | null): (T | null)[] {
  return items.some((item) => column(item) !== null) ? items.map(column) : []
}

function decode(items: readonly NewExecution[], rows: readonly MetRow[], again: boolean): Outcome<CreateResult>[] {
  const outcomes: Outcome<CreateResult>[] = items.map((item) => created(item, 'waiting'))
  for (const row of rows) {
    const item = items[row.ordinal - 1]!
    // An id that we minted and sent before can only be there because that send was committed and its reply lost.
    const isOwn = row.met_id === null || (again && item.minted && row.met_id === item.uuid)
    outcomes[row.ordinal - 1] = isOwn ? created(item, row.public_state) : met(item, row)
  }
  return outcomes
}

function decodeNew(items: readonly NewExecution[], rows: readonly RowOf<typeof insertNew.row>[]): CreateResult[] {
  const delayed = new Set(rows.flatMap((row) => (row.is_delayed ? [row.ordinal] : [])))
  return items.map((item, index) => created(item, delayed.has(index + 1) ? 'delayed' : 'waiting'))
}

function created(item: NewExecution, publicState: PublicState): Created {
  const { executionId, priority, givenPriority } = item
  if (priority === givenPriority) return { kind: 'created', executionId, publicState }
  return { kind: 'created', executionId, publicState, adjusted: { priority: { given: givenPriority, used: priority } } }
}

function met(item: NewExecution, row: MetRow): Duplicate | EngineError {
  const { executionId } = item
  if (row.met_request_hash === null) {
    // The id alone was met. Another namespace's execution, or another partition's, is nobody's duplicate.
    if (row.met_namespace === item.queue.namespace && row.met_partition === item.partition) {
      return { kind: 'duplicate', executionId, publicState: row.public_state }
    }
    return new EngineError('execution_id_taken', `execution id ${executionId} is taken; mint another`, { executionId })
  }
  const first = formatExecutionId(item.partition, row.met_id!)
  if (Buffer.compare(row.met_request_hash, item.requestHash!) === 0) {
    return { kind: 'duplicate', executionId: first, publicState: row.public_state }
  }
  return new EngineError(
    'idempotency_conflict',
    `idempotency key '${item.idempotencyKey}' was used for another request, which made ${first}; use another key, or send that request again`,
    { idempotencyKey: item.idempotencyKey, executionId: first },
  )
}
