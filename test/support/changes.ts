// Changes of several tables at once, for the initial states of tests. The engine would not make them, or not in this
// way.
import type { Queries, Sql } from '../../src/sql/sql.ts'
import { grants, leases, queues, ready } from './tables/claims.ts'
import { attempts, executions, inputs } from './tables/executions.ts'
import { cancelBacklog, dispatches, flows } from './tables/flows.ts'
import { events } from './tables/operation.ts'

/** The database's clock, in statements. */
export const nowMs = 'flowfabric.ff_now_ms()'

/** The type of the column `timeout_behavior`. */
export const timeoutBehaviourType = 'flowfabric.ff_timeout_behavior'

/** The version of a schema that only later code can use. */
export const laterMigration = { version: 99, name: 'contract', checksum: '', oldest_code: '99.0.0', applied_at_ms: 0 }

/** Puts executions without a ready row into the queue. */
export function makeReady(sql: Queries, condition = 'true'): Promise<void> {
  return sql.script(`insert into ${ready.qualified} (queue_id, neg_priority, rank, execution_id)
    select queue_id, -priority, rank, execution_id from ${executions.qualified} where ${condition}
    on conflict do nothing`)
}

/** Adds ready rows without executions, for a large table. */
export function fillReady(sql: Sql, count: number): Promise<void> {
  return sql.script(
    `insert into ${ready.qualified} (queue_id, neg_priority, rank, execution_id)
    select 1, 0, n, gen_random_uuid() from generate_series(1, ${count}) as n`,
    { statementTimeoutMs: Infinity },
  )
}

/** Deletes executions without their history, as retention would; by a condition over their own row. */
export async function forget(sql: Queries, condition: string): Promise<void> {
  const gone = `(select execution_id from ${executions.qualified} where ${condition})`
  for (const table of [ready, leases, attempts, inputs]) await table.remove(sql, `execution_id in ${gone}`)
  await executions.remove(sql, condition)
}

/** Stores a policy that the engine's checks would have refused; by a condition over the execution's row. */
export function storePolicy(sql: Queries, policy: object, condition: string): Promise<void> {
  const chosen = `execution_id in (select execution_id from ${executions.qualified} where ${condition})`
  return inputs.change(sql, { policy: JSON.stringify(policy) }, chosen)
}

/** Ends every delay. */
export async function promoteAll(sql: Queries): Promise<void> {
  await sql.script(`
    with due as (
      update ${executions.qualified}
      set eligibility_state = 'eligible_now', delay_until_ms = null
      where delay_until_ms is not null
      returning queue_id, priority, rank, execution_id
    )
    insert into ${ready.qualified} (queue_id, neg_priority, rank, execution_id)
    select queue_id, -priority, rank, execution_id from due`)
}

/** Ends every lease, with this interruption, and puts its execution back into the queue. */
export async function interruptAll(sql: Queries, interruption: 'lapsed' | 'revoked'): Promise<void> {
  await sql.script(`
    with interrupted as (
      update ${executions.qualified}
      set lifecycle_phase = 'runnable', ownership_state = 'unowned', eligibility_state = 'eligible_now',
        attempt_state = 'attempt_interrupted', interruption = '${interruption}', attempt_deadline_at_ms = null
      where lifecycle_phase = 'active'
      returning *
    ),
    unleased as (
      delete from ${leases.qualified} l using interrupted e where l.execution_id = e.execution_id returning l.*
    ),
    recorded as (
      insert into ${attempts.qualified} (execution_id, attempt_index, generation, attempt_type, lease_id, lease_epoch,
        started_at_ms, outcome)
      select execution_id, attempt_index, 0, attempt_type, lease_id, lease_epoch, attempt_started_at_ms,
        'lease_expired_reclaimable'
      from unleased
    )
    insert into ${ready.qualified} (queue_id, neg_priority, rank, execution_id)
    select queue_id, -priority, rank, execution_id from interrupted`)
}

/** Expires all leases and grants. */
export async function expireLeases(sql: Queries): Promise<void> {
  await leases.change(sql, { expires_at_ms: 1 })
  await grants.change(sql, { expires_at_ms: 1 })
}

/** Creates many executions at once, in the queue of the only one: fresh ones, and ones that a signal resumed. */
export function addCrowd(sql: Sql, fresh: number, resumed: number): Promise<void> {
  return sql.script(
    `
    create temporary table crowd as
      select gen_random_uuid() as id, n > ${fresh} as resumed, q.queue_id
      from generate_series(1, ${fresh + resumed}) n cross join ${queues.qualified} q;
    insert into ${executions.qualified} (execution_id, partition_key, namespace, queue_id, priority, rank, created_at_ms,
      last_mutation_at_ms, lifecycle_phase, ownership_state, eligibility_state, attempt_state, interruption)
    select id, 0, 'default', queue_id, 0, 1, 1, 1, 'runnable', 'unowned', 'eligible_now',
      case when resumed then 'attempt_interrupted' else 'pending_first_attempt' end::flowfabric.ff_attempt_state,
      case when resumed then 'signalled' else 'none' end::flowfabric.ff_interruption
    from crowd;
    insert into ${inputs.qualified} (partition_key, execution_id, created_at_ms, queue_id, creator_identity)
    select 0, id, 1, queue_id, 'factory' from crowd;
    insert into ${ready.qualified} (queue_id, neg_priority, resumed, rank, execution_id)
    select queue_id, 0, resumed, 1, id from crowd;
    drop table crowd;`,
    { statementTimeoutMs: Infinity },
  )
}

/** Creates flows that exist for the length of their list. */
export function addFlows(sql: Queries, count: number, kind: string): Promise<void> {
  return sql.script(`
    insert into ${flows.qualified} (flow_id, root_flow_id, created_at_ms, last_mutation_at_ms, partition_key, namespace,
      flow_kind, creator_identity)
    select i.id, i.id, 4e12, 4e12, 0, 'default', '${kind}', 'test'
    from (select gen_random_uuid() as id from generate_series(1, ${count})) i`)
}

/** Reorders the queues of pending dispatches and cancels at random. */
export async function shufflePending(sql: Queries): Promise<void> {
  for (const table of [dispatches, cancelBacklog]) {
    await table.change(sql, 'created_at_ms = 1 + floor(random() * 1000)')
  }
}

/** Adds some dispatch rows of endings that were resolved before, of this generation or the last, in a tree of flows. */
export const repeatDispatches = (rootFlow: string) => `
insert into ${dispatches.qualified} (execution_id, generation, flow_id, created_at_ms, outcome, is_counted)
select e.execution_id, e.generation - g.ago, e.flow_id, 1, case g.ago when 0 then e.terminal_outcome else 'failed' end, true
from ${flows.qualified} f
join ${executions.qualified} e on e.flow_id = f.flow_id
cross join generate_series(0, 1) as g (ago)
where f.root_flow_id = '${rootFlow}' and e.generation >= g.ago and (g.ago = 1 or e.terminal_outcome <> 'none')
order by random()
limit 5
on conflict do nothing`

/** Ends the execution `$1` as expired. */
export const expireByHand = `
with ended as (
  update ${executions.qualified}
  set lifecycle_phase = 'terminal', eligibility_state = 'not_applicable', terminal_outcome = 'expired', terminal_at_ms = 1
  where execution_id = $1
  returning *
),
unready as (
  delete from ${ready.qualified} r using ended where r.execution_id = ended.execution_id
)
insert into ${events.qualified} (occurred_at_ms, execution_id, generation, event_type, outcome, partition_key, namespace, actor)
select 1, execution_id, 0, 'ended', 'expired', partition_key, namespace, 'another' from ended`

/** Claims up to 20 executions as the engine does: ready rows and executions with skip locked, a lease for each. */
export const claimByHand = `
with taken as (
  select r.queue_id, r.neg_priority, r.rank, r.execution_id
  from ${ready.qualified} r
  join ${executions.qualified} e using (execution_id)
  order by r.execution_id desc
  limit 20
  for update of r, e skip locked
),
claimed as (
  update ${executions.qualified} e
  set lifecycle_phase = 'active', ownership_state = 'leased', eligibility_state = 'not_applicable',
    attempt_state = 'running_attempt', lease_id = gen_random_uuid(), lease_epoch = lease_epoch + 1,
    total_attempt_count = 1, started_at_ms = 1
  from taken t
  where e.execution_id = t.execution_id
  returning e.*
),
gone as (
  delete from ${ready.qualified} r using claimed c where r.execution_id = c.execution_id
)
insert into ${leases.qualified} (execution_id, lease_id, lease_epoch, acquired_at_ms, expires_at_ms,
  attempt_started_at_ms, attempt_index, attempt_type, worker_id, worker_instance_id)
select execution_id, lease_id, lease_epoch, 1, 2, 1, 0, 'initial', 'w', 'w' from claimed`
