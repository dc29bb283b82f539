-- The schema as the migrations leave it, to read and to review. Made by `npm run schema`; do not edit.

create schema "flowfabric";

create type flowfabric.ff_attempt_state as enum (
  'none',
  'pending_first_attempt',
  'running_attempt',
  'attempt_interrupted',
  'pending_retry_attempt',
  'pending_replay_attempt',
  'attempt_terminal'
);

create type flowfabric.ff_attempt_type as enum (
  'initial',
  'retry',
  'replay'
);

create type flowfabric.ff_eligibility_state as enum (
  'eligible_now',
  'not_eligible_until_time',
  'blocked_by_dependencies',
  'blocked_by_budget',
  'blocked_by_quota',
  'blocked_by_route',
  'blocked_by_lane_state',
  'blocked_by_operator',
  'not_applicable'
);

create type flowfabric.ff_event_type as enum (
  'acquired',
  'renewed',
  'lapsed',
  'revoked',
  'released',
  'delayed',
  'retried',
  'suspended',
  'resumed',
  'signalled',
  'ended',
  'cancel_requested',
  'priority_changed',
  'replayed',
  'escalated',
  'key_rotated',
  'token_read'
);

create type flowfabric.ff_interruption as enum (
  'none',
  'lapsed',
  'revoked',
  'released',
  'delayed',
  'signalled',
  'timed_out',
  'children'
);

create type flowfabric.ff_lane_state as enum (
  'active',
  'paused',
  'draining',
  'disabled'
);

create type flowfabric.ff_lease_effect as enum (
  'acquired',
  'renewed',
  'expired',
  'reclaimed',
  'revoked'
);

create type flowfabric.ff_lifecycle_phase as enum (
  'submitted',
  'runnable',
  'active',
  'suspended',
  'terminal'
);

create type flowfabric.ff_on_parent_end as enum (
  'cancel',
  'detach'
);

create type flowfabric.ff_ownership_state as enum (
  'unowned',
  'leased',
  'lease_expired_reclaimable',
  'lease_revoked'
);

create type flowfabric.ff_public_state as enum (
  'waiting',
  'delayed',
  'rate_limited',
  'waiting_children',
  'active',
  'suspended',
  'resumable',
  'completed',
  'failed',
  'cancelled',
  'expired',
  'skipped'
);

create type flowfabric.ff_signal_effect as enum (
  'appended_to_waitpoint',
  'appended_to_waitpoint_duplicate',
  'resume_condition_satisfied',
  'buffered_for_pending_waitpoint',
  'kept_for_condition',
  'signal_ignored_not_in_condition',
  'signal_ignored_matcher_failed',
  'no_op'
);

create type flowfabric.ff_suspension_reason as enum (
  'waiting_for_signal',
  'waiting_for_approval',
  'waiting_for_callback',
  'waiting_for_tool_result',
  'waiting_for_operator_review',
  'paused_by_policy',
  'paused_by_budget',
  'step_boundary',
  'manual_pause'
);

create type flowfabric.ff_terminal_outcome as enum (
  'none',
  'success',
  'failed',
  'cancelled',
  'expired',
  'skipped'
);

create type flowfabric.ff_timeout_behavior as enum (
  'fail',
  'cancel',
  'expire',
  'escalate',
  'auto_resume_with_timeout_signal'
);

create type flowfabric.ff_waitpoint_state as enum (
  'pending',
  'active',
  'closed'
);

create sequence flowfabric.ff_event_id as bigint start 1 increment 1 minvalue 1 maxvalue 9223372036854775807 cache 1;

create sequence flowfabric.ff_signal_no as bigint start 1 increment 1 minvalue 1 maxvalue 9223372036854775807 cache 1;

CREATE OR REPLACE FUNCTION flowfabric.ff_now_ms()
 RETURNS bigint
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$ select floor(date_part('epoch', clock_timestamp()) * 1000)::bigint $function$;

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
  next_at_ms bigint,
  lineage jsonb,
  constraint ff_attempt_pkey PRIMARY KEY (execution_id, attempt_index)
);

create table flowfabric.ff_dispatch (
  execution_id uuid not null,
  generation integer not null,
  flow_id uuid,
  parent_id uuid,
  created_at_ms bigint not null,
  outcome flowfabric.ff_terminal_outcome not null,
  constraint ff_dispatch_pkey PRIMARY KEY (execution_id, generation)
)
with (
  autovacuum_vacuum_scale_factor=0,
  autovacuum_vacuum_threshold=1000
);

create table flowfabric.ff_duty (
  duty text not null,
  filter text not null default ''::text,
  next_at_ms bigint not null default 0,
  taken_until_ms bigint,
  taken_by text,
  last_report jsonb,
  constraint ff_duty_pkey PRIMARY KEY (duty, filter)
)
with (
  fillfactor=50
);

create table flowfabric.ff_event (
  event_id bigint not null default nextval('flowfabric.ff_event_id'::regclass),
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
  constraint ff_event_pkey PRIMARY KEY (event_id)
)
partition by RANGE (event_id);
CREATE INDEX ff_event_execution ON flowfabric.ff_event USING btree (execution_id, event_id);

create table flowfabric.ff_event_1 partition of flowfabric.ff_event FOR VALUES FROM (MINVALUE) TO ('10000001');

create table flowfabric.ff_exec_core (
  execution_id uuid not null,
  created_at_ms bigint not null,
  last_mutation_at_ms bigint not null,
  rank bigint not null,
  lease_epoch bigint not null default 0,
  started_at_ms bigint,
  terminal_at_ms bigint,
  delay_until_ms bigint,
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
  terminal_outcome flowfabric.ff_terminal_outcome not null default 'none'::flowfabric.ff_terminal_outcome,
  interruption flowfabric.ff_interruption not null default 'none'::flowfabric.ff_interruption,
  public_state flowfabric.ff_public_state not null generated always as (
  CASE lifecycle_phase
      WHEN 'active'::flowfabric.ff_lifecycle_phase THEN 'active'::flowfabric.ff_public_state
      WHEN 'terminal'::flowfabric.ff_lifecycle_phase THEN
      CASE terminal_outcome
          WHEN 'success'::flowfabric.ff_terminal_outcome THEN 'completed'::flowfabric.ff_public_state
          WHEN 'cancelled'::flowfabric.ff_terminal_outcome THEN 'cancelled'::flowfabric.ff_public_state
          WHEN 'expired'::flowfabric.ff_terminal_outcome THEN 'expired'::flowfabric.ff_public_state
          WHEN 'skipped'::flowfabric.ff_terminal_outcome THEN 'skipped'::flowfabric.ff_public_state
          ELSE 'failed'::flowfabric.ff_public_state
      END
      WHEN 'suspended'::flowfabric.ff_lifecycle_phase THEN 'suspended'::flowfabric.ff_public_state
      WHEN 'runnable'::flowfabric.ff_lifecycle_phase THEN
      CASE
          WHEN (eligibility_state = 'not_eligible_until_time'::flowfabric.ff_eligibility_state) THEN 'delayed'::flowfabric.ff_public_state
          WHEN (eligibility_state = 'blocked_by_dependencies'::flowfabric.ff_eligibility_state) THEN 'waiting_children'::flowfabric.ff_public_state
          WHEN (eligibility_state = ANY (ARRAY['blocked_by_budget'::flowfabric.ff_eligibility_state, 'blocked_by_quota'::flowfabric.ff_eligibility_state])) THEN 'rate_limited'::flowfabric.ff_public_state
          WHEN ((eligibility_state = 'eligible_now'::flowfabric.ff_eligibility_state) AND (interruption = ANY (ARRAY['signalled'::flowfabric.ff_interruption, 'timed_out'::flowfabric.ff_interruption, 'children'::flowfabric.ff_interruption]))) THEN 'resumable'::flowfabric.ff_public_state
          ELSE 'waiting'::flowfabric.ff_public_state
      END
      ELSE 'waiting'::flowfabric.ff_public_state
  END) stored,
  parked_state flowfabric.ff_public_state,
  on_parent_end flowfabric.ff_on_parent_end,
  partition_key smallint not null,
  priority smallint not null,
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
  constraint ff_exec_core_pkey PRIMARY KEY (execution_id),
  constraint ff_exec_core_bounds CHECK ((((partition_key >= 0) AND (partition_key <= 255)) AND ((priority >= 0) AND (priority <= 9000)) AND ((ownership_state <> 'leased'::flowfabric.ff_ownership_state) OR (lease_id IS NOT NULL)) AND ((total_attempt_count = 0) OR (attempt_index < total_attempt_count)) AND (last_mutation_at_ms >= created_at_ms))),
  constraint ff_exec_core_timers CHECK ((((terminal_at_ms IS NOT NULL) = (lifecycle_phase = 'terminal'::flowfabric.ff_lifecycle_phase)) AND ((delay_until_ms IS NOT NULL) = (eligibility_state = 'not_eligible_until_time'::flowfabric.ff_eligibility_state)) AND ((parked_at_ms IS NOT NULL) = ((lifecycle_phase = 'suspended'::flowfabric.ff_lifecycle_phase) OR (eligibility_state <> ALL (ARRAY['eligible_now'::flowfabric.ff_eligibility_state, 'not_eligible_until_time'::flowfabric.ff_eligibility_state, 'not_applicable'::flowfabric.ff_eligibility_state])))) AND (NOT (parked_state IS DISTINCT FROM
  CASE
      WHEN (parked_at_ms IS NOT NULL) THEN public_state
      ELSE NULL::flowfabric.ff_public_state
  END)) AND ((deadline_at_ms IS NULL) OR (lifecycle_phase <> 'terminal'::flowfabric.ff_lifecycle_phase)) AND ((attempt_deadline_at_ms IS NULL) OR (lifecycle_phase = 'active'::flowfabric.ff_lifecycle_phase)) AND ((cancel_deadline_at_ms IS NULL) OR (lifecycle_phase <> 'terminal'::flowfabric.ff_lifecycle_phase)))),
  constraint ff_exec_core_vector CHECK (((ownership_state =
  CASE lifecycle_phase
      WHEN 'active'::flowfabric.ff_lifecycle_phase THEN 'leased'::flowfabric.ff_ownership_state
      ELSE 'unowned'::flowfabric.ff_ownership_state
  END) AND ((eligibility_state = 'not_applicable'::flowfabric.ff_eligibility_state) = (lifecycle_phase <> 'runnable'::flowfabric.ff_lifecycle_phase)) AND ((terminal_outcome = 'none'::flowfabric.ff_terminal_outcome) = (lifecycle_phase <> 'terminal'::flowfabric.ff_lifecycle_phase)) AND ((interruption = 'none'::flowfabric.ff_interruption) = ((lifecycle_phase <> 'runnable'::flowfabric.ff_lifecycle_phase) OR (attempt_state <> 'attempt_interrupted'::flowfabric.ff_attempt_state))) AND (attempt_state = ANY (
  CASE lifecycle_phase
      WHEN 'active'::flowfabric.ff_lifecycle_phase THEN '{running_attempt}'::flowfabric.ff_attempt_state[]
      WHEN 'suspended'::flowfabric.ff_lifecycle_phase THEN '{attempt_interrupted}'::flowfabric.ff_attempt_state[]
      WHEN 'runnable'::flowfabric.ff_lifecycle_phase THEN
      CASE
          WHEN (eligibility_state = 'blocked_by_dependencies'::flowfabric.ff_eligibility_state) THEN '{pending_first_attempt,pending_replay_attempt}'::flowfabric.ff_attempt_state[]
          ELSE '{pending_first_attempt,attempt_interrupted,pending_retry_attempt,pending_replay_attempt}'::flowfabric.ff_attempt_state[]
      END
      WHEN 'terminal'::flowfabric.ff_lifecycle_phase THEN
      CASE
          WHEN (terminal_outcome = ANY (ARRAY['cancelled'::flowfabric.ff_terminal_outcome, 'expired'::flowfabric.ff_terminal_outcome])) THEN '{attempt_terminal,pending_first_attempt}'::flowfabric.ff_attempt_state[]
          WHEN (terminal_outcome = 'skipped'::flowfabric.ff_terminal_outcome) THEN '{attempt_terminal,none}'::flowfabric.ff_attempt_state[]
          ELSE '{attempt_terminal}'::flowfabric.ff_attempt_state[]
      END
      ELSE '{}'::flowfabric.ff_attempt_state[]
  END))))
)
with (
  autovacuum_analyze_scale_factor=0.05,
  autovacuum_analyze_threshold=2000,
  autovacuum_vacuum_cost_delay=0,
  autovacuum_vacuum_scale_factor=0.01,
  autovacuum_vacuum_threshold=2000,
  fillfactor=50
);
CREATE INDEX ff_exec_core_attempt_deadline ON flowfabric.ff_exec_core USING btree (attempt_deadline_at_ms, execution_id) WHERE (attempt_deadline_at_ms IS NOT NULL);
CREATE INDEX ff_exec_core_cancel_deadline ON flowfabric.ff_exec_core USING btree (cancel_deadline_at_ms, execution_id) WHERE (cancel_deadline_at_ms IS NOT NULL);
CREATE INDEX ff_exec_core_deadline ON flowfabric.ff_exec_core USING btree (deadline_at_ms, execution_id) WHERE (deadline_at_ms IS NOT NULL);
CREATE INDEX ff_exec_core_delay ON flowfabric.ff_exec_core USING btree (delay_until_ms, execution_id) WHERE (delay_until_ms IS NOT NULL);
CREATE INDEX ff_exec_core_delay_queue ON flowfabric.ff_exec_core USING btree (queue_id, delay_until_ms, execution_id) WHERE (delay_until_ms IS NOT NULL);
CREATE INDEX ff_exec_core_ending ON flowfabric.ff_exec_core USING btree (queue_id, terminal_outcome, terminal_at_ms, execution_id) WHERE (terminal_at_ms IS NOT NULL);
CREATE INDEX ff_exec_core_parked ON flowfabric.ff_exec_core USING btree (queue_id, parked_state, parked_at_ms, execution_id) WHERE (parked_at_ms IS NOT NULL);

create table flowfabric.ff_exec_input (
  partition_key smallint not null,
  execution_id uuid not null,
  created_at_ms bigint not null,
  delay_until_ms bigint,
  deadline_at_ms bigint,
  deadline_after_ms bigint,
  queue_id integer not null,
  parent_id uuid,
  creator_identity text not null,
  idempotency_key text,
  payload bytea,
  payload_encoding text,
  policy jsonb,
  constraint ff_exec_input_pkey PRIMARY KEY (partition_key, execution_id)
);
CREATE INDEX ff_exec_input_created ON flowfabric.ff_exec_input USING btree (created_at_ms, execution_id);
CREATE INDEX ff_exec_input_parent ON flowfabric.ff_exec_input USING btree (parent_id, created_at_ms, execution_id) WHERE (parent_id IS NOT NULL);
CREATE INDEX ff_exec_input_queue ON flowfabric.ff_exec_input USING btree (queue_id, created_at_ms, execution_id);

create table flowfabric.ff_exec_result (
  execution_id uuid not null,
  generation integer not null,
  attempt_index integer not null,
  created_at_ms bigint not null,
  result bytea,
  result_encoding text,
  constraint ff_exec_result_pkey PRIMARY KEY (execution_id, generation)
);

create table flowfabric.ff_exec_tag (
  execution_id uuid not null,
  created_at_ms bigint not null,
  namespace text collate "C" not null,
  tag_key text collate "C" not null,
  tag_value text collate "C" not null,
  constraint ff_exec_tag_pkey PRIMARY KEY (execution_id, tag_key)
);
CREATE INDEX ff_exec_tag_value ON flowfabric.ff_exec_tag USING btree (tag_key, tag_value, namespace, created_at_ms, execution_id);

create table flowfabric.ff_grant (
  execution_id uuid not null,
  grant_id uuid not null,
  granted_at_ms bigint not null,
  expires_at_ms bigint not null,
  worker_id text not null,
  worker_instance_id text not null,
  constraint ff_grant_pkey PRIMARY KEY (execution_id)
);
CREATE INDEX ff_grant_expiry ON flowfabric.ff_grant USING btree (expires_at_ms);

create table flowfabric.ff_idempotency_key (
  namespace text collate "C" not null,
  scope_id uuid not null,
  idempotency_key text collate "C" not null,
  execution_id uuid not null,
  expires_at_ms bigint not null,
  request_hash bytea not null,
  constraint ff_idempotency_key_pkey PRIMARY KEY (namespace, scope_id, idempotency_key)
);
CREATE INDEX ff_idempotency_key_expiry ON flowfabric.ff_idempotency_key USING btree (expires_at_ms);

create table flowfabric.ff_lane_registry (
  namespace text collate "C" not null,
  lane_id text collate "C" not null,
  lane_state flowfabric.ff_lane_state not null default 'active'::flowfabric.ff_lane_state,
  registered_at_ms bigint not null,
  registered_by text not null,
  constraint ff_lane_registry_pkey PRIMARY KEY (namespace, lane_id)
);

create table flowfabric.ff_lease (
  execution_id uuid not null,
  lease_id uuid not null,
  lease_epoch bigint not null,
  acquired_at_ms bigint not null,
  expires_at_ms bigint not null,
  renewed_at_ms bigint,
  attempt_started_at_ms bigint not null,
  attempt_index integer not null,
  attempt_type flowfabric.ff_attempt_type not null,
  is_continued boolean not null default false,
  worker_id text not null,
  worker_instance_id text collate "C" not null,
  constraint ff_lease_pkey PRIMARY KEY (execution_id)
)
with (
  autovacuum_vacuum_cost_delay=0,
  autovacuum_vacuum_scale_factor=0,
  autovacuum_vacuum_threshold=1000,
  fillfactor=50
);
CREATE INDEX ff_lease_expiry ON flowfabric.ff_lease USING btree (expires_at_ms, execution_id);
CREATE INDEX ff_lease_instance ON flowfabric.ff_lease USING btree (worker_instance_id, execution_id);

create table flowfabric.ff_migration (
  version integer not null,
  name text not null,
  checksum text not null,
  oldest_code text not null,
  applied_at_ms bigint not null,
  constraint ff_migration_pkey PRIMARY KEY (version)
);

create table flowfabric.ff_progress (
  execution_id uuid not null,
  updated_at_ms bigint not null,
  percent smallint,
  message text,
  constraint ff_progress_pkey PRIMARY KEY (execution_id)
)
with (
  fillfactor=50
);

create table flowfabric.ff_queue (
  queue_id integer not null generated always as identity,
  namespace text collate "C" not null,
  lane_id text collate "C" not null,
  execution_kind text collate "C" not null,
  task_version text collate "C" not null,
  required_capabilities text[] not null,
  capability_digest uuid not null,
  created_at_ms bigint not null,
  constraint ff_queue_pkey PRIMARY KEY (queue_id),
  constraint ff_queue_identity UNIQUE (namespace, lane_id, execution_kind, task_version, capability_digest)
);

create table flowfabric.ff_ready (
  queue_id integer not null,
  neg_priority smallint not null,
  resumed boolean not null default false,
  rank bigint not null,
  execution_id uuid not null,
  constraint ff_ready_pkey PRIMARY KEY (queue_id, neg_priority, rank, execution_id)
)
with (
  autovacuum_vacuum_cost_delay=0,
  autovacuum_vacuum_scale_factor=0,
  autovacuum_vacuum_threshold=1000
);
CREATE INDEX ff_ready_resumed ON flowfabric.ff_ready USING btree (queue_id, neg_priority, rank, execution_id) WHERE resumed;

create table flowfabric.ff_set_aside (
  duty text not null,
  subject_id uuid not null,
  failure_count integer not null,
  retry_at_ms bigint not null,
  error text not null,
  constraint ff_set_aside_pkey PRIMARY KEY (duty, subject_id)
);

create table flowfabric.ff_signal (
  execution_id uuid not null,
  signal_no bigint not null default nextval('flowfabric.ff_signal_no'::regclass),
  signal_id uuid not null,
  waitpoint_id uuid,
  suspension_id uuid,
  accepted_at_ms bigint not null,
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
  constraint ff_signal_pkey PRIMARY KEY (execution_id, signal_no)
)
with (
  fillfactor=90
);
CREATE UNIQUE INDEX ff_signal_idempotency ON flowfabric.ff_signal USING btree (execution_id, idempotency_key, COALESCE(waitpoint_id, '00000000-0000-0000-0000-000000000000'::uuid)) WHERE (idempotency_key IS NOT NULL);

create table flowfabric.ff_suspension_current (
  execution_id uuid not null,
  suspension_id uuid not null,
  suspended_at_ms bigint not null,
  closed_at_ms bigint,
  timeout_at_ms bigint,
  wake_at_ms bigint,
  escalated_at_ms bigint,
  second_timeout_ms bigint,
  resume_delay_ms bigint,
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
  outcome jsonb,
  constraint ff_suspension_current_pkey PRIMARY KEY (execution_id),
  constraint ff_suspension_current_closed CHECK ((((closed_at_ms IS NULL) = (close_reason IS NULL)) AND ((closed_at_ms IS NULL) OR ((timeout_at_ms IS NULL) AND (wake_at_ms IS NULL)))))
)
with (
  autovacuum_vacuum_scale_factor=0.01,
  autovacuum_vacuum_threshold=2000,
  fillfactor=70
);
CREATE INDEX ff_suspension_current_timeout ON flowfabric.ff_suspension_current USING btree (timeout_at_ms, execution_id) WHERE (timeout_at_ms IS NOT NULL);
CREATE INDEX ff_suspension_current_wake ON flowfabric.ff_suspension_current USING btree (wake_at_ms, execution_id) WHERE (wake_at_ms IS NOT NULL);

create table flowfabric.ff_waitpoint_hmac (
  namespace text collate "C" not null,
  kid text collate "C" not null,
  created_at_ms bigint not null,
  expires_at_ms bigint,
  is_active boolean not null,
  is_wrapped boolean not null,
  secret bytea,
  constraint ff_waitpoint_hmac_pkey PRIMARY KEY (namespace, kid),
  constraint ff_waitpoint_hmac_grace CHECK ((is_active = (expires_at_ms IS NULL))),
  constraint ff_waitpoint_hmac_secret CHECK (((secret IS NOT NULL) OR (NOT is_active)))
);
CREATE UNIQUE INDEX ff_waitpoint_hmac_active ON flowfabric.ff_waitpoint_hmac USING btree (namespace) WHERE is_active;
CREATE INDEX ff_waitpoint_hmac_expiry ON flowfabric.ff_waitpoint_hmac USING btree (expires_at_ms) WHERE ((expires_at_ms IS NOT NULL) AND (secret IS NOT NULL));
CREATE INDEX ff_waitpoint_hmac_kid ON flowfabric.ff_waitpoint_hmac USING btree (kid);

create table flowfabric.ff_waitpoint_pending (
  waitpoint_id uuid not null,
  execution_id uuid not null,
  suspension_id uuid,
  created_at_ms bigint not null,
  activated_at_ms bigint,
  expires_at_ms bigint,
  closed_at_ms bigint,
  partition_key smallint not null,
  state flowfabric.ff_waitpoint_state not null,
  waitpoint_key text collate "C" not null,
  token_kid text collate "C" not null,
  close_reason text,
  required_signal_names text[] not null default '{}'::text[],
  constraint ff_waitpoint_pending_pkey PRIMARY KEY (waitpoint_id),
  constraint ff_waitpoint_pending_state CHECK ((((state = 'closed'::flowfabric.ff_waitpoint_state) = (closed_at_ms IS NOT NULL)) AND ((state = 'closed'::flowfabric.ff_waitpoint_state) = (close_reason IS NOT NULL)) AND ((state = 'pending'::flowfabric.ff_waitpoint_state) OR (expires_at_ms IS NULL)) AND ((state <> 'pending'::flowfabric.ff_waitpoint_state) OR (suspension_id IS NULL)) AND ((state <> 'active'::flowfabric.ff_waitpoint_state) OR ((suspension_id IS NOT NULL) AND (activated_at_ms IS NOT NULL)))))
)
with (
  autovacuum_vacuum_scale_factor=0.01,
  autovacuum_vacuum_threshold=2000,
  fillfactor=70
);
CREATE INDEX ff_waitpoint_pending_execution ON flowfabric.ff_waitpoint_pending USING btree (execution_id, waitpoint_id);
CREATE INDEX ff_waitpoint_pending_expiry ON flowfabric.ff_waitpoint_pending USING btree (expires_at_ms, waitpoint_id) WHERE (expires_at_ms IS NOT NULL);

create view flowfabric.ff_completion_event as
SELECT event_id,
    partition_key,
    execution_id,
    flow_id,
    generation,
    outcome,
    reason,
    namespace,
    actor,
    occurred_at_ms
   FROM flowfabric.ff_event
  WHERE (event_type = 'ended'::flowfabric.ff_event_type);

create view flowfabric.ff_lease_event as
SELECT event_id,
    partition_key,
    execution_id,
    attempt_index,
    lease_id,
    lease_epoch,
    worker_instance_id,
    lease_effect AS event_type,
    COALESCE(reason,
        CASE
            WHEN (event_type = 'ended'::flowfabric.ff_event_type) THEN (outcome)::text
            ELSE NULL::text
        END) AS reason,
    namespace,
    actor,
    occurred_at_ms
   FROM flowfabric.ff_event
  WHERE (lease_effect IS NOT NULL);

create view flowfabric.ff_signal_event as
SELECT event_id,
    partition_key,
    execution_id,
    reason,
    details,
    namespace,
    actor,
    occurred_at_ms
   FROM flowfabric.ff_event
  WHERE (event_type = 'signalled'::flowfabric.ff_event_type);
