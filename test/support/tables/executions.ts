// The stored rows of executions, and of their parts.
import { Table } from '../table.ts'

/** The hot row. */
export const executions = new Table(
  'ff_exec_core',
  {
    execution_id: 'uuid',
    created_at_ms: 'int8',
    last_mutation_at_ms: 'int8',
    rank: 'int8',
    lease_epoch: 'int8',
    started_at_ms: 'int8?',
    terminal_at_ms: 'int8?',
    delay_until_ms: 'int8?',
    parked_at_ms: 'int8?',
    deadline_at_ms: 'int8?',
    attempt_deadline_at_ms: 'int8?',
    cancel_requested_at_ms: 'int8?',
    cancel_deadline_at_ms: 'int8?',
    stop_outcome: 'text?',
    queue_id: 'int4',
    attempt_index: 'int4',
    total_attempt_count: 'int4',
    retry_count: 'int4',
    replay_count: 'int4',
    lease_reclaim_count: 'int4',
    consecutive_expiry_count: 'int4',
    generation: 'int4',
    attached: 'int4',
    lifecycle_phase: 'text',
    ownership_state: 'text',
    eligibility_state: 'text',
    attempt_state: 'text',
    terminal_outcome: 'text',
    interruption: 'text',
    public_state: 'text',
    parked_state: 'text?',
    on_parent_end: 'text?',
    partition_key: 'int2',
    priority: 'int2',
    lease_id: 'uuid?',
    flow_id: 'uuid?',
    parent_id: 'uuid?',
    schedule_id: 'uuid?',
    namespace: 'text',
    task_version: 'text?',
    failure_reason: 'text?',
    cancellation_reason: 'text?',
    cancelled_by: 'text?',
  },
  'created_at_ms, execution_id',
)

/** The cold row. */
export const inputs = new Table(
  'ff_exec_input',
  {
    partition_key: 'int2',
    execution_id: 'uuid',
    created_at_ms: 'int8',
    delay_until_ms: 'int8?',
    deadline_at_ms: 'int8?',
    deadline_after_ms: 'int8?',
    queue_id: 'int4',
    parent_id: 'uuid?',
    child_depth: 'int2?',
    creator_identity: 'text',
    idempotency_key: 'text?',
    payload: 'bytea?',
    payload_encoding: 'text?',
    policy: 'jsonb?',
  },
  'created_at_ms, execution_id',
)

export const results = new Table(
  'ff_exec_result',
  {
    execution_id: 'uuid',
    generation: 'int4',
    attempt_index: 'int4',
    created_at_ms: 'int8',
    result: 'bytea?',
    result_encoding: 'text?',
  },
  'created_at_ms, execution_id, generation',
)

export const executionTags = new Table(
  'ff_exec_tag',
  {
    execution_id: 'uuid',
    created_at_ms: 'int8',
    namespace: 'text',
    tag_key: 'text',
    tag_value: 'text',
  },
  'execution_id, tag_key',
)

export const idempotencyKeys = new Table(
  'ff_idempotency_key',
  {
    namespace: 'text',
    scope_id: 'uuid',
    idempotency_key: 'text',
    execution_id: 'uuid',
    expires_at_ms: 'int8',
    request_hash: 'bytea',
  },
  'namespace, scope_id, idempotency_key',
)

export const attempts = new Table(
  'ff_attempt',
  {
    execution_id: 'uuid',
    attempt_index: 'int4',
    generation: 'int4',
    attempt_type: 'text',
    lease_id: 'uuid?',
    lease_epoch: 'int8',
    started_at_ms: 'int8',
    ended_at_ms: 'int8?',
    outcome: 'text',
    worker_id: 'text?',
    worker_instance_id: 'text?',
    failure_reason: 'text?',
    failure_category: 'text?',
    error: 'bytea?',
    error_encoding: 'text?',
    next_at_ms: 'int8?',
  },
  'execution_id, attempt_index',
)

export const steps = new Table(
  'ff_step',
  {
    execution_id: 'uuid',
    origin_id: 'uuid?',
    recorded_at_ms: 'int8',
    due_at_ms: 'int8?',
    lease_epoch: 'int8',
    total_bytes: 'int8',
    step_no: 'int8',
    total_count: 'int4',
    generation: 'int4',
    attempt_index: 'int4',
    place: 'int4',
    step_index: 'int4',
    try_count: 'int4',
    duration_ms: 'int8?',
    made_no: 'int4?',
    kind: 'text',
    state: 'text',
    step_name: 'text',
    result: 'bytea?',
    result_encoding: 'text?',
  },
  'execution_id, step_no',
)

export const progress = new Table(
  'ff_progress',
  {
    execution_id: 'uuid',
    updated_at_ms: 'int8',
    percent: 'int2?',
    message: 'text?',
  },
  'execution_id',
)
