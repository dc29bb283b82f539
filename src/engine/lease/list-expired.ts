// Leases that have expired and are not reclaimed yet; the lease that expired first comes first.
import { formatExecutionId, type ExecutionId } from '../../model/id.ts'
import { checkFields } from '../../model/field.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement, type RowOf } from '../../sql/statement.ts'
import { namespaceToRead, type Caller } from '../kernel/caller.ts'
import { ascending, orderBy, namespacePageFields, readPage, type NamespacePageRequest } from '../kernel/page.ts'

export type ListExpiredLeasesRequest = NamespacePageRequest

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
  params: { namespace: 'text?', expires_at_ms: 'int8', execution_id: 'uuid', limit: 'int8' },
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
  and (l.expires_at_ms, l.execution_id) > ($2, $3)
  and ($1::text is null or e.namespace = $1)
order by l.expires_at_ms, l.execution_id
limit $4`,
})

const order = orderBy('expired leases', { expires_at_ms: ascending.int, execution_id: ascending.uuid })

export async function listExpiredLeases(
  sql: Sql,
  caller: Caller,
  request: ListExpiredLeasesRequest,
): Promise<ExpiredLeasePage> {
  checkFields('leases.listExpired', namespacePageFields, request)
  const { namespace, isForeign } = namespaceToRead(caller, request.namespace)
  const { rows, nextCursor } = await readPage(request, order, (after, limit) =>
    isForeign ? [] : sql.query(listStatement, { namespace, ...after, limit }),
  )
  return { leases: rows.map(decodeLease), nextCursor }
}

function decodeLease(row: RowOf<typeof listStatement.row>): ExpiredLease {
  return {
    executionId: formatExecutionId(row.partition_key, row.execution_id),
    leaseId: row.lease_id,
    leaseEpoch: row.lease_epoch,
    attemptIndex: row.attempt_index,
    workerInstanceId: row.worker_instance_id,
    expiresAt: row.expires_at_ms,
  }
}
