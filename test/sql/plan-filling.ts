// The database on which the plan guard runs every statement: executions in every state, with half of all timers due,
// flows, long lives, grants and keys. Written by SQL alone.
import pg from 'pg'
import { fill } from '../../bench/src/pages/load.ts'
import { supervisorRow } from '../../src/engine/duties/poll-duties.ts'
import { attached } from '../../src/model/attached.ts'
import { polledDuties, sampleSize } from './plan-sample.ts'

export async function fillForPlans(url: string, rows: number): Promise<void> {
  await fill(url, { ...filling, rows })
  const client = new pg.Client(url)
  await client.connect()
  for (const text of [...timers, ...flows, ...lives, ...rights]) await client.query(text)
  await client.end()
}

const filling = {
  schema: 'flowfabric',
  rareRows: 100,
  states: ['waiting', 'delayed', 'active', 'suspended', 'completed', 'failed', 'cancelled'],
  rareStates: ['resumable', 'waiting_children', 'rate_limited', 'expired', 'skipped'],
}

// Half of all timers are due. Every duty has run and may run again.
const timers = [
  `insert into flowfabric.ff_duty (duty, last_run_at_ms, last_report)
    select unnest(array['${[supervisorRow, ...polledDuties].join("', '")}']), 0, '{}'`,
  `update flowfabric.ff_lease set worker_instance_id = 'worker-' || get_byte(uuid_send(execution_id), 14),
      expires_at_ms = expires_at_ms - case when get_byte(uuid_send(execution_id), 15) < 128 then 172800000 else 0 end`,
  `update flowfabric.ff_exec_core set delay_until_ms = flowfabric.ff_now_ms() - 60000
    where delay_until_ms is not null and get_byte(uuid_send(execution_id), 15) < 128`,
  `update flowfabric.ff_exec_core
    set attempt_deadline_at_ms = flowfabric.ff_now_ms() - 60000, cancel_deadline_at_ms = flowfabric.ff_now_ms() - 60000
    where lifecycle_phase = 'active' and get_byte(uuid_send(execution_id), 15) < 128`,
  `update flowfabric.ff_exec_core set deadline_at_ms = flowfabric.ff_now_ms() - 60000
    where lifecycle_phase = 'suspended' and get_byte(uuid_send(execution_id), 15) < 128`,
  `update flowfabric.ff_suspension_current set timeout_at_ms = flowfabric.ff_now_ms() - 60000
    where get_byte(uuid_send(execution_id), 15) < 128`,
  `update flowfabric.ff_suspension_current set wake_at_ms = flowfabric.ff_now_ms() - 60000
    where get_byte(uuid_send(execution_id), 15) between 64 and 192`,
  `insert into flowfabric.ff_waitpoint_pending (waitpoint_id, execution_id, created_at_ms, expires_at_ms, partition_key,
      state, waitpoint_key, token_kid)
    select gen_random_uuid(), execution_id, created_at_ms,
      flowfabric.ff_now_ms() + case when get_byte(uuid_send(execution_id), 15) < 128 then -60000 else 60000 end,
      partition_key, 'pending', 'early', 'bench'
    from flowfabric.ff_exec_core where lifecycle_phase = 'active'`,
  `insert into flowfabric.ff_schedule (schedule_id, created_at_ms, changed_at_ms, next_fire_at_ms, planned_at_ms, every_ms,
      anchor_at_ms, jitter_ms, catch_up_limit, overlap, catch_up, partition_key, namespace, schedule_name, request_hash,
      queue_id, priority, last_execution_id, tags, given)
    select execution_id, 0, 0, planned_at_ms, planned_at_ms, 60000, 0, 0, 100,
      case when get_byte(uuid_send(execution_id), 14) < 128 then 'skip' else 'cancelPrevious' end::flowfabric.ff_schedule_overlap,
      'last', partition_key, namespace, execution_id::text, '', queue_id, 0, execution_id,
      '{"team": "team-1"}', '{}'
    from flowfabric.ff_exec_core
    cross join lateral (select flowfabric.ff_now_ms()
      + case when get_byte(uuid_send(execution_id), 15) < 128 then -60000 else 60000 end as planned_at_ms) t
    where lifecycle_phase = 'active'`,
  `insert into flowfabric.ff_step (execution_id, generation, step_name, step_index, step_no, place, kind, state, try_count,
      attempt_index, lease_epoch, recorded_at_ms, total_bytes, total_count)
    select execution_id, generation, 'x', no, no, no, 'step', 'succeeded', 1, 0, 1, created_at_ms, 0, no
    from flowfabric.ff_exec_core cross join generate_series(1, 3) as no`,
  `insert into flowfabric.ff_dispatch (execution_id, generation, parent_id, created_at_ms, outcome, has_children)
    select execution_id, generation, parent_id, created_at_ms, 'success', parent_id is null
    from flowfabric.ff_exec_core
    where get_byte(uuid_send(execution_id), 15) < 8 and (parent_id is not null or lifecycle_phase = 'terminal')`,
]

// A quarter of all executions are members of flows of ten, each after the one before it. Of the ended ones, one in two is
// still to be resolved; of the live ones, one in eight is to be cancelled.
const flows = [
  `create temporary table planned as
    select execution_id, namespace, partition_key, created_at_ms, terminal_outcome, started_at_ms,
      (row_number() over flow - 1) % 10 as place,
      lag(execution_id) over flow as upstream_id,
      md5(concat_ws(' ', namespace, partition_key, (row_number() over flow - 1) / 10))::uuid as flow_id,
      get_byte(uuid_send(execution_id), 15) as chance
    from flowfabric.ff_exec_core
    where get_byte(uuid_send(execution_id), 14) < 64
    window flow as (partition by namespace, partition_key order by created_at_ms, execution_id)`,
  `update flowfabric.ff_exec_core e set flow_id = p.flow_id, attached = e.attached | 16
    from planned p where p.execution_id = e.execution_id`,
  `insert into flowfabric.ff_flow_core (flow_id, root_flow_id, created_at_ms, last_mutation_at_ms, closed_at_ms,
      ended_at_ms, outcome, member_count, edge_count, partition_key, namespace, flow_kind, creator_identity)
    select flow_id, flow_id, min(created_at_ms), min(created_at_ms), min(created_at_ms),
      case when min(chance) < 16 then flowfabric.ff_now_ms() end,
      (case when min(chance) < 16 then 'success' else 'none' end)::flowfabric.ff_terminal_outcome,
      count(*), count(*) - 1, partition_key, namespace, 'plan', 'bench'
    from planned group by flow_id, partition_key, namespace`,
  `insert into flowfabric.ff_flow_tag (flow_id, created_at_ms, namespace, tag_key, tag_value)
    select flow_id, created_at_ms, namespace, 'team', 'team-1' from flowfabric.ff_flow_core`,
  `insert into flowfabric.ff_flow_member (flow_id, execution_id, member_name)
    select flow_id, execution_id, 'member-' || place from planned`,
  `insert into flowfabric.ff_edge (flow_id, edge_id, upstream_id, downstream_id, created_at_ms, kind, created_by)
    select flow_id, gen_random_uuid(), upstream_id, execution_id, created_at_ms, 'success_only', 'bench'
    from planned where place > 0`,
  `insert into flowfabric.ff_edge_group (downstream_id, flow_id, total, policy, on_satisfied, is_sealed)
    select execution_id, flow_id, 1, 'all_of', 'let_run', true from planned where place > 0`,
  `insert into flowfabric.ff_dispatch (execution_id, generation, flow_id, created_at_ms, outcome)
    select execution_id, 0, flow_id, created_at_ms, terminal_outcome
    from planned where terminal_outcome <> 'none' and chance >= 128`,
  `insert into flowfabric.ff_cancel_backlog (execution_id, generation, flow_id, created_at_ms, reason, actor)
    select execution_id, 0, flow_id, created_at_ms, 'flow_cancelled', 'bench'
    from planned where terminal_outcome = 'none' and chance < 32`,
  `insert into flowfabric.ff_event (occurred_at_ms, flow_id, event_type, partition_key, namespace, actor)
    select created_at_ms, flow_id, 'flow_created', partition_key, namespace, 'bench' from flowfabric.ff_flow_core`,
  'drop table planned',
]

// The executions that statements are tried on have waited two thousand times before: each time for a signal by name, and for one
// through a waitpoint.
const lives = [
  `create temporary table lived as
    select execution_id, partition_key, generation, no, gen_random_uuid() as waitpoint_id, gen_random_uuid() as suspension_id
    from (
      select *, row_number() over (partition by lifecycle_phase order by execution_id) as place
      from flowfabric.ff_exec_core
      where lifecycle_phase in ('active', 'suspended')
    ) e
    cross join generate_series(1, 2000) as no
    where place <= ${sampleSize}`,
  `insert into flowfabric.ff_waitpoint_pending (waitpoint_id, execution_id, suspension_id, created_at_ms, activated_at_ms,
      closed_at_ms, partition_key, state, waitpoint_key, token_kid, close_reason)
    select waitpoint_id, execution_id, suspension_id, 0, 0, 0, partition_key, 'closed', 'early', 'bench', 'resumed'
    from lived`,
  `insert into flowfabric.ff_signal (execution_id, signal_id, waitpoint_id, suspension_id, accepted_at_ms, taken_at_ms,
      generation, effect, signal_name, signal_category, source_type, source_identity)
    select execution_id, gen_random_uuid(), case when way = 'token' then waitpoint_id end, suspension_id, 0, 0,
      generation, 'resume_condition_satisfied', 'x', 'x', 'token', 'x'
    from lived
    cross join (values ('token'), ('name')) as w (way)`,
  // A running execution has received both signals of its last wait.
  `insert into flowfabric.ff_suspension_current (execution_id, suspension_id, suspended_at_ms, closed_at_ms, close_reason,
      lease_epoch, lease_id, generation, attempt_index, partition_key, reason_code, timeout_behavior, requested_by, condition,
      signal_nos)
    select e.execution_id, l.suspension_id, 0, 0, 'resumed', 1, e.lease_id, e.generation, 0, e.partition_key,
      'waiting_for_signal', 'fail', 'bench', '{"kind":"operator"}',
      array(select g.signal_no from flowfabric.ff_signal g
        where g.execution_id = e.execution_id order by g.signal_no desc limit 2)
    from lived l
    join flowfabric.ff_exec_core e using (execution_id)
    where l.no = 2000 and e.lifecycle_phase = 'active'`,
  'drop table lived',
]

// Half of the ready executions were granted, half of these for good; every second execution was created under a key.
const rights = [
  `insert into flowfabric.ff_grant (execution_id, grant_id, granted_at_ms, expires_at_ms, worker_id, worker_instance_id)
    select execution_id, gen_random_uuid(), rank,
      flowfabric.ff_now_ms() + case when get_byte(uuid_send(execution_id), 15) < 64 then -60000 else 86400000 end,
      'worker', 'worker-' || get_byte(uuid_send(execution_id), 14)
    from flowfabric.ff_ready where get_byte(uuid_send(execution_id), 15) < 128`,
  `update flowfabric.ff_exec_core e set attached = e.attached | ${attached.grant}
    from flowfabric.ff_grant g where g.execution_id = e.execution_id`,
  `insert into flowfabric.ff_idempotency_key (namespace, scope_id, idempotency_key, execution_id, expires_at_ms, request_hash)
    select namespace, '00000000-0000-0000-0000-000000000000', execution_id::text, execution_id,
      flowfabric.ff_now_ms() + case when get_byte(uuid_send(execution_id), 15) < 64 then -60000 else 86400000 end, ''
    from flowfabric.ff_exec_core where get_byte(uuid_send(execution_id), 15) < 128`,
  `insert into flowfabric.ff_set_aside (duty, subject_id, failure_count, retry_at_ms, error)
    select 'lease-expiry', execution_id, 1,
      flowfabric.ff_now_ms() + case when get_byte(uuid_send(execution_id), 15) < 64 then -60000 else 86400000 end, 'x'
    from flowfabric.ff_lease where get_byte(uuid_send(execution_id), 14) < 2`,
  `insert into flowfabric.ff_progress (execution_id, updated_at_ms, percent)
    select execution_id, acquired_at_ms, 50 from flowfabric.ff_lease`,
  `insert into flowfabric.ff_request (execution_id, request_id, answer, answered_at_ms)
    select execution_id, execution_id::text, '{}', acquired_at_ms from flowfabric.ff_lease`,
]
