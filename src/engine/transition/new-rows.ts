// The rows of a new execution: hot, cold and ready.
import { attached } from '../../model/attached.ts'
import { statement } from '../../sql/statement.ts'

export const columns = {
  execution_ids: 'uuid[]',
  partition_keys: 'int2[]',
  namespaces: 'text[]',
  queue_ids: 'int4[]',
  priorities: 'int2[]',
  creators: 'text[]',
  payloads: 'bytea?[]',
  payload_encodings: 'text?[]',
  task_versions: 'text?[]',
  delays_ms: 'int8?[]',
  delays_until_ms: 'int8?[]',
  deadlines_ms: 'int8?[]',
  deadlines_at_ms: 'int8?[]',
  policies: 'jsonb?[]',
} as const

export const columnArrays = `$1::uuid[], $2::int2[], $3::text[], $4::int4[], $5::int2[], $6::text[], $7::bytea[], $8::text[],
    $9::text[], $10::int8[], $11::int8[], $12::int8[], $13::int8[], $14::jsonb[]`

export const columnNames = `execution_id, partition_key, namespace, queue_id, priority, creator, payload, payload_encoding,
      task_version, delay_ms, delay_until_ms, deadline_ms, deadline_at_ms, policy`

/** The bits of `attached` that the policy of a new execution sets. */
export const attachedByPolicy = `case when policy is null then 0
      else case when policy ? 'attemptTimeoutMs' then ${attached.attemptTimeout} else 0 end
        | case when policy ? 'maxSignalCount' then ${attached.signalLimit} else 0 end end`

/** Follows a CTE `fresh`, one row for each execution to be written. */
export const writeFresh = writeFreshWith([], [])

/** `hot` and `cold` are more columns of the two rows; `fresh` has their values under the same names. */
export function writeFreshWith(hot: readonly string[], cold: readonly string[]): string {
  const more = (columns: readonly string[]) => columns.map((column) => `, ${column}`).join('')
  return `
core as (
  insert into flowfabric.ff_exec_core (execution_id, partition_key, namespace, queue_id, task_version, priority, rank,
    created_at_ms, last_mutation_at_ms, delay_until_ms, deadline_at_ms, attached,
    lifecycle_phase, ownership_state, eligibility_state, attempt_state${more(hot)})
  select execution_id, partition_key, namespace, queue_id, task_version, priority, now_ms,
    now_ms, now_ms, case when is_delayed then due_ms end, deadline_due_ms, attached | ${attachedByPolicy},
    'runnable', 'unowned',
    case when is_delayed then 'not_eligible_until_time'::flowfabric.ff_eligibility_state
      else 'eligible_now'::flowfabric.ff_eligibility_state end,
    'pending_first_attempt'${more(hot)}
  from fresh
),
cold as (
  insert into flowfabric.ff_exec_input (partition_key, execution_id, created_at_ms, delay_until_ms, deadline_at_ms,
    deadline_after_ms, queue_id, creator_identity, idempotency_key, payload, payload_encoding, policy${more(cold)})
  select partition_key, execution_id, now_ms, due_ms, deadline_at_ms, deadline_ms,
    queue_id, creator, idempotency_key, payload, payload_encoding, policy${more(cold)}
  from fresh
),
ready as (
  insert into flowfabric.ff_ready (queue_id, neg_priority, resumed, rank, execution_id)
  select queue_id, -priority, false, now_ms, execution_id
  from fresh
  where not is_delayed
)`
}

// Ids that this process minted, sent for the first time, without keys and tags: no row can conflict with them, so the statement
// reads none (measured: a fifth less time than the statement below for a single one).
export const insertNew = statement({
  name: 'execution.create-new',
  params: { ...columns, channel: 'text?', hint: 'text?' },
  row: { ordinal: 'int8', is_delayed: 'bool' },
  text: `
with fresh as materialized (
  select i.*, c.now_ms, null::text as idempotency_key, t.due_ms, coalesce(t.due_ms > c.now_ms, false) as is_delayed,
    coalesce(i.deadline_at_ms, c.now_ms + i.deadline_ms) as deadline_due_ms, 0 as attached
  from (select flowfabric.ff_now_ms() as now_ms offset 0) c
  cross join unnest(${columnArrays})
    with ordinality as i (${columnNames}, ordinal)
  cross join lateral (select coalesce(i.delay_until_ms, c.now_ms + i.delay_ms) as due_ms) t
),
${writeFresh}
select ordinal, is_delayed
from fresh
where due_ms is not null
union all
select 0, pg_notify($15, $16) is null
where $15::text is not null`,
})
