// Claim: up to n executions go to one worker instance, each under a lease of its own.
//
// It starts from the ready rows of the queues that match, merges them in order, and locks just the n it takes, passing
// over what others hold; so it waits for nothing, and nothing that does not match stands before what does.
import { attached } from '../../model/attached.ts'
import { formatExecutionId, formatFlowId, type ExecutionId, type FlowId } from '../../model/id.ts'
import type { ExecutionPolicy } from '../../model/policy.ts'
import { claimReason, type AttemptState, type ClaimReason, type Interruption } from '../../model/state.ts'
import { oneOf, statement, type RowOf } from '../../sql/statement.ts'

/** An execution that a worker holds. */
export interface Claim {
  readonly executionId: ExecutionId
  readonly leaseId: string
  readonly leaseEpoch: number
  readonly leaseExpiresAt: number
  /** Why it came: its first run, a retry, a replay, or going on with an attempt that was lost or that waited. */
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
  namespace: 'text',
  lane_id: 'text',
  execution_kind: 'text',
  task_version: 'text?',
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
} as const

export type ClaimRow = RowOf<typeof claimRow>

/**
 * Follows a CTE `taken` with the columns of `ff_exec_core`, locked and eligible, and parameters `$1` worker_id, `$2`
 * worker_instance_id, `$3` lease_ttl_ms. Gives `claimed`, and leaves: the execution active under a new lease and epoch,
 * no ready row, no grant, one event. The attempt goes on when it was interrupted; else a new one begins.
 */
export const holdTaken = `
holding as materialized (
  select t.*, n.payload, n.payload_encoding, n.policy, n.now_ms,
    gen_random_uuid() as new_lease_id,
    a.attempt_type as old_attempt_type,
    a.started_at_ms as old_attempt_started_at_ms,
    t.attempt_state = 'attempt_interrupted' as goes_on
  from taken t
  join lateral (
    select i.payload, i.payload_encoding, i.policy, flowfabric.ff_now_ms() as now_ms
    from flowfabric.ff_exec_input i
    where i.partition_key = any (array[t.partition_key]) and i.execution_id = any (array[t.execution_id])
  ) n on true
  left join flowfabric.ff_attempt a
    on t.attempt_state = 'attempt_interrupted'
    and a.execution_id = any (array[t.execution_id]) and a.attempt_index = t.attempt_index
),
claimed as (
  update flowfabric.ff_exec_core e
  set lifecycle_phase = 'active',
    ownership_state = 'leased',
    eligibility_state = 'not_applicable',
    attempt_state = 'running_attempt',
    interruption = 'none',
    attempt_index = case when h.goes_on then h.attempt_index else h.total_attempt_count end,
    total_attempt_count = h.total_attempt_count + case when h.goes_on then 0 else 1 end,
    lease_id = h.new_lease_id,
    lease_epoch = h.lease_epoch + 1,
    attached = h.attached & ~${attached.grant},
    started_at_ms = coalesce(h.started_at_ms, h.now_ms),
    attempt_deadline_at_ms = h.now_ms + (h.policy ->> 'attemptTimeoutMs')::int8,
    last_mutation_at_ms = greatest(h.now_ms, h.last_mutation_at_ms)
  from holding h
  where e.execution_id = any (array[h.execution_id])
  returning e.execution_id, e.partition_key, e.lease_id, e.lease_epoch, h.now_ms + $3 as lease_expires_at_ms,
    h.attempt_state as attempt_state_before, h.interruption as interruption_before, e.attempt_index, e.generation,
    e.namespace, e.task_version, e.queue_id, e.priority, e.rank, h.payload, h.payload_encoding, h.policy, e.retry_count,
    e.created_at_ms, e.deadline_at_ms, e.attempt_deadline_at_ms, e.flow_id, e.parent_id, h.now_ms,
    h.old_attempt_type, h.old_attempt_started_at_ms, h.attached & ${attached.grant} <> 0 as had_grant
),
unready as (
  delete from flowfabric.ff_ready r
  using claimed c
  where r.queue_id = any (array[c.queue_id]) and r.neg_priority = -c.priority
    and r.rank = c.rank and r.execution_id = c.execution_id
),
ungranted as (
  delete from flowfabric.ff_grant g
  using claimed c
  where c.had_grant and g.execution_id = any (array[c.execution_id])
),
leased as (
  insert into flowfabric.ff_lease (execution_id, lease_id, lease_epoch, acquired_at_ms, expires_at_ms,
    attempt_started_at_ms, attempt_index, attempt_type, worker_id, worker_instance_id)
  select execution_id, lease_id, lease_epoch, now_ms, lease_expires_at_ms,
    coalesce(old_attempt_started_at_ms, now_ms), attempt_index,
    coalesce(old_attempt_type, case attempt_state_before
      when 'pending_retry_attempt' then 'retry'::flowfabric.ff_attempt_type
      when 'pending_replay_attempt' then 'replay'::flowfabric.ff_attempt_type
      else 'initial'::flowfabric.ff_attempt_type
    end), $1, $2
  from claimed
),
acquired as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, flow_id, generation, event_type, partition_key,
    namespace, actor, lease_effect, lease_id, lease_epoch, attempt_index, worker_instance_id)
  select now_ms, execution_id, flow_id, generation, 'acquired', partition_key, namespace, $1,
    case when interruption_before in ('lapsed', 'revoked') then 'reclaimed'::flowfabric.ff_lease_effect
      else 'acquired'::flowfabric.ff_lease_effect end,
    lease_id, lease_epoch, attempt_index, $2
  from claimed
)`

/** Follows `select`, from `claimed c` and its queue `q`. */
export const claimColumns = `
  c.execution_id, c.partition_key, c.lease_id, c.lease_epoch, c.lease_expires_at_ms, c.attempt_state_before,
  c.interruption_before, c.attempt_index, c.generation, c.namespace, q.lane_id, q.execution_kind, c.task_version,
  c.queue_id, c.priority, c.rank, c.payload, c.payload_encoding,
  (select jsonb_object_agg(t.tag_key, t.tag_value) from flowfabric.ff_exec_tag t where t.execution_id = c.execution_id)
    as tags,
  c.policy, c.retry_count, c.created_at_ms, c.deadline_at_ms, c.attempt_deadline_at_ms, c.flow_id, c.parent_id`

// Rows of a live grant are passed over: they are for its holder alone. So is an execution that was changed after the
// statement began, by its `xmin`: claimed and given back meanwhile, it has a ready row that cannot be seen, and would be
// left behind.
const claimReady = statement({
  name: 'execution.claim',
  params: {
    worker_id: 'text',
    worker_instance_id: 'text',
    lease_ttl_ms: 'int8',
    queue_ids: 'int4[]',
    from_neg_priorities: 'int2[]',
    from_ranks: 'int8[]',
    from_ids: 'uuid[]',
    // How many ready rows to look at: more than are wanted where others claim from the same queues.
    candidates: 'int8',
    max: 'int8',
  },
  row: claimRow,
  text: `
with candidate as materialized (
  select next.*
  from unnest($4::int4[], $5::int2[], $6::int8[], $7::uuid[]) as q (queue_id, neg_priority, rank, execution_id)
  cross join lateral (
    select r.neg_priority, r.rank, r.execution_id
    from flowfabric.ff_ready r
    where r.queue_id = q.queue_id and (r.neg_priority, r.rank, r.execution_id) >= (q.neg_priority, q.rank, q.execution_id)
    order by r.neg_priority, r.rank, r.execution_id
    limit $8
  ) next
  order by next.neg_priority, next.rank, next.execution_id
  limit $8
),
taken as materialized (
  select e.*
  from candidate c
  join flowfabric.ff_exec_core seen on seen.execution_id = any (array[c.execution_id])
  join flowfabric.ff_exec_core e on e.execution_id = any (array[c.execution_id]) and e.xmin = seen.xmin
  where e.eligibility_state = 'eligible_now'
    and (e.attached & ${attached.grant} = 0 or not exists (
      select from flowfabric.ff_grant g
      where g.execution_id = any (array[e.execution_id]) and g.expires_at_ms > flowfabric.ff_now_ms()))
  order by c.neg_priority, c.rank, c.execution_id
  limit $9
  for no key update of e skip locked
),
${holdTaken}
select ${claimColumns}
from claimed c
join flowfabric.ff_queue q on q.queue_id = c.queue_id
order by c.priority desc, c.rank, c.execution_id`,
})

export function decodeClaim(row: ClaimRow): Claim {
  return {
    executionId: formatExecutionId(row.partition_key, row.execution_id),
    leaseId: row.lease_id,
    leaseEpoch: row.lease_epoch,
    leaseExpiresAt: row.lease_expires_at_ms,
    reason: claimReason({ attemptState: row.attempt_state_before, interruption: row.interruption_before }),
    attemptIndex: row.attempt_index,
    generation: row.generation,
    namespace: row.namespace,
    lane: row.lane_id,
    kind: row.execution_kind,
    version: row.task_version,
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
  }
}

export { claimReady }
