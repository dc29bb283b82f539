-- The whole schema. Until the first release this file is rewritten freely; from then on it never changes.
--
-- After a change run npm run schema: the migrator loads the module 0001-foundation.ts, which is made from this file. To run it by hand:
--   psql -c 'create schema flowfabric' -f 0001-foundation.sql
-- For a schema of another name the migrator rewrites every "flowfabric." in front of a name.
--
-- Three rules shape the tables.
-- 1. Hot and cold data are apart. Every transition updates ff_exec_core, so that table is narrow and has no index on a column that a
--    claim or a renewal changes. Columns that are written once (payload, policy) and the indexes of the lists are in ff_exec_input.
-- 2. Each timer has one column with a partial index that holds only the timers still to come.
--    The indexes of orders and timers in tables that empty, and of the order of steps, have a predicate that every row satisfies
--    (where expires_at_ms > 0). A statement that reads in such an order states the predicate; no other statement can be planned
--    through the index. Without it, every index of a table in which a vacuum has found hardly a row looks as cheap as its key, and a
--    lookup reads all leases for each item until the next vacuum (measured: a completion took 47 times as long).
-- 3. Words are enums: four bytes, refused when unknown, and read as the wire strings. The database computes public_state from the
--    state vector (ff_exec_core_state) and refuses a row whose vector is not legal. Names that are compared or sorted are in byte
--    order ("C"), which is the same on every machine.
--
-- Words and bounds repeat those of src/model; test/engine/words.test.ts and test/engine/vector.test.ts compare them.

-- The one clock. Stable, so that it is an index condition; it wraps clock_timestamp(), so it moves within a transaction.
create function flowfabric.ff_now_ms() returns bigint
  language sql stable parallel safe
  as $$ select floor(date_part('epoch', clock_timestamp()) * 1000)::bigint $$;

create type flowfabric.ff_lifecycle_phase as enum ('runnable', 'active', 'suspended', 'terminal');
create type flowfabric.ff_ownership_state as enum ('unowned', 'leased');
create type flowfabric.ff_eligibility_state as enum (
  'eligible_now', 'not_eligible_until_time', 'blocked_by_dependencies', 'blocked_by_budget', 'blocked_by_quota',
  'blocked_by_operator', 'not_applicable');
create type flowfabric.ff_attempt_state as enum (
  'none', 'pending_first_attempt', 'running_attempt', 'attempt_interrupted', 'pending_retry_attempt',
  'pending_replay_attempt', 'attempt_terminal');
create type flowfabric.ff_terminal_outcome as enum ('none', 'success', 'failed', 'cancelled', 'expired', 'skipped');
create type flowfabric.ff_interruption as enum (
  'none', 'lapsed', 'revoked', 'released', 'delayed', 'signalled', 'timed_out', 'children',
  'cancelled');
create type flowfabric.ff_public_state as enum (
  'waiting', 'delayed', 'rate_limited', 'waiting_children', 'active', 'suspended', 'resumable',
  'completed', 'failed', 'cancelled', 'expired', 'skipped');
create type flowfabric.ff_attempt_type as enum ('initial', 'retry', 'replay');
create type flowfabric.ff_on_parent_end as enum ('cancel', 'detach');
create type flowfabric.ff_lane_state as enum ('active', 'paused', 'draining', 'disabled');
create type flowfabric.ff_event_type as enum (
  'acquired', 'renewed', 'lapsed', 'revoked', 'released', 'delayed', 'retried', 'suspended', 'resumed', 'signalled',
  'ended', 'cancel_requested', 'priority_changed', 'replayed', 'escalated', 'key_rotated', 'token_read', 'unblocked',
  'flow_created', 'flow_changed', 'flow_closed', 'flow_cancel_requested', 'flow_ended', 'flow_reopened',
  'worker_registered', 'worker_marked_dead', 'worker_ttl_swept',
  'schedule_put', 'schedule_paused', 'schedule_resumed', 'schedule_deleted', 'schedule_fired', 'schedule_skipped',
  'restarted', 'warned', 'api_key_created', 'api_key_revoked');
create type flowfabric.ff_suspension_reason as enum (
  'waiting_for_signal', 'waiting_for_approval', 'waiting_for_callback', 'waiting_for_tool_result',
  'waiting_for_operator_review', 'paused_by_policy', 'paused_by_budget', 'step_boundary', 'manual_pause');
create type flowfabric.ff_timeout_behavior as enum (
  'fail', 'cancel', 'expire', 'escalate', 'auto_resume_with_timeout_signal');
create type flowfabric.ff_waitpoint_state as enum ('pending', 'active', 'closed');
create type flowfabric.ff_signal_effect as enum (
  'resume_condition_satisfied', 'appended_to_waitpoint', 'appended_to_waitpoint_duplicate', 'signal_ignored_not_in_condition',
  'signal_ignored_matcher_failed', 'buffered_for_pending_waitpoint', 'kept_for_condition', 'no_op');
create type flowfabric.ff_source_type as enum ('token', 'link', 'operator', 'caller', 'system');
create type flowfabric.ff_edge_kind as enum ('success_only', 'optional', 'on_failure', 'start');
create type flowfabric.ff_edge_resolution as enum ('satisfied', 'failed', 'skipped');
create type flowfabric.ff_join_policy as enum ('all_of', 'any_of', 'quorum');
create type flowfabric.ff_on_satisfied as enum ('cancel_remaining', 'let_run');
create type flowfabric.ff_group_state as enum ('pending', 'satisfied', 'impossible');
create type flowfabric.ff_cancel_policy as enum ('cancel_all', 'cancel_pending', 'flow_only');
create type flowfabric.ff_schedule_overlap as enum ('skip', 'queue', 'cancelPrevious', 'allow');
create type flowfabric.ff_schedule_catch_up as enum ('none', 'last', 'all');
create type flowfabric.ff_step_kind as enum ('step', 'sleep', 'wait', 'child', 'value', 'compensation', 'hook');
create type flowfabric.ff_step_state as enum ('pending', 'succeeded', 'failed', 'timed_out');
create type flowfabric.ff_lease_effect as enum ('acquired', 'renewed', 'expired', 'reclaimed', 'revoked');

create function flowfabric.ff_refuse(rule text) returns flowfabric.ff_public_state
  language plpgsql
  as $$
begin
  raise check_violation using constraint = rule, message = format('a row of ff_exec_core breaks the rule %s', rule);
end
$$;

-- The rules of ff_exec_core: the public state of a row's six words; null for a vector that the model does not have, which
-- no row may be. A row is refused if its timers or bounds do not fit its words: a timer that is set can fire, and one that
-- cannot fire is not set.
--
-- One function, because the database reads a table's own expressions anew for every statement that writes a row, and a
-- function's body once a session (measured: a sixth less for a claim or ending of one, a fifth for a create; the calls cost
-- about three hundredths of a set of 500).
create function flowfabric.ff_exec_core_state(
  phase flowfabric.ff_lifecycle_phase,
  ownership flowfabric.ff_ownership_state,
  eligibility flowfabric.ff_eligibility_state,
  attempt flowfabric.ff_attempt_state,
  outcome flowfabric.ff_terminal_outcome,
  interruption flowfabric.ff_interruption,
  terminal_at_ms bigint,
  delay_until_ms bigint,
  parked_at_ms bigint,
  parked_state flowfabric.ff_public_state,
  deadline_at_ms bigint,
  attempt_deadline_at_ms bigint,
  cancel_deadline_at_ms bigint,
  created_at_ms bigint,
  last_mutation_at_ms bigint,
  attempt_index integer,
  attempt_count integer,
  partition_key smallint,
  priority smallint,
  lease_id uuid
) returns flowfabric.ff_public_state
  language plpgsql immutable parallel safe
  as $$
begin
  if partition_key not between 0 and 255
    or priority not between 0 and 9000
    or ownership = 'leased' and lease_id is null
    or attempt_count > 0 and attempt_index >= attempt_count
    or last_mutation_at_ms < created_at_ms
  then
    return flowfabric.ff_refuse('ff_exec_core_bounds');
  end if;

  if phase = 'active' then
    return case when ownership = 'leased' and eligibility = 'not_applicable' and attempt = 'running_attempt'
      and outcome = 'none' and interruption = 'none'
    then
      case when terminal_at_ms is null and delay_until_ms is null and parked_at_ms is null and parked_state is null
        then 'active'::flowfabric.ff_public_state
        else flowfabric.ff_refuse('ff_exec_core_timers')
      end
    end;
  end if;

  if phase = 'terminal' then
    return case when ownership = 'unowned' and eligibility = 'not_applicable' and outcome <> 'none' and interruption = 'none'
      and (attempt = 'attempt_terminal'
        or attempt = 'pending_first_attempt' and outcome in ('cancelled', 'expired')
        -- Skipped before it ran, or a member that represents a flow: it ends with the flow and never runs.
        or attempt = 'none' and outcome in ('success', 'failed', 'skipped'))
    then
      case when terminal_at_ms is not null and delay_until_ms is null and parked_at_ms is null and parked_state is null
        and deadline_at_ms is null and attempt_deadline_at_ms is null and cancel_deadline_at_ms is null
        then case outcome
          when 'success' then 'completed'::flowfabric.ff_public_state
          when 'cancelled' then 'cancelled'::flowfabric.ff_public_state
          when 'expired' then 'expired'::flowfabric.ff_public_state
          when 'skipped' then 'skipped'::flowfabric.ff_public_state
          else 'failed'::flowfabric.ff_public_state
        end
        else flowfabric.ff_refuse('ff_exec_core_timers')
      end
    end;
  end if;

  if ownership <> 'unowned' or outcome <> 'none' then
    return null;
  end if;

  if phase = 'runnable' then
    return case when eligibility <> 'not_applicable' and (interruption = 'none') = (attempt <> 'attempt_interrupted')
      and (attempt in ('pending_first_attempt', 'pending_replay_attempt')
        or attempt in ('attempt_interrupted', 'pending_retry_attempt') and eligibility <> 'blocked_by_dependencies')
      and (eligibility <> 'not_eligible_until_time' or interruption not in ('revoked', 'released', 'cancelled'))
    then
      case when terminal_at_ms is null and attempt_deadline_at_ms is null
        and (delay_until_ms is not null) = (eligibility = 'not_eligible_until_time')
        and (parked_at_ms is not null) = (eligibility not in ('eligible_now', 'not_eligible_until_time'))
        and parked_state is not distinct from case
          when eligibility in ('eligible_now', 'not_eligible_until_time') then null
          when eligibility = 'blocked_by_dependencies' then 'waiting_children'::flowfabric.ff_public_state
          when eligibility in ('blocked_by_budget', 'blocked_by_quota') then 'rate_limited'::flowfabric.ff_public_state
          else 'waiting'::flowfabric.ff_public_state
        end
        then case
          when parked_state is not null then parked_state
          when eligibility = 'not_eligible_until_time' then 'delayed'::flowfabric.ff_public_state
          when interruption in ('signalled', 'timed_out', 'children') then 'resumable'::flowfabric.ff_public_state
          else 'waiting'::flowfabric.ff_public_state
        end
        else flowfabric.ff_refuse('ff_exec_core_timers')
      end
    end;
  end if;

  return case when phase = 'suspended' and eligibility = 'not_applicable' and attempt = 'attempt_interrupted'
    and interruption = 'none'
  then
    case when terminal_at_ms is null and delay_until_ms is null and parked_at_ms is not null and parked_state = 'suspended'
      and attempt_deadline_at_ms is null
      then 'suspended'::flowfabric.ff_public_state
      else flowfabric.ff_refuse('ff_exec_core_timers')
    end
  end;
end
$$;

create table flowfabric.ff_lane_registry (
  namespace text collate "C" not null,
  lane_id text collate "C" not null,
  lane_state flowfabric.ff_lane_state not null default 'active',
  registered_at_ms bigint not null,
  registered_by text not null,
  primary key (namespace, lane_id)
);

-- A queue has everything by which a claim selects. Interned, so that a ready row names it in four bytes. Ids are never
-- reused. A task without a version has the empty string. The digest replaces the capabilities, which may be too long for
-- an index entry.
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
  -- How it ends once it has cleaned up; null: cancelled.
  stop_outcome flowfabric.ff_terminal_outcome,
  queue_id integer not null,
  attempt_index integer not null default 0,
  total_attempt_count integer not null default 0,
  retry_count integer not null default 0,
  replay_count integer not null default 0,
  lease_reclaim_count integer not null default 0,
  -- Leases of started runs that expired in a row without progress; the others count in lease_reclaim_count alone.
  consecutive_expiry_count integer not null default 0,
  generation integer not null default 0,
  attached integer not null default 0,
  lifecycle_phase flowfabric.ff_lifecycle_phase not null,
  ownership_state flowfabric.ff_ownership_state not null,
  eligibility_state flowfabric.ff_eligibility_state not null,
  attempt_state flowfabric.ff_attempt_state not null,
  terminal_outcome flowfabric.ff_terminal_outcome not null default 'none',
  interruption flowfabric.ff_interruption not null default 'none',
  public_state flowfabric.ff_public_state generated always as (flowfabric.ff_exec_core_state(
    lifecycle_phase, ownership_state, eligibility_state, attempt_state, terminal_outcome, interruption,
    terminal_at_ms, delay_until_ms, parked_at_ms, parked_state, deadline_at_ms, attempt_deadline_at_ms, cancel_deadline_at_ms,
    created_at_ms, last_mutation_at_ms, attempt_index, total_attempt_count, partition_key, priority, lease_id)) stored,
  -- The public state while parked, else null: a claim does not change it, so it may be indexed. Written by the statement
  -- that parks (computed, it would be one more expression that the database parses for every statement).
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
  failure_reason text,
  cancellation_reason text,
  cancelled_by text,
  constraint ff_exec_core_vector check (public_state is not null)
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
  -- How many ancestors it has; null without a parent.
  child_depth smallint,
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
  -- It waited for something and resumes; few rows do, so they have an index of their own.
  resumed boolean not null default false,
  rank bigint not null,
  execution_id uuid not null,
  primary key (queue_id, neg_priority, rank, execution_id)
) with (
  -- Every row is deleted soon after its insert; the dead rows are at the start of the index, where the next claim reads.
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
  -- Its handler has started; one that was only claimed ahead has not.
  is_started boolean not null default true,
  worker_id text not null,
  worker_instance_id text collate "C" not null
) with (
  -- Rewritten by every renewal, and small: space is cheap, a full page is not.
  fillfactor = 50,
  autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0
);
create index ff_lease_expiry on flowfabric.ff_lease (expires_at_ms, execution_id) where expires_at_ms > 0;
create index ff_lease_instance on flowfabric.ff_lease (worker_instance_id);

-- Written when an attempt ends or is interrupted; during its first run, the lease row has its data.
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
  primary key (execution_id, attempt_index)
);

create table flowfabric.ff_progress (
  execution_id uuid primary key,
  updated_at_ms bigint not null,
  percent smallint,
  message text
) with (fillfactor = 50);

-- What operators' calls have answered, so that one whose reply was lost can be sent again.
create table flowfabric.ff_request (
  execution_id uuid not null,
  request_id text collate "C" not null,
  answer jsonb not null,
  answered_at_ms bigint not null,
  primary key (execution_id, request_id)
);

-- The right of one worker instance to claim one execution, once. It moves nothing: the ready row stays.
create table flowfabric.ff_grant (
  execution_id uuid primary key,
  grant_id uuid not null,
  granted_at_ms bigint not null,
  expires_at_ms bigint not null,
  worker_id text not null,
  worker_instance_id text not null
);
create index ff_grant_expiry on flowfabric.ff_grant (expires_at_ms) where expires_at_ms > 0;

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
  -- Its waitpoints that were not answered outlive it.
  keeps_waitpoints boolean not null default false,
  requested_by text not null,
  close_reason text,
  idempotency_key text,
  condition jsonb not null,
  -- The evaluation of the condition: which leaf won, by which signals; also at a timeout.
  outcome jsonb,
  -- The numbers of the signals that it took; the run that resumes reads the signals by them. Null while it is open.
  signal_nos bigint[],
  constraint ff_suspension_current_closed check (
    (closed_at_ms is null) = (close_reason is null)
    and (closed_at_ms is null or timeout_at_ms is null and wake_at_ms is null))
) with (
  -- Room for the closed version of every row in the page: a set of signals closes whole pages at once. Of 10,000 that were
  -- closed in sets of 500, heap-only were (measured): all at 28, 9,300 at 33, 6,300 at 40; a set of signals takes a fifth
  -- less of the database when all are.
  fillfactor = 30, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 2000);
create index ff_suspension_current_timeout on flowfabric.ff_suspension_current (timeout_at_ms, execution_id)
  where timeout_at_ms is not null;
create index ff_suspension_current_wake on flowfabric.ff_suspension_current (wake_at_ms, execution_id)
  where wake_at_ms is not null;

-- The addresses of signals from outside. A waitpoint is pending until a suspension uses it. It closes with the suspension,
-- or is pending again if the suspension keeps it for the next. The token is not stored: it is computed from these columns
-- and the signing key.
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
  -- Not by the suspension that first used it.
  is_made_ahead boolean not null default false,
  waitpoint_key text collate "C" not null,
  token_kid text collate "C" not null,
  close_reason text,
  required_signal_names text[] not null default '{}',
  constraint ff_waitpoint_pending_state check (
    (state = 'closed') = (closed_at_ms is not null) and (state = 'closed') = (close_reason is not null)
    and (state = 'pending' or expires_at_ms is null)
    and (state <> 'pending' or suspension_id is null)
    and (state <> 'active' or suspension_id is not null and activated_at_ms is not null))
) with (fillfactor = 40, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 2000);
-- Pending waitpoints have no suspension, and active ones have the open suspension, so a lookup of either reads no closed
-- waitpoint. With the state itself in the index, every close would write to it.
create index ff_waitpoint_pending_execution on flowfabric.ff_waitpoint_pending (execution_id, suspension_id);
create index ff_waitpoint_pending_expiry on flowfabric.ff_waitpoint_pending (expires_at_ms, waitpoint_id)
  where expires_at_ms is not null;

-- All signals of an execution, in the order in which they were accepted. A signal without a waitpoint was sent by name; it
-- is stored, untaken, until a condition names it.
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
  -- How many the generation had received with this record: the newest record has the count.
  received_count integer not null default 0,
  waitpoint_key text collate "C",
  signal_name text collate "C" not null,
  signal_category text not null,
  -- What the sender proved, which conditions match and count; and what it claimed, which is data.
  source_type flowfabric.ff_source_type not null,
  source_identity text not null,
  claimed_type text,
  claimed_identity text,
  correlation_id text,
  idempotency_key text collate "C",
  payload bytea,
  payload_encoding text,
  primary key (execution_id, signal_no)
) with (fillfactor = 90);
-- By name they share the nil waitpoint, and their key holds within the generation, like what they say.
create unique index ff_signal_idempotency on flowfabric.ff_signal (execution_id, idempotency_key,
  coalesce(waitpoint_id, '00000000-0000-0000-0000-000000000000'::uuid), generation) where idempotency_key is not null;
-- What a wait may still take. A signal that ends a wait is taken as it is written, and never comes in here.
create index ff_signal_open on flowfabric.ff_signal (execution_id,
  coalesce(waitpoint_id, '00000000-0000-0000-0000-000000000000'::uuid), generation) where taken_at_ms is null;

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

-- The records of durable code, from which a later run continues. A row is rewritten until its step is over, and then never
-- again.
create table flowfabric.ff_step (
  execution_id uuid not null,
  -- The signal, or the child, that it came from.
  origin_id uuid,
  recorded_at_ms bigint not null,
  -- When the next try, the end of the sleep or the timeout of the wait is due.
  due_at_ms bigint,
  lease_epoch bigint not null,
  -- Bytes of all results of the generation, and its number of steps, with this record: the newest record has the totals.
  total_bytes bigint not null,
  -- The number of its newest record, which gives the order of the steps, with gaps; the upper half is the generation. One column,
  -- so that the index of the order is no match for a lookup by name, which would read all steps of the generation by it.
  step_no bigint not null,
  total_count integer not null,
  generation integer not null,
  attempt_index integer not null,
  -- How many steps the code had reached before it, in the run that recorded it first.
  place integer not null,
  step_index integer not null,
  try_count integer not null,
  -- How long the last try took.
  duration_ms bigint,
  -- Of a child: the number of the record that it was made by; step_no is that of its ending once it has one.
  made_no integer,
  kind flowfabric.ff_step_kind not null,
  state flowfabric.ff_step_state not null,
  step_name text collate "C" not null,
  result bytea,
  result_encoding text,
  primary key (execution_id, generation, step_name, step_index)
);
create unique index ff_step_order on flowfabric.ff_step (execution_id, step_no) where step_no > 0;

-- A key holds within its scope: the namespace, or the flow, parent or schedule that the scope names (else the nil uuid).
create table flowfabric.ff_idempotency_key (
  namespace text collate "C" not null,
  scope_id uuid not null,
  idempotency_key text collate "C" not null,
  execution_id uuid not null,
  expires_at_ms bigint not null,
  request_hash bytea not null,
  primary key (namespace, scope_id, idempotency_key)
);
create index ff_idempotency_key_expiry on flowfabric.ff_idempotency_key (expires_at_ms) where expires_at_ms > 0;

-- A flow is a set of executions with edges. Each operation that changes the graph, resolves the dispatch rows of its
-- members, cancels or reopens it locks the row of the outermost flow, and writes it. So that row is the lock and the
-- version of the whole tree: an edge, group, member or inner flow that was read with an unchanged version is current. No
-- ending ever locks it.
create table flowfabric.ff_flow_core (
  flow_id uuid primary key,
  -- Itself, unless it is represented by a member of another flow.
  root_flow_id uuid not null,
  -- The execution that represents it.
  member_id uuid,
  created_at_ms bigint not null,
  last_mutation_at_ms bigint not null,
  -- From then on it takes no more members and edges.
  closed_at_ms bigint,
  cancelled_at_ms bigint,
  -- Closed, and all of its members have ended and been counted.
  ended_at_ms bigint,
  graph_revision bigint not null default 0,
  member_count integer not null default 0,
  edge_count integer not null default 0,
  -- Of members whose ending was resolved. What has ended and still waits for that has a row in ff_dispatch.
  success_count integer not null default 0,
  failed_count integer not null default 0,
  cancelled_count integer not null default 0,
  expired_count integer not null default 0,
  skipped_count integer not null default 0,
  -- How it ended: success, failed or cancelled.
  outcome flowfabric.ff_terminal_outcome not null default 'none',
  cancel_policy flowfabric.ff_cancel_policy,
  -- The member that represents it still waits: until that may run, no edge within it is resolved, and it does not end.
  is_held boolean not null default false,
  partition_key smallint not null,
  namespace text collate "C" not null,
  flow_kind text collate "C" not null,
  creator_identity text not null,
  cancel_reason text,
  cancelled_by text,
  -- Of the graph that it was submitted with, so that a repeat is recognised.
  request_hash bytea,
  constraint ff_flow_core_cancel check ((cancelled_at_ms is null) = (cancel_policy is null)),
  constraint ff_flow_core_end check ((ended_at_ms is null) = (outcome = 'none'))
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index ff_flow_core_partition on flowfabric.ff_flow_core (partition_key, flow_id);
create index ff_flow_core_created on flowfabric.ff_flow_core (created_at_ms, flow_id);
create index ff_flow_core_namespace on flowfabric.ff_flow_core (namespace, created_at_ms, flow_id);
create index ff_flow_core_root on flowfabric.ff_flow_core (root_flow_id, flow_id);
create index ff_flow_core_member on flowfabric.ff_flow_core (member_id) where member_id is not null;
create index ff_flow_core_end on flowfabric.ff_flow_core (ended_at_ms, flow_id) where ended_at_ms is not null;

create table flowfabric.ff_flow_tag (
  flow_id uuid not null,
  created_at_ms bigint not null,
  namespace text collate "C" not null,
  tag_key text collate "C" not null,
  tag_value text collate "C" not null,
  primary key (flow_id, tag_key)
);
create index ff_flow_tag_value on flowfabric.ff_flow_tag (tag_key, tag_value, namespace, created_at_ms, flow_id);

create table flowfabric.ff_flow_member (
  flow_id uuid not null,
  execution_id uuid not null,
  -- The flow that it represents; such a member is never claimed.
  sub_flow_id uuid,
  member_name text collate "C" not null,
  primary key (flow_id, execution_id),
  constraint ff_flow_member_name unique (flow_id, member_name)
);

create table flowfabric.ff_edge (
  flow_id uuid not null,
  edge_id uuid not null,
  upstream_id uuid not null,
  downstream_id uuid not null,
  created_at_ms bigint not null,
  -- Of the upstream, when it was resolved.
  resolved_generation integer,
  resolution flowfabric.ff_edge_resolution,
  kind flowfabric.ff_edge_kind not null,
  created_by text not null,
  -- The name under which the downstream reads the upstream's result; its member's name when left out.
  data_ref text collate "C",
  primary key (flow_id, edge_id),
  constraint ff_edge_resolved check ((resolution is null) = (resolved_generation is null))
) with (fillfactor = 70);
create index ff_edge_upstream on flowfabric.ff_edge (upstream_id, edge_id);
create index ff_edge_downstream on flowfabric.ff_edge (downstream_id, edge_id);

-- What a member waits for: its inbound edges and the policy over them. Counters are those of its edges.
create table flowfabric.ff_edge_group (
  downstream_id uuid primary key,
  flow_id uuid not null,
  fired_at_ms bigint,
  -- How many must be satisfied; null for all.
  quorum integer,
  total integer not null,
  satisfied integer not null default 0,
  failed integer not null default 0,
  skipped integer not null default 0,
  policy flowfabric.ff_join_policy not null,
  on_satisfied flowfabric.ff_on_satisfied not null,
  state flowfabric.ff_group_state not null default 'pending',
  -- No more edges will be added, so it is known when the group can no longer be satisfied.
  is_sealed boolean not null,
  constraint ff_edge_group_quorum check ((quorum is null) = (policy = 'all_of') and quorum >= 1),
  constraint ff_edge_group_counters check (satisfied >= 0 and failed >= 0 and skipped >= 0
    and satisfied + failed + skipped <= total),
  constraint ff_edge_group_fired check ((fired_at_ms is null) = (state = 'pending'))
) with (fillfactor = 50);
create index ff_edge_group_flow on flowfabric.ff_edge_group (flow_id, downstream_id);

-- Members that are to be cancelled: with their flow, or because their siblings were enough. Written under the flow's lock.
create table flowfabric.ff_cancel_backlog (
  execution_id uuid not null,
  generation integer not null,
  flow_id uuid,
  created_at_ms bigint not null,
  reason text not null,
  actor text not null,
  primary key (execution_id, generation)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index ff_cancel_backlog_order on flowfabric.ff_cancel_backlog (created_at_ms, execution_id)
  where created_at_ms > 0;
create index ff_cancel_backlog_flow on flowfabric.ff_cancel_backlog (flow_id) where flow_id is not null;

-- Work that an ending leaves for others: written with the ending, deleted by the resolver. A row without an outcome is a
-- start: the member that represents a flow no longer waits.
create table flowfabric.ff_dispatch (
  execution_id uuid not null,
  generation integer not null,
  -- Null after the flow is resolved.
  flow_id uuid,
  -- Null after the suspension of the parent is evaluated.
  parent_id uuid,
  created_at_ms bigint not null,
  outcome flowfabric.ff_terminal_outcome not null,
  -- False as soon as its children are ended or detached.
  has_children boolean not null default false,
  -- Its flow has counted the ending, and may have an edge to resolve that came since. One without a row is counted too.
  is_counted boolean not null default false,
  primary key (execution_id, generation, outcome)
) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index ff_dispatch_order on flowfabric.ff_dispatch (created_at_ms, execution_id) where created_at_ms > 0;
create index ff_dispatch_parent on flowfabric.ff_dispatch (created_at_ms, execution_id)
  where created_at_ms > 0 and parent_id is not null;
create index ff_dispatch_children on flowfabric.ff_dispatch (created_at_ms, execution_id)
  where created_at_ms > 0 and has_children;
create index ff_dispatch_flow on flowfabric.ff_dispatch (flow_id) where flow_id is not null;

create table flowfabric.ff_duty (
  duty text not null,
  filter text not null default '',
  -- When the interval since its last run is over.
  next_at_ms bigint not null default 0,
  taken_until_ms bigint,
  taken_by text,
  -- When the last run that ended began. Of the row 'supervisor': when its process last asked for due duties.
  last_run_at_ms bigint,
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
create index ff_set_aside_subject on flowfabric.ff_set_aside (subject_id);

-- Worker instances that are alive, as they say of themselves: for people and for explanations. No claim asks for it. The
-- empty namespace is that of workers which serve all of them.
create table flowfabric.ff_worker (
  namespace text collate "C" not null,
  worker_instance_id text collate "C" not null,
  registered_at_ms bigint not null,
  heartbeat_at_ms bigint not null,
  -- From this millisecond on it is gone, whether or not it was swept.
  expires_at_ms bigint not null,
  ttl_ms bigint not null,
  pid integer,
  worker_id text not null,
  host text,
  lanes text[] not null,
  -- Null: any kind.
  kinds text[],
  versions text[] not null,
  capabilities text[] not null,
  primary key (namespace, worker_instance_id)
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index ff_worker_expiry on flowfabric.ff_worker (expires_at_ms);

-- Policies of registered tasks, each stored once. Ids are never reused.
create table flowfabric.ff_policy (
  policy_id integer generated always as identity primary key,
  policy_hash bytea not null unique,
  policy jsonb not null
);

-- The options of task() for a kind and version, from the newest registration. The row stays when workers stop. The
-- namespace is empty if the task is registered for all namespaces, and the version if the task has none.
create table flowfabric.ff_task (
  namespace text collate "C" not null,
  execution_kind text collate "C" not null,
  task_version text collate "C" not null,
  registered_at_ms bigint not null,
  deadline_after_ms bigint,
  policy_id integer,
  lane_id text collate "C",
  registered_by text not null,
  tags jsonb,
  primary key (namespace, execution_kind, task_version)
);

-- API keys of the server, by the hash of their secrets; of a namespace, or of all if it is empty. The row of a revoked key
-- stays, so that the actors in the log remain distinguishable.
create table flowfabric.ff_api_key (
  key_id text collate "C" primary key,
  namespace text collate "C" not null,
  created_at_ms bigint not null,
  last_used_at_ms bigint,
  revoked_at_ms bigint,
  -- The last millisecond in which it admits anybody; no duty, because it is compared when the key is used.
  expires_at_ms bigint,
  requests_per_second integer,
  name text not null,
  created_by text not null,
  scopes text[] not null,
  secret_hash bytea not null
) with (fillfactor = 50);

-- When executions are created without anybody's call, and what they are. The row is the lock under which it fires.
create table flowfabric.ff_schedule (
  schedule_id uuid primary key,
  created_at_ms bigint not null,
  changed_at_ms bigint not null,
  -- When it is due; null while paused, and after its last time.
  next_fire_at_ms bigint,
  -- The next of its times, whether or not it is paused.
  planned_at_ms bigint,
  paused_at_ms bigint,
  until_ms bigint,
  -- A pattern and its zone, or an interval and where it counts from.
  every_ms bigint,
  anchor_at_ms bigint,
  jitter_ms bigint not null,
  last_planned_at_ms bigint,
  last_fired_at_ms bigint,
  fired_count bigint not null default 0,
  skipped_count bigint not null default 0,
  last_execution_id uuid,
  catch_up_limit integer not null,
  overlap flowfabric.ff_schedule_overlap not null,
  catch_up flowfabric.ff_schedule_catch_up not null,
  partition_key smallint not null,
  namespace text collate "C" not null,
  schedule_name text collate "C" not null,
  cron text,
  time_zone text,
  -- Times that wait for the execution of the last firing to end.
  queued_at_ms bigint[] not null default '{}',
  -- The hash of the request, so that a repeat changes nothing.
  request_hash bytea not null,
  -- The executions that it creates.
  deadline_after_ms bigint,
  queue_id integer not null,
  priority smallint not null,
  payload bytea,
  payload_encoding text,
  policy jsonb,
  tags jsonb,
  -- What the put itself asked for. Lane, policy, deadline and tags above also have what the registered task says.
  given jsonb not null,
  constraint ff_schedule_name unique (namespace, schedule_name),
  constraint ff_schedule_timing check (
    (cron is null) = (every_ms is not null)
    and (cron is null) = (time_zone is null)
    and (every_ms is null) = (anchor_at_ms is null)),
  -- Only schedules that are not paused and have a next time.
  constraint ff_schedule_timer check (
    (next_fire_at_ms is null)
      = (paused_at_ms is not null or planned_at_ms is null and cardinality(queued_at_ms) = 0))
) with (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
create index ff_schedule_fire on flowfabric.ff_schedule (next_fire_at_ms, schedule_id)
  where next_fire_at_ms is not null;

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
  -- The name; then, after U+001F, the id of the API key and the actor for whom it acted. Other rows store actors in this form.
  actor text not null,
  worker_instance_id text,
  reason text,
  details jsonb,
  primary key (event_id)
) partition by range (event_id);
create index ff_event_execution on flowfabric.ff_event (execution_id, event_id);
-- Of the flows themselves; their members' events are found by member.
create index ff_event_flow on flowfabric.ff_event (flow_id, event_id) where event_type in (
  'flow_created', 'flow_changed', 'flow_closed', 'flow_cancel_requested', 'flow_ended', 'flow_reopened');
create table flowfabric.ff_event_1 partition of flowfabric.ff_event for values from (minvalue) to (10000001);

-- A block is created and dropped with the rights of the log's owner, so that a role that only reads and writes rows can
-- maintain the log. Both wait for a lock only briefly: every writer waits behind a lock that is queued behind a long
-- reader.
--
-- Create and attach, because "partition of" takes a lock that stops every writer.
create function flowfabric.ff_make_event_block(first_id bigint, end_id bigint) returns void
  language plpgsql strict security definer set search_path = pg_catalog, pg_temp set lock_timeout = '2s'
  as $$
declare
  parent constant text := 'flowfabric.ff_event'::regclass;
  name constant text := format('ff_event_%s', first_id);
  block text;
begin
  select format('%I.%I', n.nspname, name) into strict block
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  where c.oid = parent::regclass;
  execute format('create table %s (like %s including defaults including constraints)', block, parent);
  execute format('alter table %s add constraint %I check (event_id >= %s and event_id < %s)', block, name || '_range',
    first_id, end_id);
  execute format('alter table %s attach partition %s for values from (%s) to (%s)', parent, block, first_id, end_id);
  execute format('alter table %s drop constraint %I', block, name || '_range');
end
$$;
-- Drops the block that ends before end_id. False when the log has no such block, or has not passed it.
create function flowfabric.ff_drop_event_block(end_id bigint) returns boolean
  language plpgsql strict security definer set search_path = pg_catalog, pg_temp set lock_timeout = '100ms'
  as $$
declare
  parent constant text := 'flowfabric.ff_event'::regclass;
  block text;
begin
  select i.inhrelid::regclass into block
  from pg_inherits i
  join pg_class c on c.oid = i.inhrelid
  where i.inhparent = parent::regclass
    and substring(pg_get_expr(c.relpartbound, c.oid) from 'TO \(''?(\d+)')::bigint = end_id
    and end_id <= (select last_value from flowfabric.ff_event_id);
  if block is null then
    return false;
  end if;
  execute format('alter table %s detach partition %s', parent, block);
  execute format('drop table %s', block);
  return true;
end
$$;
revoke execute on function flowfabric.ff_make_event_block, flowfabric.ff_drop_event_block from public;

-- The outboxes that other FlowFabric implementations keep as tables.
create view flowfabric.ff_lease_event as
  select event_id, partition_key, execution_id, attempt_index, lease_id, lease_epoch, worker_instance_id,
    lease_effect as event_type, coalesce(reason, case when event_type = 'ended' then outcome::text end) as reason,
    namespace, split_part(actor, chr(31), 1) as actor, nullif(split_part(actor, chr(31), 2), '') as key_id,
    nullif(split_part(actor, chr(31), 3), '') as on_behalf_of, occurred_at_ms
  from flowfabric.ff_event
  where lease_effect is not null;
create view flowfabric.ff_completion_event as
  select event_id, partition_key, execution_id, flow_id, generation, outcome, reason, namespace,
    split_part(actor, chr(31), 1) as actor, nullif(split_part(actor, chr(31), 2), '') as key_id,
    nullif(split_part(actor, chr(31), 3), '') as on_behalf_of, occurred_at_ms
  from flowfabric.ff_event
  where event_type = 'ended';
create view flowfabric.ff_signal_event as
  select event_id, partition_key, execution_id, reason, details, namespace,
    split_part(actor, chr(31), 1) as actor, nullif(split_part(actor, chr(31), 2), '') as key_id,
    nullif(split_part(actor, chr(31), 3), '') as on_behalf_of, occurred_at_ms
  from flowfabric.ff_event
  where event_type = 'signalled';
