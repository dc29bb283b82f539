// Why an execution is not running: the facts, read in one round trip, and their sentence.
import type { Condition } from '../../model/condition.ts'
import { explain, type Explanation } from '../../model/explain.ts'
import type { ExplainFacts } from '../../model/explain-facts.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { statement, type RowOf } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { visibleExecution } from '../kernel/visible.ts'
import { sharedScope } from '../signing-key/scope.ts'
import { describeCall } from './describe.ts'
import { decodeExecution, type Execution } from './snapshot.ts'

const factRow = {
  now_ms: 'int8',
  parked_at_ms: 'int8?',
  cancel_deadline_at_ms: 'int8?',
  last_failure: 'text?',
  expired_workers: 'text[]',
  condition: 'jsonb?',
  grant_instance_id: 'text?',
  grant_expires_at_ms: 'int8?',
  aside_duty: 'text?',
  aside_failure_count: 'int4?',
  aside_retry_at_ms: 'int8?',
  aside_error: 'text?',
  ahead_count: 'int8',
  alive_count: 'int8',
  lane_count: 'int8',
  kind_count: 'int8',
  version_count: 'int8',
  able_count: 'int8',
  supervised_at_ms: 'int8?',
} as const

// A worker counts if its claim could take the execution: by its namespace, lanes, kinds, versions and capabilities.
const readFacts = statement({
  name: 'execution.explain',
  params: { execution_id: 'uuid', partition_key: 'int2', namespace: 'text?' },
  row: factRow,
  text: `
select c.now_ms, e.parked_at_ms, e.cancel_deadline_at_ms, a.failure_reason as last_failure, s.condition,
  array(
    select v.worker_instance_id
    from flowfabric.ff_event v
    where v.execution_id = e.execution_id and v.lease_effect = 'expired'
    order by v.event_id desc
    limit 3
  ) as expired_workers,
  g.worker_instance_id as grant_instance_id, g.expires_at_ms as grant_expires_at_ms,
  d.duty as aside_duty, d.failure_count as aside_failure_count, d.retry_at_ms as aside_retry_at_ms, d.error as aside_error,
  h.ahead_count, w.alive_count, w.lane_count, w.kind_count, w.version_count, w.able_count,
  (select max(u.last_run_at_ms) from flowfabric.ff_duty u) as supervised_at_ms
from (select flowfabric.ff_now_ms() as now_ms offset 0) c
cross join flowfabric.ff_exec_core e
join flowfabric.ff_queue q on q.queue_id = any (array[e.queue_id])
left join flowfabric.ff_attempt a
  on a.execution_id = any (array[e.execution_id]) and a.attempt_index = any (array[e.attempt_index])
left join flowfabric.ff_suspension_current s
  on s.execution_id = any (array[case when e.lifecycle_phase = 'suspended' then e.execution_id end])
left join flowfabric.ff_grant g on g.execution_id = any (array[e.execution_id]) and g.expires_at_ms > c.now_ms
left join lateral (
  select duty, failure_count, retry_at_ms, error
  from flowfabric.ff_set_aside
  where subject_id = e.execution_id
  order by retry_at_ms desc
  limit 1
) d on true
cross join lateral (
  select count(*) as ahead_count
  from (
    select
    from flowfabric.ff_ready r
    where e.eligibility_state = 'eligible_now'
      and r.queue_id = e.queue_id
      and (r.neg_priority, r.rank, r.execution_id) < (-e.priority, e.rank, e.execution_id)
    limit 1000
  ) before
) h
cross join lateral (
  select count(*) as alive_count,
    count(*) filter (where f.lane) as lane_count,
    count(*) filter (where f.lane and f.kind) as kind_count,
    count(*) filter (where f.lane and f.kind and f.version) as version_count,
    count(*) filter (where f.lane and f.kind and f.version and f.able) as able_count
  from flowfabric.ff_worker i
  cross join lateral (
    select q.lane_id = any (i.lanes) as lane, i.kinds is null or q.execution_kind = any (i.kinds) as kind,
      q.task_version = '' or q.task_version = any (i.versions) as version,
      q.required_capabilities <@ i.capabilities as able
  ) f
  where i.namespace = any (array[e.namespace, '${sharedScope}']) and i.expires_at_ms > c.now_ms
) w
where e.execution_id = $1 and e.partition_key = $2 and ($3::text is null or e.namespace = $3)`,
})

/** Null for an execution that does not exist, or belongs to another namespace. */
export async function explainExecution(sql: Sql, caller: Caller, id: string): Promise<Explanation | null> {
  const target = visibleExecution(caller, id)
  const [[found], [row]] = await sql.pipeline([describeCall(target), call(readFacts, target)])
  return found === undefined || row === undefined ? null : explain(factsOf(decodeExecution(found), row))
}

function factsOf(execution: Execution, row: RowOf<typeof factRow>): ExplainFacts {
  return {
    execution,
    now: row.now_ms,
    parkedAt: row.parked_at_ms,
    cancelDeadlineAt: row.cancel_deadline_at_ms,
    lastFailure: row.last_failure,
    expiredWorkers: row.expired_workers,
    condition: row.condition as Condition | null,
    workers: {
      alive: row.alive_count,
      lane: row.lane_count,
      kind: row.kind_count,
      version: row.version_count,
      able: row.able_count,
    },
    aheadCount: row.ahead_count,
    grant:
      row.grant_instance_id === null
        ? null
        : { workerInstanceId: row.grant_instance_id, expiresAt: row.grant_expires_at_ms! },
    setAside:
      row.aside_duty === null
        ? null
        : {
            duty: row.aside_duty,
            failureCount: row.aside_failure_count!,
            retryAt: row.aside_retry_at_ms!,
            error: row.aside_error!,
          },
    supervisedAt: row.supervised_at_ms,
  }
}
