// The stored rows of flows, and of the work that an ending owes others.
import { Table } from '../table.ts'

export const flows = new Table(
  'ff_flow_core',
  {
    flow_id: 'uuid',
    root_flow_id: 'uuid',
    member_id: 'uuid?',
    created_at_ms: 'int8',
    last_mutation_at_ms: 'int8',
    closed_at_ms: 'int8?',
    cancelled_at_ms: 'int8?',
    ended_at_ms: 'int8?',
    graph_revision: 'int8',
    member_count: 'int4',
    edge_count: 'int4',
    success_count: 'int4',
    failed_count: 'int4',
    cancelled_count: 'int4',
    expired_count: 'int4',
    skipped_count: 'int4',
    outcome: 'text',
    cancel_policy: 'text?',
    is_held: 'bool',
    partition_key: 'int2',
    namespace: 'text',
    flow_kind: 'text',
    creator_identity: 'text',
    cancel_reason: 'text?',
    cancelled_by: 'text?',
    request_hash: 'bytea?',
  },
  'flow_kind, flow_id',
)

export const members = new Table(
  'ff_flow_member',
  {
    flow_id: 'uuid',
    execution_id: 'uuid',
    sub_flow_id: 'uuid?',
    member_name: 'text',
  },
  'flow_id, member_name',
)

export const edges = new Table(
  'ff_edge',
  {
    flow_id: 'uuid',
    edge_id: 'uuid',
    upstream_id: 'uuid',
    downstream_id: 'uuid',
    created_at_ms: 'int8',
    resolved_generation: 'int4?',
    resolution: 'text?',
    kind: 'text',
    created_by: 'text',
    data_ref: 'text?',
  },
  'flow_id, edge_id',
)

export const edgeGroups = new Table(
  'ff_edge_group',
  {
    downstream_id: 'uuid',
    flow_id: 'uuid',
    fired_at_ms: 'int8?',
    quorum: 'int4?',
    total: 'int4',
    satisfied: 'int4',
    failed: 'int4',
    skipped: 'int4',
    policy: 'text',
    on_satisfied: 'text',
    state: 'text',
    is_sealed: 'bool',
  },
  'flow_id, downstream_id',
)

export const flowTags = new Table(
  'ff_flow_tag',
  {
    flow_id: 'uuid',
    created_at_ms: 'int8',
    namespace: 'text',
    tag_key: 'text',
    tag_value: 'text',
  },
  'flow_id, tag_key',
)

export const dispatches = new Table(
  'ff_dispatch',
  {
    execution_id: 'uuid',
    generation: 'int4',
    flow_id: 'uuid?',
    parent_id: 'uuid?',
    created_at_ms: 'int8',
    outcome: 'text',
    has_children: 'bool',
    is_counted: 'bool',
  },
  'created_at_ms, execution_id',
)

export const cancelBacklog = new Table(
  'ff_cancel_backlog',
  {
    execution_id: 'uuid',
    generation: 'int4',
    flow_id: 'uuid?',
    created_at_ms: 'int8',
    reason: 'text',
    actor: 'text',
  },
  'created_at_ms, execution_id',
)
