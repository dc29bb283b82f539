// Live worker instances, in the order of their ids. A caller of one namespace sees the workers that serve it: those of the
// namespace, and those of all namespaces.
import { checkFields, type RequestOf } from '../../model/field.ts'
import { namespace } from '../../model/named-fields.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement, type RowOf } from '../../sql/statement.ts'
import { namespaceToRead, type Caller } from '../kernel/caller.ts'
import { ascending, orderBy, pageFields, readPage } from '../kernel/page.ts'
import { namespaceOf, sharedScope } from '../signing-key/scope.ts'

export const listWorkersFields = {
  /** Only workers that serve it. */
  namespace: namespace.optional(),
  ...pageFields,
}

export interface ListWorkersRequest extends RequestOf<typeof listWorkersFields> {}

export interface WorkerInstance {
  readonly workerId: string
  readonly workerInstanceId: string
  /** Null: it serves all of them. */
  readonly namespace: string | null
  readonly lanes: readonly string[]
  /** Null: any kind. */
  readonly kinds: readonly string[] | null
  readonly versions: readonly string[]
  readonly capabilities: readonly string[]
  readonly host: string | null
  readonly pid: number | null
  readonly registeredAt: number
  readonly heartbeatAt: number
  readonly expiresAt: number
  readonly ttlMs: number
}

export interface WorkerPage {
  readonly workers: readonly WorkerInstance[]
  readonly nextCursor: string | null
}

const listStatement = statement({
  name: 'worker.list',
  params: { in_namespace: 'text?', namespace: 'text', worker_instance_id: 'text', limit: 'int8' },
  row: {
    namespace: 'text',
    worker_instance_id: 'text',
    worker_id: 'text',
    lanes: 'text[]',
    kinds: 'text[]',
    any_kind: 'bool',
    versions: 'text[]',
    capabilities: 'text[]',
    host: 'text?',
    pid: 'int4?',
    registered_at_ms: 'int8',
    heartbeat_at_ms: 'int8',
    expires_at_ms: 'int8',
    ttl_ms: 'int8',
  },
  text: `
select namespace, worker_instance_id, worker_id, lanes, coalesce(kinds, '{}') as kinds, kinds is null as any_kind,
  versions, capabilities, host, pid, registered_at_ms, heartbeat_at_ms, expires_at_ms, ttl_ms
from flowfabric.ff_worker
where ($1::text is null or namespace = any (array[$1, '${sharedScope}']))
  and (namespace, worker_instance_id) > ($2, $3)
  and expires_at_ms > flowfabric.ff_now_ms()
order by namespace, worker_instance_id
limit $4`,
})

const order = orderBy('workers', { namespace: ascending.text, worker_instance_id: ascending.text })

export async function listWorkers(sql: Sql, caller: Caller, request: ListWorkersRequest): Promise<WorkerPage> {
  checkFields('workers.list', listWorkersFields, request)
  const { namespace: wanted, isForeign } = namespaceToRead(caller, request.namespace)
  const { rows, nextCursor } = await readPage(request, order, (after, limit) =>
    isForeign ? [] : sql.query(listStatement, { in_namespace: wanted, ...after, limit }),
  )
  return { workers: rows.map(decodeWorker), nextCursor }
}

function decodeWorker(row: RowOf<typeof listStatement.row>): WorkerInstance {
  return {
    workerId: row.worker_id,
    workerInstanceId: row.worker_instance_id,
    namespace: namespaceOf(row.namespace),
    lanes: row.lanes,
    kinds: row.any_kind ? null : row.kinds,
    versions: row.versions,
    capabilities: row.capabilities,
    host: row.host,
    pid: row.pid,
    registeredAt: row.registered_at_ms,
    heartbeatAt: row.heartbeat_at_ms,
    expiresAt: row.expires_at_ms,
    ttlMs: row.ttl_ms,
  }
}
