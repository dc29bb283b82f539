// The stored rows of the engine's own work: the log, duties, schedules, keys, migrations.
import { Table } from '../table.ts'

export const events = new Table(
  'ff_event',
  {
    event_id: 'int8',
    occurred_at_ms: 'int8',
    lease_epoch: 'int8?',
    execution_id: 'uuid?',
    flow_id: 'uuid?',
    lease_id: 'uuid?',
    attempt_index: 'int4?',
    generation: 'int4?',
    event_type: 'text',
    lease_effect: 'text?',
    outcome: 'text?',
    partition_key: 'int2',
    namespace: 'text',
    actor: 'text',
    worker_instance_id: 'text?',
    reason: 'text?',
    details: 'jsonb?',
  },
  'event_id',
)

/** The events by which executions ended. */
export const endings = new Table(
  'ff_completion_event',
  {
    event_id: 'int8',
    partition_key: 'int2',
    execution_id: 'uuid',
    flow_id: 'uuid?',
    generation: 'int4?',
    outcome: 'text?',
    reason: 'text?',
    namespace: 'text',
    actor: 'text',
    key_id: 'text?',
    on_behalf_of: 'text?',
    occurred_at_ms: 'int8',
  },
  'event_id',
)

export const leaseEvents = new Table(
  'ff_lease_event',
  {
    event_id: 'int8',
    partition_key: 'int2',
    execution_id: 'uuid',
    attempt_index: 'int4?',
    lease_id: 'uuid?',
    lease_epoch: 'int8?',
    worker_instance_id: 'text?',
    event_type: 'text',
    reason: 'text?',
    namespace: 'text',
    actor: 'text',
    key_id: 'text?',
    on_behalf_of: 'text?',
    occurred_at_ms: 'int8',
  },
  'event_id',
)

export const signalEvents = new Table(
  'ff_signal_event',
  {
    event_id: 'int8',
    partition_key: 'int2',
    execution_id: 'uuid',
    reason: 'text?',
    details: 'jsonb?',
    namespace: 'text',
    actor: 'text',
    key_id: 'text?',
    on_behalf_of: 'text?',
    occurred_at_ms: 'int8',
  },
  'event_id',
)

export const schedules = new Table(
  'ff_schedule',
  {
    schedule_id: 'uuid',
    created_at_ms: 'int8',
    changed_at_ms: 'int8',
    next_fire_at_ms: 'int8?',
    planned_at_ms: 'int8?',
    paused_at_ms: 'int8?',
    until_ms: 'int8?',
    every_ms: 'int8?',
    anchor_at_ms: 'int8?',
    jitter_ms: 'int8',
    last_planned_at_ms: 'int8?',
    last_fired_at_ms: 'int8?',
    fired_count: 'int8',
    skipped_count: 'int8',
    last_execution_id: 'uuid?',
    catch_up_limit: 'int4',
    overlap: 'text',
    catch_up: 'text',
    partition_key: 'int2',
    namespace: 'text',
    schedule_name: 'text',
    cron: 'text?',
    time_zone: 'text?',
    queued_at_ms: 'int8[]',
    request_hash: 'bytea',
    deadline_after_ms: 'int8?',
    queue_id: 'int4',
    priority: 'int2',
    payload: 'bytea?',
    payload_encoding: 'text?',
    policy: 'jsonb?',
    tags: 'jsonb?',
    given: 'jsonb',
  },
  'namespace, schedule_name',
)

export const duties = new Table(
  'ff_duty',
  {
    duty: 'text',
    filter: 'text',
    next_at_ms: 'int8',
    taken_until_ms: 'int8?',
    taken_by: 'text?',
    last_run_at_ms: 'int8?',
    last_report: 'jsonb?',
  },
  'duty, filter',
)

/** The quarantined rows: a duty skips them, because the database refused them. */
export const quarantine = new Table(
  'ff_set_aside',
  {
    duty: 'text',
    subject_id: 'uuid',
    failure_count: 'int4',
    retry_at_ms: 'int8',
    error: 'text',
  },
  'duty, subject_id',
)

export const apiKeys = new Table(
  'ff_api_key',
  {
    key_id: 'text',
    namespace: 'text',
    created_at_ms: 'int8',
    last_used_at_ms: 'int8?',
    revoked_at_ms: 'int8?',
    expires_at_ms: 'int8?',
    requests_per_second: 'int4?',
    name: 'text',
    created_by: 'text',
    scopes: 'text[]',
    secret_hash: 'bytea',
  },
  'key_id',
)

export const migrations = new Table(
  'ff_migration',
  {
    version: 'int4',
    name: 'text',
    checksum: 'text',
    oldest_code: 'text',
    applied_at_ms: 'int8',
  },
  'version',
)
