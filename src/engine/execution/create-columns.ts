// New executions, as the arrays of the create statements.
import type { QueueRegistry } from '../queue/intern.ts'
import type { NewExecution } from '../transition/new-execution.ts'

const rowOverheadBytes = 512

export function bytesOf({ payload, tags, policy, idempotencyKey, creator }: NewExecution): number {
  const words =
    (tags === null ? 0 : JSON.stringify(tags).length) + (policy === null ? 0 : JSON.stringify(policy).length)
  return rowOverheadBytes + (payload?.byteLength ?? 0) + words + (idempotencyKey?.length ?? 0) + creator.length
}

export async function columnsOf(items: readonly NewExecution[], queues: QueueRegistry) {
  return {
    execution_ids: items.map((item) => item.uuid),
    partition_keys: items.map((item) => item.partition),
    namespaces: items.map((item) => item.queue.namespace),
    queue_ids: await queues.idsOf(items.map((item) => item.queue)),
    priorities: items.map((item) => item.priority),
    creators: items.map((item) => item.creator),
    payloads: items.map((item) => item.payload),
    payload_encodings: items.map((item) => item.payloadEncoding),
    task_versions: sparse(items, (item) => item.queue.version),
    delays_ms: sparse(items, (item) => item.delayMs),
    delays_until_ms: sparse(items, (item) => item.delayUntil),
    deadlines_ms: sparse(items, (item) => item.deadlineMs),
    deadlines_at_ms: sparse(items, (item) => item.deadlineAt),
    policies: sparse(items, (item) => item.policy),
  }
}

export const keyColumns = {
  tags: 'jsonb?[]',
  idempotency_keys: 'text?[]',
  idempotency_ttls_ms: 'int8?[]',
  request_hashes: 'bytea?[]',
} as const

export function keyColumnsOf(items: readonly NewExecution[]) {
  return {
    tags: sparse(items, (item) => item.tags),
    idempotency_keys: sparse(items, (item) => item.idempotencyKey),
    idempotency_ttls_ms: sparse(items, (item) => item.idempotencyTtlMs),
    request_hashes: sparse(items, (item) => item.requestHash),
  }
}

// `unnest` fills a shorter array up with nulls. Most sets use few of these columns, and an empty array costs nothing.
function sparse<T>(items: readonly NewExecution[], column: (item: NewExecution) => T | null): (T | null)[] {
  return items.some((item) => column(item) !== null) ? items.map(column) : []
}
