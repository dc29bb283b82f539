// Claim: up to n executions go to one worker instance, each under a lease of its own.
//
// It starts from the ready rows of the matching queues, merges them in order, and locks just the n that it takes,
// skipping locked ones. So it waits for no lock, and rows that do not match never delay rows that do.
import { attached } from '../../model/attached.ts'
import { formatExecutionId, formatFlowId, type ExecutionId, type FlowId } from '../../model/id.ts'
import type { ExecutionPolicy } from '../../model/policy.ts'
import { claimReason, type AttemptState, type ClaimReason, type Interruption } from '../../model/state.ts'
import { oneOf, statement, type RowOf } from '../../sql/statement.ts'
import { clockAfter } from '../kernel/after-lock.ts'
import { goesWithFlowSql } from '../transition/cancelled-flow.ts'
import type { MatchedQueue } from '../queue/match.ts'
import { hasMoreToClose } from '../transition/ending.ts'
import { decodeResumption, resumptionOf, type Resumption } from '../waiting/suspension/resumption.ts'

/** An execution that a worker holds. */
export interface Claim {
  readonly executionId: ExecutionId
  readonly leaseId: string
  readonly leaseEpoch: number
  readonly leaseExpiresAt: number
  /**
   * The kind of the claim: the first run, a retry, a replay, or the continuation of an attempt that was lost or
   * suspended; `cancel`: to clean up.
   */
  readonly reason: ClaimReason
  readonly attemptIndex: number
  readonly generation: number
  readonly namespace: string
  readonly lane: string
  readonly kind: string
  readonly version: string | null
  readonly priority: number
  readonly payload: Uint8Array | null
  readonly payloadEncoding: string | null
  readonly tags: Readonly<Record<string, string>>
  readonly policy: ExecutionPolicy | null
  readonly retryCount: number
  readonly createdAt: number
  readonly deadlineAt: number | null
  readonly attemptDeadlineAt: number | null
  readonly flowId: FlowId | null
  readonly parentId: ExecutionId | null
  /** For a generation that was suspended: how the last suspension ended, and its signals; also for a later retry. */
  readonly resumption: Resumption | null
}

export const claimRow = {
  execution_id: 'uuid',
  partition_key: 'int2',
  lease_id: 'uuid',
  lease_epoch: 'int8',
  lease_expires_at_ms: 'int8',
  attempt_state_before: oneOf<AttemptState>(),
  interruption_before: oneOf<Interruption>(),
  attempt_index: 'int4',
  generation: 'int4',
  queue_id: 'int4',
  priority: 'int2',
  rank: 'int8',
  payload: 'bytea?',
  payload_encoding: 'text?',
  tags: 'jsonb?',
  policy: 'jsonb?',
  retry_count: 'int4',
  created_at_ms: 'int8',
  deadline_at_ms: 'int8?',
  attempt_deadline_at_ms: 'int8?',
  flow_id: 'uuid?',
  parent_id: 'uuid?',
  resumption: 'text?',
  has_more_to_close: 'bool',
  is_stopping: 'bool',
} as const

export type ClaimRow = RowOf<typeof claimRow>

/**
 * Follows a CTE `taken` of executions, locked and eligible, with `taken_row`, the position of the execution's row, and
 * `ready_row`, that of its ready row; and parameters `$1` worker_id, `$2` worker_instance_id, `$3` lease_ttl_ms, `$4`
 * actor. `isStarted` is an expression over `claimed c`: whether the handler starts at once. Yields `claimed`, and
 * leaves: the execution active under a new lease and epoch, no ready row, no grant, one event. An interrupted attempt
 * continues; otherwise a new one begins.
 *
 * An execution that was changed after the statement began is at a position that its snapshot does not see. It is
 * skipped, because it may have a ready row that cannot be seen either, and would be left behind. So everything here
 * follows the updated rows, not the taken ones.
 */
export function holdTaken(isStarted: string): string {
  return `
-- Read once: for each row it would be a fifteenth of a claim of 500 (measured).
${clockAfter('taken')},
claimed as (
  update flowfabric.ff_exec_core e
  set lifecycle_phase = 'active',
    ownership_state = 'leased',
    eligibility_state = 'not_applicable',
    attempt_state = 'running_attempt',
    interruption = 'none',
    attempt_index = case when e.attempt_state = 'attempt_interrupted' then e.attempt_index else e.total_attempt_count end,
    total_attempt_count = e.total_attempt_count + case when e.attempt_state = 'attempt_interrupted' then 0 else 1 end,
    lease_id = gen_random_uuid(),
    lease_epoch = e.lease_epoch + 1,
    attached = e.attached & ~${attached.grant},
    started_at_ms = coalesce(e.started_at_ms, (select now_ms from clock)),
    attempt_deadline_at_ms = case when e.attached & ${attached.attemptTimeout} <> 0 then (select now_ms from clock) + (
      select (n.policy ->> 'attemptTimeoutMs')::int8
      from flowfabric.ff_exec_input n
      where n.partition_key = any (array[e.partition_key]) and n.execution_id = any (array[e.execution_id])) end,
    last_mutation_at_ms = greatest((select now_ms from clock), e.last_mutation_at_ms)
  from taken t
  where e.ctid = t.taken_row
  returning e.execution_id, e.partition_key, e.lease_id, e.lease_epoch, t.attempt_state as attempt_state_before,
    t.interruption as interruption_before, e.attempt_index, e.generation, e.namespace, e.queue_id, e.priority, e.rank,
    t.attached, e.cancel_requested_at_ms is not null as is_stopping, e.retry_count, e.created_at_ms, e.deadline_at_ms, e.attempt_deadline_at_ms, e.flow_id, e.parent_id,
    (select now_ms from clock) as now_ms, t.ready_row
),
unready as (
  delete from flowfabric.ff_ready r
  using claimed c
  where r.ctid = c.ready_row
),
ungranted as (
  delete from flowfabric.ff_grant g
  using claimed c
  where c.attached & ${attached.grant} <> 0 and g.execution_id = any (array[c.execution_id])
),
leased as (
  insert into flowfabric.ff_lease (execution_id, lease_id, lease_epoch, acquired_at_ms, expires_at_ms,
    attempt_started_at_ms, attempt_index, is_continued, is_started, attempt_type, worker_id, worker_instance_id)
  select execution_id, lease_id, lease_epoch, now_ms, now_ms + $3,
    case attempt_state_before when 'attempt_interrupted' then ${ofAttempt('started_at_ms')} else now_ms end,
    attempt_index, attempt_state_before = 'attempt_interrupted', ${isStarted},
    case attempt_state_before
      when 'attempt_interrupted' then ${ofAttempt('attempt_type')}
      when 'pending_retry_attempt' then 'retry'::flowfabric.ff_attempt_type
      when 'pending_replay_attempt' then 'replay'::flowfabric.ff_attempt_type
      else 'initial'::flowfabric.ff_attempt_type
    end, $1, $2
  from claimed c
),
acquired as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key,
    namespace, actor, lease_effect, lease_id, lease_epoch, attempt_index, worker_instance_id)
  select now_ms, execution_id, flow_id, generation, 'acquired', partition_key, namespace, $4,
    case when interruption_before in ('lapsed', 'revoked') then 'reclaimed'::flowfabric.ff_lease_effect
      else 'acquired'::flowfabric.ff_lease_effect end,
    lease_id, lease_epoch, attempt_index, $2
  from claimed
)`
}

/** From the record of the attempt of `claimed c`, when it was interrupted. */
function ofAttempt(column: string): string {
  return `(
        select a.${column}
        from flowfabric.ff_attempt a
        where a.execution_id = any (array[c.execution_id]) and a.attempt_index = c.attempt_index)`
}

// A first run has no suspension.
const mayHaveResumed = `c.attempt_state_before in ('attempt_interrupted', 'pending_retry_attempt')`

/** Follows `select`, from `claimed c` joined by `claimInput`. */
export const claimColumns = `
  c.execution_id, c.partition_key, c.lease_id, c.lease_epoch, c.now_ms + $3 as lease_expires_at_ms, c.attempt_state_before,
  c.interruption_before, c.attempt_index, c.generation, c.queue_id, c.priority, c.rank, n.payload, n.payload_encoding,
  case when c.attached & ${attached.tags} <> 0 then (
    select jsonb_object_agg(t.tag_key, t.tag_value)
    from flowfabric.ff_exec_tag t
    where t.execution_id = c.execution_id
  ) end as tags,
  n.policy, c.retry_count, c.created_at_ms, c.deadline_at_ms, c.attempt_deadline_at_ms, c.flow_id, c.parent_id,
  case when ${mayHaveResumed} then ${resumptionOf('c')} end as resumption,
  c.attached & ${hasMoreToClose} <> 0 as has_more_to_close, c.is_stopping`

export const claimInput = `join flowfabric.ff_exec_input n
  on n.partition_key = any (array[c.partition_key]) and n.execution_id = any (array[c.execution_id])`

/**
 * For `ff_exec_core e`: it is cancelled with its flow. After a request to stop, it may still clean up.
 */
export const isOfCancelledFlow = `(e.attached & ${attached.flow} <> 0 and e.cancel_requested_at_ms is null and exists (
      select from flowfabric.ff_flow_core f
      where f.flow_id = any (array[e.flow_id]) and ${goesWithFlowSql('f.cancel_policy', 'e.started_at_ms')}))`

// Rows with a live grant are skipped: only the holder of the grant may claim them.
const isClaimable = `e.eligibility_state = 'eligible_now'
    and (e.attached & ${attached.grant} = 0 or not exists (
      select from flowfabric.ff_grant g
      where g.execution_id = any (array[e.execution_id]) and g.expires_at_ms > flowfabric.ff_now_ms()))
    and not ${isOfCancelledFlow}`

// A locked row does not move any more, so it is found again by its position, without the index.
//
// The ready row is locked first. If another worker has claimed it since the statement began, it is gone, and nothing is
// locked. Locked by its execution alone, that execution would stay locked until the commit without being claimed, and
// its holder's completion would find it locked (measured: with eight processes on one lane every tenth completion had
// to be sent again alone, and all of them took more than twice the database's time).
const claimReady = statement({
  name: 'execution.claim',
  params: {
    worker_id: 'text',
    worker_instance_id: 'text',
    lease_ttl_ms: 'int8',
    actor: 'text',
    queue_ids: 'int4[]',
    from_neg_priorities: 'int2[]',
    from_ranks: 'int8[]',
    from_ids: 'uuid[]',
    // How many ready rows to read: more than requested if other processes claim from the same queues.
    candidates: 'int8',
    max: 'int8',
    // How many to skip before that, unread: other processes are taking them.
    skip: 'int8',
    // How many of them the worker starts at once.
    start_count: 'int8',
  },
  row: { ...claimRow, seen: 'int8' },
  text: `
with candidate as materialized (
  select next.*
  from unnest($5::int4[], $6::int2[], $7::int8[], $8::uuid[]) as q (queue_id, neg_priority, rank, execution_id)
  cross join lateral (
    select r.ctid as ready_row, r.neg_priority, r.rank, r.execution_id
    from flowfabric.ff_ready r
    where r.queue_id = q.queue_id and (r.neg_priority, r.rank, r.execution_id) >= (q.neg_priority, q.rank, q.execution_id)
    order by r.neg_priority, r.rank, r.execution_id
    limit $9::int8 + $11::int8
  ) next
  order by next.neg_priority, next.rank, next.execution_id
  limit $9
  offset $11::int8
),
-- In the order of the candidates, without a sort: it stops as soon as it has enough.
taken as materialized (
  select c.ready_row, e.ctid as taken_row, e.attempt_state, e.interruption, e.attached
  from candidate c
  join flowfabric.ff_ready r on r.ctid = c.ready_row
  join flowfabric.ff_exec_core e on e.execution_id = any (array[c.execution_id])
  where ${isClaimable}
  limit $10
  for update of r skip locked
  for no key update of e skip locked
),
${holdTaken('row_number() over (order by c.priority desc, c.rank, c.execution_id) <= $12')}
select ${claimColumns}, (select count(*) from candidate) as seen
from claimed c
${claimInput}`,
})

/**
 * How many rows are ready, up to `most`, and whether one of those can be claimed: it is free, or another transaction
 * has locked it. The others belong to holders of grants, or are about to end. It locks nothing.
 */
const countReady = statement({
  name: 'execution.claim.count-ready',
  params: { queue_ids: 'int4[]', most: 'int8' },
  row: { ready: 'int8', has_claimable: 'bool' },
  text: `
with few as materialized (
  select each.execution_id
  from unnest($1::int4[]) as q (queue_id)
  cross join lateral (
    select r.execution_id
    from flowfabric.ff_ready r
    where r.queue_id = q.queue_id
    limit $2
  ) each
  limit $2
)
select count(*) as ready, exists (
  select
  from few f
  join flowfabric.ff_exec_core e on e.execution_id = any (array[f.execution_id])
  where ${isClaimable}
) as has_claimable
from few`,
})

export function decodeClaim(row: ClaimRow, queue: MatchedQueue): Claim {
  return {
    executionId: formatExecutionId(row.partition_key, row.execution_id),
    leaseId: row.lease_id,
    leaseEpoch: row.lease_epoch,
    leaseExpiresAt: row.lease_expires_at_ms,
    reason: claimReason(
      { attemptState: row.attempt_state_before, interruption: row.interruption_before },
      row.is_stopping,
    ),
    attemptIndex: row.attempt_index,
    generation: row.generation,
    namespace: queue.namespace,
    lane: queue.lane,
    kind: queue.kind,
    version: queue.version,
    priority: row.priority,
    payload: row.payload,
    payloadEncoding: row.payload_encoding,
    tags: (row.tags ?? {}) as Record<string, string>,
    policy: row.policy as ExecutionPolicy | null,
    retryCount: row.retry_count,
    createdAt: row.created_at_ms,
    deadlineAt: row.deadline_at_ms,
    attemptDeadlineAt: row.attempt_deadline_at_ms,
    flowId: row.flow_id === null ? null : formatFlowId(row.partition_key, row.flow_id),
    parentId: row.parent_id === null ? null : formatExecutionId(row.partition_key, row.parent_id),
    resumption: decodeResumption(row.resumption),
  }
}

export { claimReady, countReady }
