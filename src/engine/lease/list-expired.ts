// Leases that have run out and that no sweep has met yet, the longest first.
import { decodeCursor, encodeCursor } from '../../model/cursor.ts'
import { formatExecutionId, type ExecutionId } from '../../model/id.ts'
import { checkNamespace } from '../../model/name.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { pageLimit } from '../kernel/page.ts'

export interface ListExpiredLeasesRequest {
  readonly namespace?: string
  readonly limit?: number
  readonly cursor?: string
}

export interface ExpiredLease {
  readonly executionId: ExecutionId
  readonly leaseId: string
  readonly leaseEpoch: number
  readonly attemptIndex: number
  readonly workerInstanceId: string
  readonly expiresAt: number
}

export interface ExpiredLeasePage {
  readonly leases: readonly ExpiredLease[]
  readonly nextCursor: string | null
}

const listStatement = statement({
  name: 'lease.list-expired',
  params: { namespace: 'text?', wanted: 'text?', expires_at_ms: 'int8', execution_id: 'uuid', limit: 'int8' },
  row: {
    execution_id: 'uuid',
    partition_key: 'int2',
    lease_id: 'uuid',
    lease_epoch: 'int8',
    attempt_index: 'int4',
    worker_instance_id: 'text',
    expires_at_ms: 'int8',
  },
  text: `
select l.execution_id, e.partition_key, l.lease_id, l.lease_epoch, l.attempt_index, l.worker_instance_id, l.expires_at_ms
from flowfabric.ff_lease l
join flowfabric.ff_exec_core e on e.execution_id = any (array[l.execution_id])
where l.expires_at_ms > 0 and l.expires_at_ms <= flowfabric.ff_now_ms()
  and (l.expires_at_ms, l.execution_id) > ($3, $4)
  and ($1::text is null or e.namespace = $1)
  and ($2::text is null or e.namespace = $2)
order by l.expires_at_ms, l.execution_id
limit $5`,
})

const start = [-1, '00000000-0000-0000-0000-000000000000'] as const

export async function listExpiredLeases(
  sql: Sql,
  caller: Caller,
  request: ListExpiredLeasesRequest,
): Promise<ExpiredLeasePage> {
  refuseUnknownFields('leases.listExpired', request, ['namespace', 'limit', 'cursor'])
  const { namespace, cursor } = request
  const limit = pageLimit(request.limit)
  const [expiresAt, uuid] = cursor === undefined ? start : decodeCursor('expired leases', cursor, ['int', 'uuid'])
  if (limit === 0) return { leases: [], nextCursor: null }
  const rows = await sql.query(listStatement, {
    namespace: caller.namespace,
    wanted: namespace === undefined ? null : checkNamespace(namespace),
    expires_at_ms: expiresAt as number,
    execution_id: uuid as string,
    limit: limit + 1,
  })
  const leases = rows.slice(0, limit).map((row) => ({
    executionId: formatExecutionId(row.partition_key, row.execution_id),
    leaseId: row.lease_id,
    leaseEpoch: row.lease_epoch,
    attemptIndex: row.attempt_index,
    workerInstanceId: row.worker_instance_id,
    expiresAt: row.expires_at_ms,
  }))
  const last = rows[limit - 1]
  const hasMore = rows.length > limit && last !== undefined
  return {
    leases,
    nextCursor: hasMore ? encodeCursor('expired leases', [last.expires_at_ms, last.execution_id]) : null,
  }
}
