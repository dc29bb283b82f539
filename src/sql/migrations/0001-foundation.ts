// The whole schema. Until the first release this file is rewritten freely; from then on it never changes.
//
// Three rules shape the tables.
// 1. Hot and cold apart. `ff_exec_core` is updated by every transition, so it is narrow and has no index on what a claim
//    or a renewal changes; what is written once (payload, policy) and the lists' indexes live in `ff_exec_input`.
// 2. One column for each timer, each with a partial index that holds only what is still to come.
// 3. Words are enums: four bytes, refused when unknown, and read as the wire strings. `public_state` is computed by the
//    database from the vector, and `ff_exec_core_vector` refuses a vector that the model does not know. Names that are
//    compared or sorted are in byte order ("C"), which is the same on every machine.
import type { Migration } from './migration.ts'

export const foundation: Migration = {
  version: 1,
  name: 'foundation',
  oldestCode: '0.1.0',
  transactional: true,
  text: `
-- The one clock. Stable, so that it is an index condition; it wraps clock_timestamp(), so it moves within a transaction.
create function flowfabric.ff_now_ms() returns bigint
  language sql stable parallel safe
  as $$ select floor(date_part('epoch', clock_timestamp()) * 1000)::bigint $$;

create type flowfabric.ff_lifecycle_phase as enum ('submitted', 'runnable', 'active', 'suspended', 'terminal');
create type flowfabric.ff_ownership_state as enum ('unowned', 'leased', 'lease_expired_reclaimable', 'lease_revoked');
create type flowfabric.ff_eligibility_state as enum (
  'eligible_now', 'not_eligible_until_time', 'blocked_by_dependencies', 'blocked_by_budget', 'blocked_by_quota',
  'blocked_by_route', 'blocked_by_lane_state', 'blocked_by_operator', 'not_applicable');
create type flowfabric.ff_attempt_state as enum (
  'none', 'pending_first_attempt', 'running_attempt', 'attempt_interrupted', 'pending_retry_attempt',
  'pending_replay_attempt', 'attempt_terminal');
create type flowfabric.ff_terminal_outcome as enum ('none', 'success', 'failed', 'cancelled', 'expired', 'skipped');
create type flowfabric.ff_interruption as enum (
  'none', 'lapsed', 'revoked', 'released', 'delayed', 'signalled', 'timed_out', 'children');
create type flowfabric.ff_public_state as enum (
  'waiting', 'delayed', 'rate_limited', 'waiting_children', 'active', 'suspended', 'resumable',
  'completed', 'failed', 'cancelled', 'expired', 'skipped');
create type flowfabric.ff_attempt_type as enum ('initial', 'retry', 'replay');
create type flowfabric.ff_on_parent_end as enum ('cancel', 'detach');
create type flowfabric.ff_lane_state as enum ('active', 'paused', 'draining', 'disabled');
create type flowfabric.ff_event_type as enum (
  'acquired', 'renewed', 'lapsed', 'revoked', 'released', 'delayed', 'retried', 'suspended', 'resumed', 'signalled',
  'ended', 'cancel_requested', 'priority_changed', 'replayed', 'escalated', 'key_rotated', 'token_read');
create type flowfabric.ff_suspension_reason as enum (
  'waiting_for_signal', 'waiting_for_approval', 'waiting_for_callback', 'waiting_for_tool_result',
  'waiting_for_operator_review', 'paused_by_policy', 'paused_by_budget', 'step_boundary', 'manual_pause');
create type flowfabric.ff_timeout_behavior as enum (
  'fail', 'cancel', 'expire', 'escalate', 'auto_resume_with_timeout_signal');
create type flowfabric.ff_waitpoint_state as enum ('pending', 'active', 'closed');
create type flowfabric.ff_signal_effect as enum (
  'appended_to_waitpoint', 'appended_to_waitpoint_duplicate', 'resume_condition_satisfied', 'buffered_for_pending_waitpoint',
  'kept_for_condition', 'signal_ignored_not_in_condition', 'signal_ignored_matcher_failed', 'no_op');
create type flowfabric.ff_lease_effect as enum ('acquired', 'renewed', 'expired', 'reclaimed', 'revoked');

create table flowfabric.ff_lane_registry (
  namespace text collate "C" not null,
  lane_id text collate "C" not null,
  lane_state flowfabric.ff_lane_state not null default 'active',
  registered_at_ms bigint not null,
  registered_by text not null,
  primary key (namespace, lane_id)
);

-- A queue is what a claim can tell apart. Interned, so that a ready row names it in four bytes. Ids are never reused.
-- No version is the empty string. The digest stands for the capabilities, which may be too long for an index entry.
create table flowfabric.ff_queue (
  queue_id integer generated always as identity primary key,
  namespace text collate "C" not null,
  lane_id text collate "C" not null,
  execution_kind text collate "C" not null,
  task_version text collate "C" not null,
  required_capabilities text[] not null,
  capability_digest uuid not null,
  created_at_ms bigint not null,
  constraint ff_queue_identity unique (namespace, lane_id, execution_kind, task_version, capability_digest)
);

create table flowfabric.ff_exec_core (
  execution_id uuid primary key,
  created_at_ms bigint not null,
  last_mutation_at_ms bigint not null,
  rank bigint not null,
  lease_epoch bigint not null default 0,
  started_at_ms bigint,
  terminal_at_ms bigint,
  delay_until_ms bigint,
  -- Since when it waits for something that no clock decides: a signal, a dependency, an admission, an operator.
  parked_at_ms bigint,
  deadline_at_ms bigint,
  attempt_deadline_at_ms bigint,
  cancel_requested_at_ms bigint,
  cancel_deadline_at_ms bigint,
  queue_id integer not null,
  attempt_index integer not null default 0,
  total_attempt_count integer not null default 0,
  retry_count integer not null default 0,
  replay_count integer not null default 0,
  lease_reclaim_count integer not null default 0,
  generation integer not null default 0,
  attached integer not null default 0,
  lifecycle_phase flowfabric.ff_lifecycle_phase not null,
  ownership_state flowfabric.ff_ownership_state not null,
  eligibility_state flowfabric.ff_eligibility_state not null,
  attempt_state flowfabric.ff_attempt_state not null,
  terminal_outcome flowfabric.ff_terminal_outcome not null default 'none',
  interruption flowfabric.ff_interruption not null default 'none',
  public_state flowfabric.ff_public_state not null generated always as (
    case lifecycle_phase
      when 'active'::flowfabric.ff_lifecycle_phase then 'active'::flowfabric.ff_public_state
      when 'terminal'::flowfabric.ff_lifecycle_phase then
        case terminal_outcome
          when 'success'::flowfabric.ff_terminal_outcome then 'completed'::flowfabric.ff_public_state
          when 'cancelled'::flowfabric.ff_terminal_outcome then 'cancelled'::flowfabric.ff_public_state
          when 'expired'::flowfabric.ff_terminal_outcome then 'expired'::flowfabric.ff_public_state
          when 'skipped'::flowfabric.ff_terminal_outcome then 'skipped'::flowfabric.ff_public_state
          else 'failed'::flowfabric.ff_public_state
        end
      when 'suspended'::flowfabric.ff_lifecycle_phase then 'suspended'::flowfabric.ff_public_state
      when 'runnable'::flowfabric.ff_lifecycle_phase then
        case
          when eligibility_state = 'not_eligible_until_time' then 'delayed'::flowfabric.ff_public_state
          when eligibility_state = 'blocked_by_dependencies' then 'waiting_children'::flowfabric.ff_public_state
          when eligibility_state in ('blocked_by_budget', 'blocked_by_quota')
            then 'rate_limited'::flowfabric.ff_public_state
          when eligibility_state = 'eligible_now' and interruption in ('signalled', 'timed_out', 'children')
            then 'resumable'::flowfabric.ff_public_state
          else 'waiting'::flowfabric.ff_public_state
        end
      else 'waiting'::flowfabric.ff_public_state
    end
  ) stored,
  -- The public state while parked, else null: a claim leaves it as it was, so it may be indexed. Written by whoever parks
  -- (computed, it would be one more expression that the database parses for every statement).
  parked_state flowfabric.ff_public_state,
  on_parent_end flowfabric.ff_on_parent_end,
  partition_key smallint not null,
  priority smallint not null,
  -- The holder's lease while leased, the last holder's afterwards.
  lease_id uuid,
  flow_id uuid,
  parent_id uuid,
  schedule_id uuid,
  namespace text collate "C" not null,
  task_version text,
  fair_key text,
  failure_reason text,
  cancellation_reason text,
  cancelled_by text,
  -- Short, because the database parses it anew for every statement that writes a row (measured: a tenth of a claim of one).
  constraint ff_exec_core_vector check (
    ownership_state = case lifecycle_phase
      when 'active' then 'leased'::flowfabric.ff_ownership_state
      else 'unowned'::flowfabric.ff_ownership_state
    end
    and (eligibility_state = 'not_applicable') = (lifecycle_phase <> 'runnable')
    and (terminal_outcome = 'none') = (lifecycle_phase <> 'terminal')
    and (interruption = 'none') = (lifecycle_phase <> 'runnable' or attempt_state <> 'attempt_interrupted')
    and attempt_state = any (case lifecycle_phase
      when 'active' then '{running_attempt}'::flowfabric.ff_attempt_state[]
      when 'suspended' then '{attempt_interrupted}'::flowfabric.ff_attempt_state[]
      when 'runnable' then case
        when eligibility_state = 'blocked_by_dependencies'
          then '{pending_first_attempt, pending_replay_attempt}'::flowfabric.ff_attempt_state[]
        else '{pending_first_attempt, attempt_interrupted, pending_retry_attempt, pending_replay_attempt}'
      end
      when 'terminal' then case
        when terminal_outcome in ('cancelled', 'expired')
          then '{attempt_terminal, pending_first_attempt}'::flowfabric.ff_attempt_state[]
        when terminal_outcome = 'skipped' then '{attempt_terminal, none}'
        else '{attempt_terminal}'
      end
      else '{}'
    end)),
  -- A timer that is set can fire, and one that cannot fire is not set.
  constraint ff_exec_core_timers check (
    (terminal_at_ms is not null) = (lifecycle_phase = 'terminal')
    and (delay_until_ms is not null) = (eligibility_state = 'not_eligible_until_time')
    and (parked_at_ms is not null) = (lifecycle_phase = 'suspended' or eligibility_state not in (
      'eligible_now', 'not_eligible_until_time', 'not_applicable'))
    and parked_state is not distinct from case when parked_at_ms is not null then public_state end
    and (deadline_at_ms is null or lifecycle_phase <> 'terminal')
    and (attempt_deadline_at_ms is null or lifecycle_phase = 'active')
    and (cancel_deadline_at_ms is null or lifecycle_phase <> 'terminal')),
  constraint ff_exec_core_bounds check (
    partition_key between 0 and 255
    and priority between 0 and 9000
    and (ownership_state <> 'leased' or lease_id is not null)
    and (total_attempt_count = 0 or attempt_index < total_attempt_count)
    and last_mutation_at_ms >= created_at_ms)
) with (
  -- Room for one more version of every row in the page, because a claim in creation order takes whole pages at once. Of
  -- 20,000 claims in sets of 50, heap-only were (measured): 18,300 at 50, 11,000 at 70, 4,700 at 100; and after the drain
  -- the table was smaller at 50 than at 100.
  fillfactor = 50,
  -- Each execution leaves about two dead versions. A share of a table that keeps weeks of endings would come far too
  -- late, so the count decides; no delay, because the vacuum that dawdles here is the one that falls behind.
  autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_cost_delay = 0,
  autovacuum_analyze_scale_factor = 0.05, autovacuum_analyze_threshold = 2000
);
create index ff_exec_core_delay on flowfabric.ff_exec_core (delay_until_ms, execution_id)
  where delay_until_ms is not null;
create index ff_exec_core_delay_queue on flowfabric.ff_exec_core (queue_id, delay_until_ms, execution_id)
  where delay_until_ms is not null;
create index ff_exec_core_parked on flowfabric.ff_exec_core (queue_id, parked_state, parked_at_ms, execution_id)
  where parked_at_ms is not null;
create index ff_exec_core_deadline on flowfabric.ff_exec_core (deadline_at_ms, execution_id)
  where deadline_at_ms is not null;
create index ff_exec_core_attempt_deadline on flowfabric.ff_exec_core (attempt_deadline_at_ms, execution_id)
  where attempt_deadline_at_ms is not null;
create index ff_exec_core_cancel_deadline on flowfabric.ff_exec_core (cancel_deadline_at_ms, execution_id)
  where cancel_deadline_at_ms is not null;
create index ff_exec_core_ending on flowfabric.ff_exec_core (queue_id, terminal_outcome, terminal_at_ms, execution_id)
  where terminal_at_ms is not null;

-- Written once. Its key serves the list by partition, its other indexes the lists by creation, queue and parent.
create table flowfabric.ff_exec_input (
  partition_key smallint not null,
  execution_id uuid not null,
  created_at_ms bigint not null,
  -- A delay that outlasts what blocks it holds when that is gone.
  delay_until_ms bigint,
  -- As given: a fixed time, or a duration that a replay starts anew.
  deadline_at_ms bigint,
  deadline_after_ms bigint,
  queue_id integer not null,
  parent_id uuid,
  creator_identity text not null,
  idempotency_key text,
  payload bytea,
  payload_encoding text,
  policy jsonb,
  primary key (partition_key, execution_id)
);
create index ff_exec_input_created on flowfabric.ff_exec_input (created_at_ms, execution_id);
create index ff_exec_input_queue on flowfabric.ff_exec_input (queue_id, created_at_ms, execution_id);
create index ff_exec_input_parent on flowfabric.ff_exec_input (parent_id, created_at_ms, execution_id)
  where parent_id is not null;

create table flowfabric.ff_exec_result (
  execution_id uuid not null,
  generation integer not null,
  attempt_index integer not null,
  created_at_ms bigint not null,
  result bytea,
  result_encoding text,
  primary key (execution_id, generation)
);

-- Rows, so that a page by tag is an index range.
create table flowfabric.ff_exec_tag (
  execution_id uuid not null,
  created_at_ms bigint not null,
  namespace text collate "C" not null,
  tag_key text collate "C" not null,
  tag_value text collate "C" not null,
  primary key (execution_id, tag_key)
);
create index ff_exec_tag_value on flowfabric.ff_exec_tag (tag_key, tag_value, namespace, created_at_ms, execution_id);

-- Holds exactly the executions that are runnable and eligible now, in claim order. The priority is negated, so that the
-- whole key ascends and a claim or a page can start after any row.
create table flowfabric.ff_ready (
  queue_id integer not null,
  neg_priority smallint not null,
  -- It waited for something and goes on; few are, so they have an index of their own.
  resumed boolean not null default false,
  rank bigint not null,
  execution_id uuid not null,
  primary key (queue_id, neg_priority, rank, execution_id)
) with (
  -- Every row is deleted soon after it came; the dead ones stand at the head of the index, before the next claim.
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0
);

create index ff_ready_resumed on flowfabric.ff_ready (queue_id, neg_priority, rank, execution_id)
  where resumed;

-- Exists while leased; a renewal touches this row alone.
create table flowfabric.ff_lease (
  execution_id uuid primary key,
  lease_id uuid not null,
  lease_epoch bigint not null,
  acquired_at_ms bigint not null,
  expires_at_ms bigint not null,
  renewed_at_ms bigint,
  attempt_started_at_ms bigint not null,
  attempt_index integer not null,
  attempt_type flowfabric.ff_attempt_type not null,
  -- The attempt was interrupted before, and has its record.
  is_continued boolean not null default false,
  worker_id text not null,
  worker_instance_id text collate "C" not null
) with (
  -- Rewritten by every renewal, and small: space is cheap, a full page is not.
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0
);
create index ff_lease_expiry on flowfabric.ff_lease (expires_at_ms, execution_id);
create index ff_lease_instance on flowfabric.ff_lease (worker_instance_id, execution_id);

-- Written when an attempt ends or is interrupted; while it first runs, the lease has what is known of it.
create table flowfabric.ff_attempt (
  execution_id uuid not null,
  attempt_index integer not null,
  generation integer not null,
  attempt_type flowfabric.ff_attempt_type not null,
  lease_id uuid,
  lease_epoch bigint not null,
  started_at_ms bigint not null,
  ended_at_ms bigint,
  outcome text not null,
  worker_id text,
  worker_instance_id text,
  failure_reason text,
  failure_category text,
  error bytea,
  error_encoding text,
  -- When the next attempt, or this one, could be claimed again; its holder's repeated call is answered from it.
  next_at_ms bigint,
  lineage jsonb,
  primary key (execution_id, attempt_index)
);

create table flowfabric.ff_progress (
  execution_id uuid primary key,
  updated_at_ms bigint not null,
  percent smallint,
  message text
) with (fillfactor = 50);

-- The right of one worker instance to claim one execution, once. It moves nothing: the ready row stays.
create table flowfabric.ff_grant (
  execution_id uuid primary key,
  grant_id uuid not null,
  granted_at_ms bigint not null,
  expires_at_ms bigint not null,
  worker_id text not null,
  worker_instance_id text not null
);
create index ff_grant_expiry on flowfabric.ff_grant (expires_at_ms);

-- What a suspended execution waits for; after it has closed, how that ended, until the next suspension takes its place.
create table flowfabric.ff_suspension_current (
  execution_id uuid primary key,
  suspension_id uuid not null,
  suspended_at_ms bigint not null,
  closed_at_ms bigint,
  -- When the timeout fires; null when there is none, after it has fired, and when closed.
  timeout_at_ms bigint,
  -- The earliest point in time that the condition names; null when closed.
  wake_at_ms bigint,
  -- From an escalation on it waits for people; the second deadline counts from there.
  escalated_at_ms bigint,
  second_timeout_ms bigint,
  resume_delay_ms bigint,
  -- Who suspended it: a repeat by this holder is answered from here.
  lease_epoch bigint not null,
  lease_id uuid not null,
  generation integer not null,
  attempt_index integer not null,
  partition_key smallint not null,
  reason_code flowfabric.ff_suspension_reason not null,
  timeout_behavior flowfabric.ff_timeout_behavior not null,
  second_behavior flowfabric.ff_timeout_behavior,
  requested_by text not null,
  close_reason text,
  idempotency_key text,
  condition jsonb not null,
  -- Which leaf won, which signals did it, and the verdict beside a timeout.
  outcome jsonb,
  constraint ff_suspension_current_closed check (
    (closed_at_ms is null) = (close_reason is null)
    and (closed_at_ms is null or timeout_at_ms is null and wake_at_ms is null))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 2000);
create index ff_suspension_current_timeout on flowfabric.ff_suspension_current (timeout_at_ms, execution_id)
  where timeout_at_ms is not null;
create index ff_suspension_current_wake on flowfabric.ff_suspension_current (wake_at_ms, execution_id)
  where wake_at_ms is not null;

-- Where signals from outside come in. Pending until a suspension uses it, closed with it. The token is not stored: it is
-- computed from these columns and the signing key.
create table flowfabric.ff_waitpoint_pending (
  waitpoint_id uuid primary key,
  execution_id uuid not null,
  suspension_id uuid,
  created_at_ms bigint not null,
  activated_at_ms bigint,
  -- Of a pending one; null once active or closed.
  expires_at_ms bigint,
  closed_at_ms bigint,
  partition_key smallint not null,
  state flowfabric.ff_waitpoint_state not null,
  waitpoint_key text collate "C" not null,
  token_kid text collate "C" not null,
  close_reason text,
  required_signal_names text[] not null default '{}',
  constraint ff_waitpoint_pending_state check (
    (state = 'closed') = (closed_at_ms is not null) and (state = 'closed') = (close_reason is not null)
    and (state = 'pending' or expires_at_ms is null)
    and (state <> 'pending' or suspension_id is null)
    and (state <> 'active' or suspension_id is not null and activated_at_ms is not null))
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 2000);
create index ff_waitpoint_pending_execution on flowfabric.ff_waitpoint_pending (execution_id, waitpoint_id);
create index ff_waitpoint_pending_expiry on flowfabric.ff_waitpoint_pending (expires_at_ms, waitpoint_id)
  where expires_at_ms is not null;

-- Everything that was sent to an execution, in the order in which it was accepted. Without a waitpoint it came by name and
-- waits, untaken, for a condition that names it.
create sequence flowfabric.ff_signal_no as bigint;
create table flowfabric.ff_signal (
  execution_id uuid not null,
  signal_no bigint not null default nextval('flowfabric.ff_signal_no'),
  signal_id uuid not null,
  waitpoint_id uuid,
  -- The suspension to which it counted.
  suspension_id uuid,
  accepted_at_ms bigint not null,
  -- When a satisfied condition took it.
  taken_at_ms bigint,
  generation integer not null,
  effect flowfabric.ff_signal_effect not null,
  waitpoint_key text collate "C",
  signal_name text collate "C" not null,
  signal_category text not null,
  source_type text not null,
  source_identity text not null,
  correlation_id text,
  idempotency_key text collate "C",
  payload bytea,
  payload_encoding text,
  primary key (execution_id, signal_no)
) with (fillfactor = 90);
-- By name they share the nil waitpoint.
create unique index ff_signal_idempotency on flowfabric.ff_signal (execution_id, idempotency_key,
  coalesce(waitpoint_id, '00000000-0000-0000-0000-000000000000'::uuid)) where idempotency_key is not null;

-- Signing keys of waitpoint tokens: of a namespace, or of all where that is empty. One is active; older ones verify until
-- their grace is over. Then the secret is wiped and the row stays, so that no id ever names two keys.
create table flowfabric.ff_waitpoint_hmac (
  namespace text collate "C" not null,
  kid text collate "C" not null,
  created_at_ms bigint not null,
  expires_at_ms bigint,
  is_active boolean not null,
  is_wrapped boolean not null,
  secret bytea,
  primary key (namespace, kid),
  constraint ff_waitpoint_hmac_grace check (is_active = (expires_at_ms is null)),
  constraint ff_waitpoint_hmac_secret check (secret is not null or not is_active)
);
create index ff_waitpoint_hmac_kid on flowfabric.ff_waitpoint_hmac (kid);
create unique index ff_waitpoint_hmac_active on flowfabric.ff_waitpoint_hmac (namespace) where is_active;
create index ff_waitpoint_hmac_expiry on flowfabric.ff_waitpoint_hmac (expires_at_ms)
  where expires_at_ms is not null and secret is not null;

-- A key holds within its scope: the namespace, or the flow or parent that the scope names (else the nil uuid).
create table flowfabric.ff_idempotency_key (
  namespace text collate "C" not null,
  scope_id uuid not null,
  idempotency_key text collate "C" not null,
  execution_id uuid not null,
  expires_at_ms bigint not null,
  request_hash bytea not null,
  primary key (namespace, scope_id, idempotency_key)
);
create index ff_idempotency_key_expiry on flowfabric.ff_idempotency_key (expires_at_ms);

-- What an ending owes others: written with the ending, deleted by the resolver.
create table flowfabric.ff_dispatch (
  execution_id uuid not null,
  generation integer not null,
  flow_id uuid,
  parent_id uuid,
  created_at_ms bigint not null,
  outcome flowfabric.ff_terminal_outcome not null,
  primary key (execution_id, generation)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

create table flowfabric.ff_duty (
  duty text not null,
  filter text not null default '',
  next_at_ms bigint not null default 0,
  taken_until_ms bigint,
  taken_by text,
  last_report jsonb,
  primary key (duty, filter)
) with (fillfactor = 50);

create table flowfabric.ff_set_aside (
  duty text not null,
  subject_id uuid not null,
  failure_count integer not null,
  retry_at_ms bigint not null,
  error text not null,
  primary key (duty, subject_id)
);

-- The log: one row for each transition, written in its transaction. Range-partitioned by id, so that the past is dropped
-- and not deleted. The sequence hands out one id at a time: a cache would let two sessions invert the order in which one
-- execution's events happened.
create sequence flowfabric.ff_event_id as bigint cache 1;
create table flowfabric.ff_event (
  event_id bigint not null default nextval('flowfabric.ff_event_id'),
  occurred_at_ms bigint not null,
  lease_epoch bigint,
  execution_id uuid,
  flow_id uuid,
  lease_id uuid,
  attempt_index integer,
  generation integer,
  event_type flowfabric.ff_event_type not null,
  lease_effect flowfabric.ff_lease_effect,
  outcome flowfabric.ff_terminal_outcome,
  partition_key smallint not null,
  namespace text collate "C" not null,
  actor text not null,
  worker_instance_id text,
  reason text,
  details jsonb,
  primary key (event_id)
) partition by range (event_id);
create index ff_event_execution on flowfabric.ff_event (execution_id, event_id);
create table flowfabric.ff_event_1 partition of flowfabric.ff_event for values from (minvalue) to (10000001);

-- The outboxes that other FlowFabric implementations keep as tables.
create view flowfabric.ff_lease_event as
  select event_id, partition_key, execution_id, attempt_index, lease_id, lease_epoch, worker_instance_id,
    lease_effect as event_type, coalesce(reason, case when event_type = 'ended' then outcome::text end) as reason,
    namespace, actor, occurred_at_ms
  from flowfabric.ff_event
  where lease_effect is not null;
create view flowfabric.ff_completion_event as
  select event_id, partition_key, execution_id, flow_id, generation, outcome, reason, namespace, actor, occurred_at_ms
  from flowfabric.ff_event
  where event_type = 'ended';
create view flowfabric.ff_signal_event as
  select event_id, partition_key, execution_id, reason, details, namespace, actor, occurred_at_ms
  from flowfabric.ff_event
  where event_type = 'signalled';
`,
}
