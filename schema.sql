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

create type flowfabric.ff_cancel_policy as enum (
  'cancel_all',
  'cancel_pending',
  'flow_only'
);

create type flowfabric.ff_edge_kind as enum (
  'success_only',
  'optional',
  'on_failure',
  'start'
);

create type flowfabric.ff_edge_resolution as enum (
  'satisfied',
  'failed',
  'skipped'
);

create type flowfabric.ff_eligibility_state as enum (
  'eligible_now',
  'not_eligible_until_time',
  'blocked_by_dependencies',
  'blocked_by_budget',
  'blocked_by_quota',
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
  'token_read',
  'unblocked',
  'flow_created',
  'flow_changed',
  'flow_closed',
  'flow_cancel_requested',
  'flow_ended',
  'flow_reopened',
  'worker_registered',
  'worker_marked_dead',
  'worker_ttl_swept',
  'schedule_put',
  'schedule_paused',
  'schedule_resumed',
  'schedule_deleted',
  'schedule_fired',
  'schedule_skipped',
  'restarted',
  'warned',
  'api_key_created',
  'api_key_revoked'
);

create type flowfabric.ff_group_state as enum (
  'pending',
  'satisfied',
  'impossible'
);

create type flowfabric.ff_interruption as enum (
  'none',
  'lapsed',
  'revoked',
  'released',
  'delayed',
  'signalled',
  'timed_out',
  'children',
  'cancelled'
);

create type flowfabric.ff_join_policy as enum (
  'all_of',
  'any_of',
  'quorum'
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
  'runnable',
  'active',
  'suspended',
  'terminal'
);

create type flowfabric.ff_on_parent_end as enum (
  'cancel',
  'detach'
);

create type flowfabric.ff_on_satisfied as enum (
  'cancel_remaining',
  'let_run'
);

create type flowfabric.ff_ownership_state as enum (
  'unowned',
  'leased'
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

create type flowfabric.ff_schedule_catch_up as enum (
  'none',
  'last',
  'all'
);

create type flowfabric.ff_schedule_overlap as enum (
  'skip',
  'queue',
  'cancelPrevious',
  'allow'
);

create type flowfabric.ff_signal_effect as enum (
  'resume_condition_satisfied',
  'appended_to_waitpoint',
  'appended_to_waitpoint_duplicate',
  'signal_ignored_not_in_condition',
  'signal_ignored_matcher_failed',
  'buffered_for_pending_waitpoint',
  'kept_for_condition',
  'no_op'
);

create type flowfabric.ff_source_type as enum (
  'token',
  'link',
  'operator',
  'caller',
  'system'
);

create type flowfabric.ff_step_kind as enum (
  'step',
  'sleep',
  'wait',
  'child',
  'value',
  'compensation',
  'hook'
);

create type flowfabric.ff_step_state as enum (
  'pending',
  'succeeded',
  'failed',
  'timed_out'
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

CREATE OR REPLACE FUNCTION flowfabric.ff_drop_event_block(end_id bigint)
 RETURNS boolean
 LANGUAGE plpgsql
 STRICT SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '100ms'
AS $function$
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
$function$;
revoke execute on function flowfabric.ff_drop_event_block(bigint) from public;

CREATE OR REPLACE FUNCTION flowfabric.ff_exec_core_state(phase flowfabric.ff_lifecycle_phase, ownership flowfabric.ff_ownership_state, eligibility flowfabric.ff_eligibility_state, attempt flowfabric.ff_attempt_state, outcome flowfabric.ff_terminal_outcome, interruption flowfabric.ff_interruption, terminal_at_ms bigint, delay_until_ms bigint, parked_at_ms bigint, parked_state flowfabric.ff_public_state, deadline_at_ms bigint, attempt_deadline_at_ms bigint, cancel_deadline_at_ms bigint, created_at_ms bigint, last_mutation_at_ms bigint, attempt_index integer, attempt_count integer, partition_key smallint, priority smallint, lease_id uuid)
 RETURNS flowfabric.ff_public_state
 LANGUAGE plpgsql
 IMMUTABLE PARALLEL SAFE
AS $function$
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
$function$;

CREATE OR REPLACE FUNCTION flowfabric.ff_make_event_block(first_id bigint, end_id bigint)
 RETURNS void
 LANGUAGE plpgsql
 STRICT SECURITY DEFINER
 SET search_path TO 'pg_catalog', 'pg_temp'
 SET lock_timeout TO '2s'
AS $function$
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
$function$;
revoke execute on function flowfabric.ff_make_event_block(bigint,bigint) from public;

CREATE OR REPLACE FUNCTION flowfabric.ff_now_ms()
 RETURNS bigint
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$ select floor(date_part('epoch', clock_timestamp()) * 1000)::bigint $function$;

CREATE OR REPLACE FUNCTION flowfabric.ff_refuse(rule text)
 RETURNS flowfabric.ff_public_state
 LANGUAGE plpgsql
AS $function$
begin
  raise check_violation using constraint = rule, message = format('a row of ff_exec_core breaks the rule %s', rule);
end
$function$;

create table flowfabric.ff_api_key (
  key_id text collate "C" not null,
  namespace text collate "C" not null,
  created_at_ms bigint not null,
  last_used_at_ms bigint,
  revoked_at_ms bigint,
  expires_at_ms bigint,
  requests_per_second integer,
  name text not null,
  created_by text not null,
  scopes text[] not null,
  secret_hash bytea not null,
  constraint ff_api_key_pkey PRIMARY KEY (key_id)
)
with (
  fillfactor=50
);

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
  constraint ff_attempt_pkey PRIMARY KEY (execution_id, attempt_index)
);

create table flowfabric.ff_cancel_backlog (
  execution_id uuid not null,
  generation integer not null,
  flow_id uuid,
  created_at_ms bigint not null,
  reason text not null,
  actor text not null,
  constraint ff_cancel_backlog_pkey PRIMARY KEY (execution_id, generation)
)
with (
  autovacuum_vacuum_scale_factor=0,
  autovacuum_vacuum_threshold=1000
);
CREATE INDEX ff_cancel_backlog_flow ON flowfabric.ff_cancel_backlog USING btree (flow_id) WHERE (flow_id IS NOT NULL);
CREATE INDEX ff_cancel_backlog_order ON flowfabric.ff_cancel_backlog USING btree (created_at_ms, execution_id) WHERE (created_at_ms > 0);

create table flowfabric.ff_dispatch (
  execution_id uuid not null,
  generation integer not null,
  flow_id uuid,
  parent_id uuid,
  created_at_ms bigint not null,
  outcome flowfabric.ff_terminal_outcome not null,
  has_children boolean not null default false,
  is_counted boolean not null default false,
  constraint ff_dispatch_pkey PRIMARY KEY (execution_id, generation, outcome)
)
with (
  autovacuum_vacuum_scale_factor=0,
  autovacuum_vacuum_threshold=1000,
  fillfactor=70
);
CREATE INDEX ff_dispatch_children ON flowfabric.ff_dispatch USING btree (created_at_ms, execution_id) WHERE ((created_at_ms > 0) AND has_children);
CREATE INDEX ff_dispatch_flow ON flowfabric.ff_dispatch USING btree (flow_id) WHERE (flow_id IS NOT NULL);
CREATE INDEX ff_dispatch_order ON flowfabric.ff_dispatch USING btree (created_at_ms, execution_id) WHERE (created_at_ms > 0);
CREATE INDEX ff_dispatch_parent ON flowfabric.ff_dispatch USING btree (created_at_ms, execution_id) WHERE ((created_at_ms > 0) AND (parent_id IS NOT NULL));

create table flowfabric.ff_duty (
  duty text not null,
  filter text not null default ''::text,
  next_at_ms bigint not null default 0,
  taken_until_ms bigint,
  taken_by text,
  last_run_at_ms bigint,
  last_report jsonb,
  constraint ff_duty_pkey PRIMARY KEY (duty, filter)
)
with (
  fillfactor=50
);

create table flowfabric.ff_edge (
  flow_id uuid not null,
  edge_id uuid not null,
  upstream_id uuid not null,
  downstream_id uuid not null,
  created_at_ms bigint not null,
  resolved_generation integer,
  resolution flowfabric.ff_edge_resolution,
  kind flowfabric.ff_edge_kind not null,
  created_by text not null,
  data_ref text collate "C",
  constraint ff_edge_pkey PRIMARY KEY (flow_id, edge_id),
  constraint ff_edge_resolved CHECK (((resolution IS NULL) = (resolved_generation IS NULL)))
)
with (
  fillfactor=70
);
CREATE INDEX ff_edge_downstream ON flowfabric.ff_edge USING btree (downstream_id, edge_id);
CREATE INDEX ff_edge_upstream ON flowfabric.ff_edge USING btree (upstream_id, edge_id);

create table flowfabric.ff_edge_group (
  downstream_id uuid not null,
  flow_id uuid not null,
  fired_at_ms bigint,
  quorum integer,
  total integer not null,
  satisfied integer not null default 0,
  failed integer not null default 0,
  skipped integer not null default 0,
  policy flowfabric.ff_join_policy not null,
  on_satisfied flowfabric.ff_on_satisfied not null,
  state flowfabric.ff_group_state not null default 'pending'::flowfabric.ff_group_state,
  is_sealed boolean not null,
  constraint ff_edge_group_pkey PRIMARY KEY (downstream_id),
  constraint ff_edge_group_counters CHECK (((satisfied >= 0) AND (failed >= 0) AND (skipped >= 0) AND (((satisfied + failed) + skipped) <= total))),
  constraint ff_edge_group_fired CHECK (((fired_at_ms IS NULL) = (state = 'pending'::flowfabric.ff_group_state))),
  constraint ff_edge_group_quorum CHECK ((((quorum IS NULL) = (policy = 'all_of'::flowfabric.ff_join_policy)) AND (quorum >= 1)))
)
with (
  fillfactor=50
);
CREATE INDEX ff_edge_group_flow ON flowfabric.ff_edge_group USING btree (flow_id, downstream_id);

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
CREATE INDEX ff_event_flow ON flowfabric.ff_event USING btree (flow_id, event_id) WHERE (event_type = ANY (ARRAY['flow_created'::flowfabric.ff_event_type, 'flow_changed'::flowfabric.ff_event_type, 'flow_closed'::flowfabric.ff_event_type, 'flow_cancel_requested'::flowfabric.ff_event_type, 'flow_ended'::flowfabric.ff_event_type, 'flow_reopened'::flowfabric.ff_event_type]));

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
  stop_outcome flowfabric.ff_terminal_outcome,
  queue_id integer not null,
  attempt_index integer not null default 0,
  total_attempt_count integer not null default 0,
  retry_count integer not null default 0,
  replay_count integer not null default 0,
  lease_reclaim_count integer not null default 0,
  consecutive_expiry_count integer not null default 0,
  generation integer not null default 0,
  attached integer not null default 0,
  lifecycle_phase flowfabric.ff_lifecycle_phase not null,
  ownership_state flowfabric.ff_ownership_state not null,
  eligibility_state flowfabric.ff_eligibility_state not null,
  attempt_state flowfabric.ff_attempt_state not null,
  terminal_outcome flowfabric.ff_terminal_outcome not null default 'none'::flowfabric.ff_terminal_outcome,
  interruption flowfabric.ff_interruption not null default 'none'::flowfabric.ff_interruption,
  public_state flowfabric.ff_public_state generated always as (flowfabric.ff_exec_core_state(lifecycle_phase, ownership_state, eligibility_state, attempt_state, terminal_outcome, interruption, terminal_at_ms, delay_until_ms, parked_at_ms, parked_state, deadline_at_ms, attempt_deadline_at_ms, cancel_deadline_at_ms, created_at_ms, last_mutation_at_ms, attempt_index, total_attempt_count, partition_key, priority, lease_id)) stored,
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
  failure_reason text,
  cancellation_reason text,
  cancelled_by text,
  constraint ff_exec_core_pkey PRIMARY KEY (execution_id),
  constraint ff_exec_core_vector CHECK ((public_state IS NOT NULL))
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
  child_depth smallint,
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

create table flowfabric.ff_flow_core (
  flow_id uuid not null,
  root_flow_id uuid not null,
  member_id uuid,
  created_at_ms bigint not null,
  last_mutation_at_ms bigint not null,
  closed_at_ms bigint,
  cancelled_at_ms bigint,
  ended_at_ms bigint,
  graph_revision bigint not null default 0,
  member_count integer not null default 0,
  edge_count integer not null default 0,
  success_count integer not null default 0,
  failed_count integer not null default 0,
  cancelled_count integer not null default 0,
  expired_count integer not null default 0,
  skipped_count integer not null default 0,
  outcome flowfabric.ff_terminal_outcome not null default 'none'::flowfabric.ff_terminal_outcome,
  cancel_policy flowfabric.ff_cancel_policy,
  is_held boolean not null default false,
  partition_key smallint not null,
  namespace text collate "C" not null,
  flow_kind text collate "C" not null,
  creator_identity text not null,
  cancel_reason text,
  cancelled_by text,
  request_hash bytea,
  constraint ff_flow_core_pkey PRIMARY KEY (flow_id),
  constraint ff_flow_core_cancel CHECK (((cancelled_at_ms IS NULL) = (cancel_policy IS NULL))),
  constraint ff_flow_core_end CHECK (((ended_at_ms IS NULL) = (outcome = 'none'::flowfabric.ff_terminal_outcome)))
)
with (
  autovacuum_vacuum_scale_factor=0,
  autovacuum_vacuum_threshold=1000,
  fillfactor=50
);
CREATE INDEX ff_flow_core_created ON flowfabric.ff_flow_core USING btree (created_at_ms, flow_id);
CREATE INDEX ff_flow_core_end ON flowfabric.ff_flow_core USING btree (ended_at_ms, flow_id) WHERE (ended_at_ms IS NOT NULL);
CREATE INDEX ff_flow_core_member ON flowfabric.ff_flow_core USING btree (member_id) WHERE (member_id IS NOT NULL);
CREATE INDEX ff_flow_core_namespace ON flowfabric.ff_flow_core USING btree (namespace, created_at_ms, flow_id);
CREATE INDEX ff_flow_core_partition ON flowfabric.ff_flow_core USING btree (partition_key, flow_id);
CREATE INDEX ff_flow_core_root ON flowfabric.ff_flow_core USING btree (root_flow_id, flow_id);

create table flowfabric.ff_flow_member (
  flow_id uuid not null,
  execution_id uuid not null,
  sub_flow_id uuid,
  member_name text collate "C" not null,
  constraint ff_flow_member_pkey PRIMARY KEY (flow_id, execution_id),
  constraint ff_flow_member_name UNIQUE (flow_id, member_name)
);

create table flowfabric.ff_flow_tag (
  flow_id uuid not null,
  created_at_ms bigint not null,
  namespace text collate "C" not null,
  tag_key text collate "C" not null,
  tag_value text collate "C" not null,
  constraint ff_flow_tag_pkey PRIMARY KEY (flow_id, tag_key)
);
CREATE INDEX ff_flow_tag_value ON flowfabric.ff_flow_tag USING btree (tag_key, tag_value, namespace, created_at_ms, flow_id);

create table flowfabric.ff_grant (
  execution_id uuid not null,
  grant_id uuid not null,
  granted_at_ms bigint not null,
  expires_at_ms bigint not null,
  worker_id text not null,
  worker_instance_id text not null,
  constraint ff_grant_pkey PRIMARY KEY (execution_id)
);
CREATE INDEX ff_grant_expiry ON flowfabric.ff_grant USING btree (expires_at_ms) WHERE (expires_at_ms > 0);

create table flowfabric.ff_idempotency_key (
  namespace text collate "C" not null,
  scope_id uuid not null,
  idempotency_key text collate "C" not null,
  execution_id uuid not null,
  expires_at_ms bigint not null,
  request_hash bytea not null,
  constraint ff_idempotency_key_pkey PRIMARY KEY (namespace, scope_id, idempotency_key)
);
CREATE INDEX ff_idempotency_key_expiry ON flowfabric.ff_idempotency_key USING btree (expires_at_ms) WHERE (expires_at_ms > 0);

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
  is_started boolean not null default true,
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
CREATE INDEX ff_lease_expiry ON flowfabric.ff_lease USING btree (expires_at_ms, execution_id) WHERE (expires_at_ms > 0);
CREATE INDEX ff_lease_instance ON flowfabric.ff_lease USING btree (worker_instance_id);

create table flowfabric.ff_migration (
  version integer not null,
  name text not null,
  checksum text not null,
  oldest_code text not null,
  applied_at_ms bigint not null,
  constraint ff_migration_pkey PRIMARY KEY (version)
);

create table flowfabric.ff_policy (
  policy_id integer not null generated always as identity,
  policy_hash bytea not null,
  policy jsonb not null,
  constraint ff_policy_pkey PRIMARY KEY (policy_id),
  constraint ff_policy_policy_hash_key UNIQUE (policy_hash)
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

create table flowfabric.ff_request (
  execution_id uuid not null,
  request_id text collate "C" not null,
  answer jsonb not null,
  answered_at_ms bigint not null,
  constraint ff_request_pkey PRIMARY KEY (execution_id, request_id)
);

create table flowfabric.ff_schedule (
  schedule_id uuid not null,
  created_at_ms bigint not null,
  changed_at_ms bigint not null,
  next_fire_at_ms bigint,
  planned_at_ms bigint,
  paused_at_ms bigint,
  until_ms bigint,
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
  queued_at_ms bigint[] not null default '{}'::bigint[],
  request_hash bytea not null,
  deadline_after_ms bigint,
  queue_id integer not null,
  priority smallint not null,
  payload bytea,
  payload_encoding text,
  policy jsonb,
  tags jsonb,
  given jsonb not null,
  constraint ff_schedule_pkey PRIMARY KEY (schedule_id),
  constraint ff_schedule_name UNIQUE (namespace, schedule_name),
  constraint ff_schedule_timer CHECK (((next_fire_at_ms IS NULL) = ((paused_at_ms IS NOT NULL) OR ((planned_at_ms IS NULL) AND (cardinality(queued_at_ms) = 0))))),
  constraint ff_schedule_timing CHECK ((((cron IS NULL) = (every_ms IS NOT NULL)) AND ((cron IS NULL) = (time_zone IS NULL)) AND ((every_ms IS NULL) = (anchor_at_ms IS NULL))))
)
with (
  autovacuum_vacuum_scale_factor=0,
  autovacuum_vacuum_threshold=1000,
  fillfactor=50
);
CREATE INDEX ff_schedule_fire ON flowfabric.ff_schedule USING btree (next_fire_at_ms, schedule_id) WHERE (next_fire_at_ms IS NOT NULL);

create table flowfabric.ff_set_aside (
  duty text not null,
  subject_id uuid not null,
  failure_count integer not null,
  retry_at_ms bigint not null,
  error text not null,
  constraint ff_set_aside_pkey PRIMARY KEY (duty, subject_id)
);
CREATE INDEX ff_set_aside_subject ON flowfabric.ff_set_aside USING btree (subject_id);

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
  received_count integer not null default 0,
  waitpoint_key text collate "C",
  signal_name text collate "C" not null,
  signal_category text not null,
  source_type flowfabric.ff_source_type not null,
  source_identity text not null,
  claimed_type text,
  claimed_identity text,
  correlation_id text,
  idempotency_key text collate "C",
  payload bytea,
  payload_encoding text,
  constraint ff_signal_pkey PRIMARY KEY (execution_id, signal_no)
)
with (
  fillfactor=90
);
CREATE UNIQUE INDEX ff_signal_idempotency ON flowfabric.ff_signal USING btree (execution_id, idempotency_key, COALESCE(waitpoint_id, '00000000-0000-0000-0000-000000000000'::uuid), generation) WHERE (idempotency_key IS NOT NULL);
CREATE INDEX ff_signal_open ON flowfabric.ff_signal USING btree (execution_id, COALESCE(waitpoint_id, '00000000-0000-0000-0000-000000000000'::uuid), generation) WHERE (taken_at_ms IS NULL);

create table flowfabric.ff_step (
  execution_id uuid not null,
  origin_id uuid,
  recorded_at_ms bigint not null,
  due_at_ms bigint,
  lease_epoch bigint not null,
  total_bytes bigint not null,
  step_no bigint not null,
  total_count integer not null,
  generation integer not null,
  attempt_index integer not null,
  place integer not null,
  step_index integer not null,
  try_count integer not null,
  duration_ms bigint,
  made_no integer,
  kind flowfabric.ff_step_kind not null,
  state flowfabric.ff_step_state not null,
  step_name text collate "C" not null,
  result bytea,
  result_encoding text,
  constraint ff_step_pkey PRIMARY KEY (execution_id, generation, step_name, step_index)
);
CREATE UNIQUE INDEX ff_step_order ON flowfabric.ff_step USING btree (execution_id, step_no) WHERE (step_no > 0);

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
  keeps_waitpoints boolean not null default false,
  requested_by text not null,
  close_reason text,
  idempotency_key text,
  condition jsonb not null,
  outcome jsonb,
  signal_nos bigint[],
  constraint ff_suspension_current_pkey PRIMARY KEY (execution_id),
  constraint ff_suspension_current_closed CHECK ((((closed_at_ms IS NULL) = (close_reason IS NULL)) AND ((closed_at_ms IS NULL) OR ((timeout_at_ms IS NULL) AND (wake_at_ms IS NULL)))))
)
with (
  autovacuum_vacuum_scale_factor=0.01,
  autovacuum_vacuum_threshold=2000,
  fillfactor=30
);
CREATE INDEX ff_suspension_current_timeout ON flowfabric.ff_suspension_current USING btree (timeout_at_ms, execution_id) WHERE (timeout_at_ms IS NOT NULL);
CREATE INDEX ff_suspension_current_wake ON flowfabric.ff_suspension_current USING btree (wake_at_ms, execution_id) WHERE (wake_at_ms IS NOT NULL);

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
  constraint ff_task_pkey PRIMARY KEY (namespace, execution_kind, task_version)
);

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
  is_made_ahead boolean not null default false,
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
  fillfactor=40
);
CREATE INDEX ff_waitpoint_pending_execution ON flowfabric.ff_waitpoint_pending USING btree (execution_id, suspension_id);
CREATE INDEX ff_waitpoint_pending_expiry ON flowfabric.ff_waitpoint_pending USING btree (expires_at_ms, waitpoint_id) WHERE (expires_at_ms IS NOT NULL);

create table flowfabric.ff_worker (
  namespace text collate "C" not null,
  worker_instance_id text collate "C" not null,
  registered_at_ms bigint not null,
  heartbeat_at_ms bigint not null,
  expires_at_ms bigint not null,
  ttl_ms bigint not null,
  pid integer,
  worker_id text not null,
  host text,
  lanes text[] not null,
  kinds text[],
  versions text[] not null,
  capabilities text[] not null,
  constraint ff_worker_pkey PRIMARY KEY (namespace, worker_instance_id)
)
with (
  autovacuum_vacuum_scale_factor=0,
  autovacuum_vacuum_threshold=1000,
  fillfactor=50
);
CREATE INDEX ff_worker_expiry ON flowfabric.ff_worker USING btree (expires_at_ms);

create view flowfabric.ff_completion_event as
SELECT event_id,
    partition_key,
    execution_id,
    flow_id,
    generation,
    outcome,
    reason,
    namespace,
    split_part(actor, chr(31), 1) AS actor,
    NULLIF(split_part(actor, chr(31), 2), ''::text) AS key_id,
    NULLIF(split_part(actor, chr(31), 3), ''::text) AS on_behalf_of,
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
    split_part(actor, chr(31), 1) AS actor,
    NULLIF(split_part(actor, chr(31), 2), ''::text) AS key_id,
    NULLIF(split_part(actor, chr(31), 3), ''::text) AS on_behalf_of,
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
    split_part(actor, chr(31), 1) AS actor,
    NULLIF(split_part(actor, chr(31), 2), ''::text) AS key_id,
    NULLIF(split_part(actor, chr(31), 3), ''::text) AS on_behalf_of,
    occurred_at_ms
   FROM flowfabric.ff_event
  WHERE (event_type = 'signalled'::flowfabric.ff_event_type);
