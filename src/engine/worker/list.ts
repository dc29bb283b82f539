// Worker instances that are alive, in the order of their ids. A caller of one namespace sees those that serve it: its own,
// and those of all.
import { decodeCursor, encodeCursor } from '../../model/cursor.ts'
import { checkNamespace } from '../../model/name.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { pageLimit } from '../kernel/page.ts'
import { namespaceOf, sharedScope } from '../signing-key/scope.ts'

export interface ListWorkersRequest {
  /** Only those that serve it. */
  readonly namespace?: string
  readonly limit?: number
  readonly cursor?: string
}

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
  params: { namespace: 'text?', wanted: 'text?', after_namespace: 'text', after_instance: 'text', limit: 'int8' },
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
  and ($2::text is null or namespace = any (array[$2, '${sharedScope}']))
  and (namespace, worker_instance_id) > ($3, $4)
  and expires_at_ms > flowfabric.ff_now_ms()
order by namespace, worker_instance_id
limit $5`,
})

export async function listWorkers(sql: Sql, caller: Caller, request: ListWorkersRequest): Promise<WorkerPage> {
  refuseUnknownFields('workers.list', request, ['namespace', 'limit', 'cursor'])
  const { namespace, cursor } = request
  const limit = pageLimit(request.limit)
  const wanted = namespace === undefined ? null : checkNamespace(namespace)
  const [afterNamespace, afterInstance] =
    cursor === undefined ? ['', ''] : decodeCursor('workers', cursor, ['text', 'text'])
  // What is asked for and what is seen have only the shared ones in common, which are nobody's answer.
  const isForeign = wanted !== null && caller.namespace !== null && wanted !== caller.namespace
  if (limit === 0 || isForeign) return { workers: [], nextCursor: null }
  const rows = await sql.query(listStatement, {
    namespace: caller.namespace,
    wanted,
    after_namespace: afterNamespace as string,
    after_instance: afterInstance as string,
    limit: limit + 1,
  })
  const workers = rows.slice(0, limit).map((row) => ({
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
  }))
  const last = rows[limit - 1]
  const hasMore = rows.length > limit && last !== undefined
  return { workers, nextCursor: hasMore ? encodeCursor('workers', [last.namespace, last.worker_instance_id]) : null }
}
