// Fills the tables of one schema with executions in every state, by SQL alone: a million of them through the engine
// would take longer than all measurements. The rows satisfy the engine's invariants, which are checked on the small
// tables.
import pg from 'pg'
import { checkInvariants } from '../../../src/engine/invariants.ts'
import { connect } from '../../../src/index.ts'
import { openPostgres } from '../../../src/sql/postgres.ts'

export interface Filling {
  readonly schema: string
  readonly rows: number
  /** The oldest executions, in a namespace of their own. */
  readonly rareRows: number
  /** In turn. */
  readonly states: readonly string[]
  /** One each in a thousand, instead of its turn. */
  readonly rareStates: readonly string[]
}

/** Returns the id of the execution that is the parent of a quarter of the others. */
export async function fill(url: string, filling: Filling): Promise<string> {
  const { schema, rows, rareRows, states, rareStates } = filling
  const ff = await connect(url, { schema })
  await ff.close()
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('set synchronous_commit = off')
    // Autovacuum must not analyse the tables: the lists are measured without statistics first.
    await client.query(withoutAutovacuum(schema))
    await client.query(inSchema(schema, plan), [rows, rareRows, states, rareStates])
    for (const step of steps) await client.query(inSchema(schema, step))
    const { rows: parents } = await client.query<{ id: string }>(
      inSchema(schema, `select '{fp:7}:' || execution_id as id from flowfabric.bench_plan where is_parent`),
    )
    await client.query(inSchema(schema, 'drop table flowfabric.bench_plan'))
    return parents[0]!.id
  } finally {
    await client.end()
  }
}

export async function analyse(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query('analyze')
  await client.end()
}

export async function refuseBrokenInvariants(url: string, schema: string): Promise<void> {
  const sql = await openPostgres({ url, schema })
  const violations = await checkInvariants(sql)
  await sql.close()
  if (violations.length > 0) throw new Error(`the load breaks invariants: ${JSON.stringify(violations, null, 2)}`)
}

function inSchema(schema: string, text: string): string {
  return text.replaceAll('flowfabric.', `${schema}.`)
}

function withoutAutovacuum(schema: string): string {
  return `
do $$
declare
  name text;
begin
  for name in select tablename from pg_tables where schemaname = '${schema}' and tablename not in ('ff_event') loop
    execute format('alter table ${schema}.%I set (autovacuum_enabled = off)', name);
  end loop;
end $$`
}

// One row for each execution with everything that its number determines; the tables are filled from it. Namespace,
// lane, kind and so on are bits of a hash, hence independent of one another and the same in every run. A list by time
// has the rare namespace last.
const plan = `
create unlogged table flowfabric.bench_plan as
with numbered as (
  select n, hashint4(n::int) as bits,
    clock.now_ms - 3 * $1::bigint as first_ms,
    case when n % 1000 < cardinality($4::text[]) then ($4::text[])[1 + n % 1000]
      else ($3::text[])[1 + n % cardinality($3::text[])] end as state
  from (select flowfabric.ff_now_ms() as now_ms offset 0) clock
  cross join generate_series(1, $1::bigint) n
)
select n, state,
  first_ms + n as created_at_ms,
  first_ms + 2 * $1::bigint - n as turned_at_ms,
  first_ms + 3 * $1::bigint as now_ms,
  (lpad(to_hex(first_ms + n), 12, '0') || '7' || substr(md5(n::text), 1, 3) || '8' || substr(md5(n::text), 4, 15))::uuid
    as execution_id,
  gen_random_uuid() as lease_id,
  n = 1 as is_parent,
  n > 1 and (bits >> 8) & 3 = 0 as is_child,
  (case when n = 1 or (bits >> 8) & 3 = 0 then 7 else (bits >> 16) & 255 end)::int2 as partition_key,
  case when n <= $2::bigint then 'rare' else 'tenant-' || (bits & 3) end as namespace,
  'lane-' || ((bits >> 2) & 3) as lane_id,
  'kind-' || ((bits >> 4) & 3) as execution_kind,
  'team-' || ((bits >> 6) & 3) as team,
  state in ('resumable', 'suspended', 'active', 'completed', 'failed') as has_run,
  state in ('completed', 'failed', 'cancelled', 'expired', 'skipped') as has_ended,
  (case state when 'completed' then 'success' when 'failed' then 'failed' when 'cancelled' then 'cancelled'
    when 'expired' then 'expired' when 'skipped' then 'skipped' else 'none' end)::flowfabric.ff_terminal_outcome as outcome
from numbered`

const steps = [
  `
insert into flowfabric.ff_lane_registry (namespace, lane_id, registered_at_ms, registered_by)
select distinct namespace, lane_id, now_ms, 'bench' from flowfabric.bench_plan`,
  `
insert into flowfabric.ff_queue
  (namespace, lane_id, execution_kind, task_version, required_capabilities, capability_digest, created_at_ms)
select distinct namespace, lane_id, execution_kind, '', '{}'::text[], encode(substring(sha256('') for 16), 'hex')::uuid, now_ms from flowfabric.bench_plan`,
  `
insert into flowfabric.ff_exec_core (execution_id, created_at_ms, last_mutation_at_ms, rank, lease_epoch, started_at_ms,
  terminal_at_ms, delay_until_ms, parked_at_ms, parked_state, queue_id, total_attempt_count, attached, lifecycle_phase,
  ownership_state, eligibility_state, attempt_state, terminal_outcome, interruption, on_parent_end, partition_key,
  priority, lease_id, parent_id, namespace)
select p.execution_id, p.created_at_ms, p.now_ms, p.created_at_ms, p.has_run::int,
  case when p.has_run then p.turned_at_ms end,
  case when p.has_ended then p.turned_at_ms end,
  case when p.state = 'delayed' then p.turned_at_ms + 86400000 end,
  case when p.state in ('suspended', 'waiting_children', 'rate_limited') then p.turned_at_ms end,
  case when p.state in ('suspended', 'waiting_children', 'rate_limited') then p.state::flowfabric.ff_public_state end,
  q.queue_id, p.has_run::int,
  1024 | case when p.is_parent then 64 when p.is_child then 32 else 0 end | case when p.state = 'suspended' then 2 else 0 end,
  (case when p.has_ended then 'terminal' when p.state in ('active', 'suspended') then p.state else 'runnable' end
    )::flowfabric.ff_lifecycle_phase,
  (case p.state when 'active' then 'leased' else 'unowned' end)::flowfabric.ff_ownership_state,
  (case when p.has_ended or p.state in ('active', 'suspended') then 'not_applicable'
    when p.state = 'delayed' then 'not_eligible_until_time'
    when p.state = 'waiting_children' then 'blocked_by_dependencies'
    when p.state = 'rate_limited' then 'blocked_by_quota'
    else 'eligible_now' end)::flowfabric.ff_eligibility_state,
  (case when p.state = 'active' then 'running_attempt' when p.state = 'skipped' then 'none'
    when p.has_run and p.has_ended then 'attempt_terminal' when p.has_run then 'attempt_interrupted'
    else 'pending_first_attempt' end)::flowfabric.ff_attempt_state,
  p.outcome,
  (case p.state when 'resumable' then 'signalled' else 'none' end)::flowfabric.ff_interruption,
  case when p.is_child then 'cancel'::flowfabric.ff_on_parent_end end,
  p.partition_key, 0, case when p.has_run then p.lease_id end,
  case when p.is_child then (select execution_id from flowfabric.bench_plan where is_parent) end, p.namespace
from flowfabric.bench_plan p
join flowfabric.ff_queue q using (namespace, lane_id, execution_kind)`,
  `
insert into flowfabric.ff_exec_input (partition_key, execution_id, created_at_ms, queue_id, parent_id, creator_identity,
  payload, payload_encoding)
select e.partition_key, e.execution_id, e.created_at_ms, e.queue_id, e.parent_id, 'bench',
  convert_to('{"sequence":1}', 'UTF8'), 'json'
from flowfabric.ff_exec_core e`,
  `
insert into flowfabric.ff_ready (queue_id, neg_priority, resumed, rank, execution_id)
select queue_id, -priority, public_state = 'resumable', rank, execution_id from flowfabric.ff_exec_core where eligibility_state = 'eligible_now'`,
  `
insert into flowfabric.ff_lease (execution_id, lease_id, lease_epoch, acquired_at_ms, expires_at_ms,
  attempt_started_at_ms, attempt_index, attempt_type, worker_id, worker_instance_id)
select execution_id, lease_id, 1, started_at_ms, last_mutation_at_ms + 86400000, started_at_ms, 0, 'initial', 'bench',
  'bench-1'
from flowfabric.ff_exec_core
where lifecycle_phase = 'active'`,
  `
insert into flowfabric.ff_attempt (execution_id, attempt_index, generation, attempt_type, lease_id, lease_epoch,
  started_at_ms, ended_at_ms, outcome)
select execution_id, 0, 0, 'initial', lease_id, 1, started_at_ms, terminal_at_ms, public_state
from flowfabric.ff_exec_core
where attempt_state in ('attempt_terminal', 'attempt_interrupted')`,
  `
insert into flowfabric.ff_event (occurred_at_ms, lease_epoch, execution_id, lease_id, attempt_index, generation,
  event_type, outcome, partition_key, namespace, actor)
select terminal_at_ms, lease_epoch, execution_id, lease_id, 0, 0, 'ended', terminal_outcome, partition_key, namespace,
  'bench'
from flowfabric.ff_exec_core
where lifecycle_phase = 'terminal'`,
  `
insert into flowfabric.ff_exec_tag (execution_id, created_at_ms, namespace, tag_key, tag_value)
select execution_id, created_at_ms, namespace, 'team', team from flowfabric.bench_plan`,
  // Each waits for two signals; one has arrived.
  `
insert into flowfabric.ff_suspension_current (execution_id, suspension_id, suspended_at_ms, timeout_at_ms, lease_epoch,
  lease_id, generation, attempt_index, partition_key, reason_code, timeout_behavior, requested_by, condition)
select execution_id, gen_random_uuid(), parked_at_ms, last_mutation_at_ms + 86400000, 1, lease_id, 0, 0, partition_key,
  'waiting_for_signal',
  (enum_range(null::flowfabric.ff_timeout_behavior))[1 + get_byte(uuid_send(execution_id), 14) % 5], 'worker',
  '{"kind":"count","n":2,"distinct":"signals","waitpoints":["answer"]}'
from flowfabric.ff_exec_core
where lifecycle_phase = 'suspended'`,
  `
insert into flowfabric.ff_waitpoint_pending (waitpoint_id, execution_id, suspension_id, created_at_ms, activated_at_ms,
  partition_key, state, waitpoint_key, token_kid)
select gen_random_uuid(), execution_id, suspension_id, suspended_at_ms, suspended_at_ms, partition_key, 'active',
  'answer', 'bench'
from flowfabric.ff_suspension_current`,
  `
insert into flowfabric.ff_signal (execution_id, signal_id, waitpoint_id, suspension_id, accepted_at_ms, generation, effect,
  waitpoint_key, signal_name, signal_category, source_type, source_identity)
select execution_id, gen_random_uuid(), waitpoint_id, suspension_id, created_at_ms, 0, 'appended_to_waitpoint',
  waitpoint_key, 'yes', 'external', 'token', 'bench'
from flowfabric.ff_waitpoint_pending`,
]
