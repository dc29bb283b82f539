// Claim: up to n executions go to one worker instance, each under a lease of its own.
//
// It starts from the ready rows of the queues that match, merges them in order, and locks just the n it takes, passing
// over what others hold; so it waits for nothing, and nothing that does not match stands before what does.
import { attached } from '../../model/attached.ts'
import { formatExecutionId, formatFlowId, type ExecutionId, type FlowId } from '../../model/id.ts'
import type { ExecutionPolicy } from '../../model/policy.ts'
import { claimReason, type AttemptState, type ClaimReason, type Interruption } from '../../model/state.ts'
import type { Sql } from '../../sql/sql.ts'
import { oneOf, statement, type RowOf } from '../../sql/statement.ts'
import type { Queue } from '../queue/match.ts'
import { readResumptions, type Resumption } from '../suspension/resumption.ts'

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
  /** Of an attempt that was suspended: how that ended, and the signals that did it. */
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
} as const

export type ClaimRow = RowOf<typeof claimRow>

/**
 * Follows a CTE `taken` of executions, locked, eligible and as the statement's snapshot has them, with `taken_row`, the
 * place of the execution's row, and `ready_row`, that of its ready row; and parameters `$1` worker_id, `$2`
 * worker_instance_id, `$3` lease_ttl_ms, `$4` actor. Gives `claimed`, and leaves: the execution active under a new lease
 * and epoch, no ready row, no grant, one event. The attempt goes on when it was interrupted; else a new one begins.
 */
export const holdTaken = `
clock as materialized (
  select flowfabric.ff_now_ms() as now_ms
  from (select count(*) from taken) locked
),
holding as materialized (
  select t.taken_row, t.ready_row, t.attempt_state, t.interruption, t.attached, n.payload, n.payload_encoding, n.policy,
    k.now_ms, a.attempt_type, a.started_at_ms
  from taken t
  cross join clock k
  join flowfabric.ff_exec_input n on n.partition_key = any (array[t.partition_key]) and n.execution_id = any (array[t.execution_id])
  left join lateral (
    select a.attempt_type, a.started_at_ms
    from flowfabric.ff_attempt a
    where t.attempt_state = 'attempt_interrupted'
      and a.execution_id = any (array[t.execution_id]) and a.attempt_index = t.attempt_index
    offset 0
  ) a on true
),
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
    started_at_ms = coalesce(e.started_at_ms, h.now_ms),
    attempt_deadline_at_ms = h.now_ms + (h.policy ->> 'attemptTimeoutMs')::int8,
    last_mutation_at_ms = greatest(h.now_ms, e.last_mutation_at_ms)
  from holding h
  where e.ctid = h.taken_row
  returning e.execution_id, e.partition_key, e.lease_id, e.lease_epoch, h.now_ms + $3 as lease_expires_at_ms,
    h.attempt_state as attempt_state_before, h.interruption as interruption_before, e.attempt_index, e.generation,
    e.namespace, e.queue_id, e.priority, e.rank, h.payload, h.payload_encoding, h.policy, e.retry_count,
    e.created_at_ms, e.deadline_at_ms, e.attempt_deadline_at_ms, e.flow_id, e.parent_id, h.now_ms,
    h.attempt_type as old_attempt_type, h.started_at_ms as old_attempt_started_at_ms
),
unready as (
  delete from flowfabric.ff_ready r
  using taken t
  where r.ctid = t.ready_row
),
ungranted as (
  delete from flowfabric.ff_grant g
  using taken t
  where t.attached & ${attached.grant} <> 0 and g.execution_id = any (array[t.execution_id])
),
leased as (
  insert into flowfabric.ff_lease (execution_id, lease_id, lease_epoch, acquired_at_ms, expires_at_ms,
    attempt_started_at_ms, attempt_index, is_continued, attempt_type, worker_id, worker_instance_id)
  select execution_id, lease_id, lease_epoch, now_ms, lease_expires_at_ms,
    coalesce(old_attempt_started_at_ms, now_ms), attempt_index, attempt_state_before = 'attempt_interrupted',
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
  select now_ms, execution_id, flow_id, generation, 'acquired', partition_key, namespace, $4,
    case when interruption_before in ('lapsed', 'revoked') then 'reclaimed'::flowfabric.ff_lease_effect
      else 'acquired'::flowfabric.ff_lease_effect end,
    lease_id, lease_epoch, attempt_index, $2
  from claimed
)`

/** Follows `select`, from `claimed c`. */
export const claimColumns = `
  c.execution_id, c.partition_key, c.lease_id, c.lease_epoch, c.lease_expires_at_ms, c.attempt_state_before,
  c.interruption_before, c.attempt_index, c.generation, c.queue_id, c.priority, c.rank, c.payload, c.payload_encoding,
  (select jsonb_object_agg(t.tag_key, t.tag_value) from flowfabric.ff_exec_tag t where t.execution_id = c.execution_id)
    as tags,
  c.policy, c.retry_count, c.created_at_ms, c.deadline_at_ms, c.attempt_deadline_at_ms, c.flow_id, c.parent_id`

// Rows of a live grant are passed over: they are for its holder alone. So is an execution that was changed after the
// statement began, by its `xmin`: claimed and given back meanwhile, it has a ready row that cannot be seen, and would be
// left behind. What is locked has not moved since, so it is found again by its place, without the index.
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
    // How many ready rows to look at: more than are wanted where others claim from the same queues.
    candidates: 'int8',
    max: 'int8',
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
    limit $9
  ) next
  order by next.neg_priority, next.rank, next.execution_id
  limit $9
),
-- In the order of the candidates, without a sort: it stops as soon as it has enough.
taken as materialized (
  select c.ready_row, e.ctid as taken_row, e.execution_id, e.partition_key, e.attempt_index, e.attempt_state,
    e.interruption, e.attached
  from candidate c
  join flowfabric.ff_exec_core seen on seen.execution_id = any (array[c.execution_id])
  join flowfabric.ff_exec_core e on e.ctid = seen.ctid and e.xmin = seen.xmin
  where e.eligibility_state = 'eligible_now'
    and (e.attached & ${attached.grant} = 0 or not exists (
      select from flowfabric.ff_grant g
      where g.execution_id = any (array[e.execution_id]) and g.expires_at_ms > flowfabric.ff_now_ms()))
  limit $10
  for no key update of e skip locked
),
${holdTaken}
select ${claimColumns}, (select count(*) from candidate) as seen
from claimed c
order by c.priority desc, c.rank, c.execution_id`,
})

const countReady = statement({
  name: 'execution.claim.count-ready',
  params: { queue_ids: 'int4[]', most: 'int8' },
  row: { ready: 'int8' },
  text: `
select count(*) as ready
from (
  select
  from unnest($1::int4[]) as q (queue_id)
  cross join lateral (
    select
    from flowfabric.ff_ready r
    where r.queue_id = q.queue_id
    limit $2
  ) each
  limit $2
) few`,
})

/** By the execution's uuid. Only what went on after an interruption can have any, so a first run costs nothing. */
export async function resumptionsOf(sql: Sql, rows: readonly ClaimRow[]): Promise<ReadonlyMap<string, Resumption>> {
  const uuids = rows.flatMap((row) => (mayHaveResumed(row) ? [row.execution_id] : []))
  return uuids.length === 0 ? new Map() : readResumptions(sql, uuids)
}

// Who delayed it has had the signals; who lost it may not have.
function mayHaveResumed({ attempt_state_before: attemptState, interruption_before: interruption }: ClaimRow): boolean {
  return attemptState === 'attempt_interrupted' && interruption !== 'delayed'
}

export function decodeClaim(row: ClaimRow, queue: Queue, resumptions: ReadonlyMap<string, Resumption>): Claim {
  return {
    executionId: formatExecutionId(row.partition_key, row.execution_id),
    leaseId: row.lease_id,
    leaseEpoch: row.lease_epoch,
    leaseExpiresAt: row.lease_expires_at_ms,
    reason: claimReason({ attemptState: row.attempt_state_before, interruption: row.interruption_before }),
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
    resumption: resumptions.get(row.execution_id) ?? null,
  }
}

export { claimReady, countReady }
