// Writes one execution with all its rows; the factory decides which rows a state needs.
import { createHash, randomUUID } from 'node:crypto'
import { serverTime } from '../../src/engine/kernel/server-time.ts'
import { attached } from '../../src/model/attached.ts'
import { mintExecutionId, parseExecutionId, parseFlowId } from '../../src/model/id.ts'
import type { ExecutionId, FlowId } from '../../src/model/id.ts'
import type { Queries, Sql } from '../../src/sql/sql.ts'
import { insert, insertNew, rows, type Row } from './raw.ts'

export interface Traits {
  readonly executionId?: ExecutionId
  readonly namespace?: string
  readonly lane?: string
  readonly kind?: string
  readonly priority?: number
  readonly tags?: Readonly<Record<string, string>>
  readonly createdAt?: number
  readonly deadlineAt?: number
  readonly flowId?: FlowId
  readonly parentId?: ExecutionId
}

/** Values that the parts of a state share. */
export interface Moment {
  readonly now: number
  readonly leaseId: string
}

export interface Parts {
  readonly core: Row
  readonly isReady?: boolean
  readonly attempt?: Row
  readonly lease?: Row
  readonly result?: Row
  readonly event?: Row
  /** Its waitpoints are written with it. */
  readonly suspension?: Row & { readonly suspension_id: string }
  readonly waitpointKeys?: readonly string[]
}

export function writer(sql: Sql) {
  return async (traits: Traits, partsAt: (at: Moment) => Parts): Promise<ExecutionId> => {
    const { namespace = 'default', lane = 'default', kind = 'anything', priority = 0, flowId, parentId } = traits
    const executionId =
      traits.executionId ?? mintExecutionId({ ...(flowId && { flowId }), ...(parentId && { parentId }) })
    const { partition, uuid } = parseExecutionId(executionId)
    const queueId = await queueOf(sql, namespace, lane, kind)
    const now = await serverTime(sql)
    const created = traits.createdAt ?? now
    const parts = partsAt({ now, leaseId: randomUUID() })
    const parentUuid = parentId === undefined ? null : parseExecutionId(parentId).uuid
    await sql.transaction(async (tx) => {
      await insert(tx, 'ff_exec_core', {
        execution_id: uuid,
        partition_key: partition,
        namespace,
        queue_id: queueId,
        priority,
        rank: created,
        created_at_ms: created,
        last_mutation_at_ms: now,
        deadline_at_ms: traits.deadlineAt ?? null,
        flow_id: flowId === undefined ? null : parseFlowId(flowId).uuid,
        parent_id: parentUuid,
        attached:
          (flowId === undefined ? 0 : attached.flow) |
          (parentId === undefined ? 0 : attached.parent) |
          (traits.tags === undefined ? 0 : attached.tags) |
          (parts.suspension === undefined ? 0 : attached.suspension),
        ...parts.core,
      })
      await insert(tx, 'ff_exec_input', {
        execution_id: uuid,
        partition_key: partition,
        queue_id: queueId,
        parent_id: parentUuid,
        created_at_ms: created,
        creator_identity: 'factory',
      })
      for (const [key, value] of Object.entries(traits.tags ?? {})) {
        const tag = { tag_key: key, tag_value: value, execution_id: uuid, created_at_ms: created, namespace }
        await insert(tx, 'ff_exec_tag', tag)
      }
      const resumed = ['signalled', 'timed_out', 'children'].includes(String(parts.core['interruption']))
      const ready = { queue_id: queueId, neg_priority: -priority, resumed, rank: created, execution_id: uuid }
      if (parts.isReady) await insert(tx, 'ff_ready', ready)
      await insertParts(tx, parts, { execution_id: uuid, partition_key: partition, namespace })
    })
    return executionId
  }
}

// No version and no capabilities; the digest is that of an empty list.
async function queueOf(sql: Sql, namespace: string, lane: string, kind: string): Promise<number> {
  const queue = { namespace, lane_id: lane, execution_kind: kind }
  await insertNew(sql, 'ff_lane_registry', { namespace, lane_id: lane, registered_at_ms: 0, registered_by: 'factory' })
  await insertNew(sql, 'ff_queue', {
    ...queue,
    task_version: '',
    required_capabilities: [],
    capability_digest: createHash('sha256').update('').digest('hex').slice(0, 32),
    created_at_ms: 0,
  })
  const found = await rows(
    sql,
    `select queue_id, namespace, lane_id, execution_kind from flowfabric.ff_queue where task_version = '' and required_capabilities = '{}'`,
  )
  const match = found.find((row) => Object.entries(queue).every(([column, value]) => row[column] === value))
  return match!['queue_id'] as number
}

async function insertParts(tx: Queries, parts: Parts, { execution_id, partition_key, namespace }: Row): Promise<void> {
  const { lease_id = null, lease_epoch = 0, attempt_index = 0, started_at_ms = null } = parts.core
  const attempt = {
    execution_id,
    attempt_index,
    generation: 0,
    attempt_type: 'initial',
    lease_id,
    lease_epoch,
    started_at_ms,
  }
  if (parts.attempt) await insert(tx, 'ff_attempt', { ...attempt, ...parts.attempt })
  if (parts.lease) await insert(tx, 'ff_lease', { execution_id, lease_id, lease_epoch, attempt_index, ...parts.lease })
  const result = { execution_id, generation: 0, attempt_index, created_at_ms: parts.core['terminal_at_ms'] }
  if (parts.result) await insert(tx, 'ff_exec_result', { ...result, ...parts.result })
  if (parts.suspension) {
    const place = { execution_id, partition_key }
    await insert(tx, 'ff_suspension_current', { ...place, generation: 0, attempt_index, ...parts.suspension })
    for (const key of parts.waitpointKeys ?? []) {
      await insert(tx, 'ff_waitpoint_pending', {
        ...place,
        waitpoint_id: randomUUID(),
        suspension_id: parts.suspension.suspension_id,
        created_at_ms: started_at_ms,
        activated_at_ms: started_at_ms,
        state: 'active',
        waitpoint_key: key,
        token_kid: 'factory',
        required_signal_names: [],
      })
    }
  }
  if (parts.event)
    await insert(tx, 'ff_event', { execution_id, generation: 0, partition_key, namespace, ...parts.event })
}
