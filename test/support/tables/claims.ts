// The stored rows by which executions are claimed and leased.
import { Table } from '../table.ts'

export const lanes = new Table(
  'ff_lane_registry',
  {
    namespace: 'text',
    lane_id: 'text',
    lane_state: 'text',
    registered_at_ms: 'int8',
    registered_by: 'text',
  },
  'namespace, lane_id',
)

export const queues = new Table(
  'ff_queue',
  {
    queue_id: 'int4',
    namespace: 'text',
    lane_id: 'text',
    execution_kind: 'text',
    task_version: 'text',
    required_capabilities: 'text[]',
    capability_digest: 'uuid',
    created_at_ms: 'int8',
  },
  'queue_id',
)

/** In the order of claims. */
export const ready = new Table(
  'ff_ready',
  {
    queue_id: 'int4',
    neg_priority: 'int2',
    resumed: 'bool',
    rank: 'int8',
    execution_id: 'uuid',
  },
  'queue_id, neg_priority, rank, execution_id',
)

export const grants = new Table(
  'ff_grant',
  {
    execution_id: 'uuid',
    grant_id: 'uuid',
    granted_at_ms: 'int8',
    expires_at_ms: 'int8',
    worker_id: 'text',
    worker_instance_id: 'text',
  },
  'granted_at_ms, execution_id',
)

export const leases = new Table(
  'ff_lease',
  {
    execution_id: 'uuid',
    lease_id: 'uuid',
    lease_epoch: 'int8',
    acquired_at_ms: 'int8',
    expires_at_ms: 'int8',
    renewed_at_ms: 'int8?',
    attempt_started_at_ms: 'int8',
    attempt_index: 'int4',
    attempt_type: 'text',
    is_continued: 'bool',
    is_started: 'bool',
    worker_id: 'text',
    worker_instance_id: 'text',
  },
  'acquired_at_ms, execution_id',
)

export const workers = new Table(
  'ff_worker',
  {
    namespace: 'text',
    worker_instance_id: 'text',
    registered_at_ms: 'int8',
    heartbeat_at_ms: 'int8',
    expires_at_ms: 'int8',
    ttl_ms: 'int8',
    pid: 'int4?',
    worker_id: 'text',
    host: 'text?',
    lanes: 'text[]',
    kinds: 'text[]',
    versions: 'text[]',
    capabilities: 'text[]',
  },
  'namespace, worker_instance_id',
)

export const tasks = new Table(
  'ff_task',
  {
    namespace: 'text',
    execution_kind: 'text',
    task_version: 'text',
    registered_at_ms: 'int8',
    deadline_after_ms: 'int8?',
    policy_id: 'int4?',
    lane_id: 'text?',
    registered_by: 'text',
    tags: 'jsonb?',
  },
  'namespace, execution_kind, task_version',
)

export const policies = new Table(
  'ff_policy',
  {
    policy_id: 'int4',
    policy_hash: 'bytea',
    policy: 'jsonb',
  },
  'policy_id',
)
