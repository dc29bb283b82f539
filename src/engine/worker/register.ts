// Registers a worker instance with what it serves: the same fields as in its claims, so that a search for workers that
// could run an execution matches as a claim would. It is informational: a claim needs no registration, and a worker
// that is missing here keeps its leases until they expire.
import { parseCapabilities } from '../../model/capability.ts'
import { parseDuration, type Duration } from '../../model/duration.ts'
import { EngineError, refusal } from '../../model/errors.ts'
import { limits } from '../../model/limits.ts'
import { checkKind, checkLane, checkVersion } from '../../model/name.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import { checkText, show } from '../../model/text.ts'
import { call, type Call, type Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { checkWorker } from '../execution/renew.ts'
import { untilSent } from '../kernel/resend.ts'
import { scopeFor } from '../signing-key/scope.ts'
import { checkTasks, taskCalls, type RegisteredTask } from '../task/register.ts'
import type { TaskRegistry } from '../task/registry.ts'

export interface RegisterRequest {
  readonly workerId: string
  readonly workerInstanceId: string
  readonly lanes: readonly string[]
  /** Left out: the caller's namespace; for a caller of all, it serves all of them. */
  readonly namespace?: string
  /** Left out: any kind. */
  readonly kinds?: readonly string[]
  /** Besides executions that need none. */
  readonly versions?: readonly string[]
  readonly capabilities?: readonly string[]
  /**
   * Its tasks, whose policies apply to every execution of their kind and version in this namespace, or in all if it
   * serves all. The newest registration wins, and stays when the worker leaves. Left out: nothing changes.
   */
  readonly tasks?: readonly RegisteredTask[]
  /** Without a heartbeat for this long it is gone; defaults to a minute. */
  readonly ttl?: Duration
  readonly host?: string
  readonly pid?: number
}

export interface Registered {
  /** `refreshed`: it existed, and its fields are replaced. */
  readonly kind: 'registered' | 'refreshed'
  readonly workerInstanceId: string
  readonly registeredAt: number
  readonly expiresAt: number
}

const fields = [
  'workerId',
  'workerInstanceId',
  'lanes',
  'namespace',
  'kinds',
  'versions',
  'capabilities',
  'tasks',
  'ttl',
  'host',
  'pid',
] as const satisfies readonly (keyof RegisterRequest)[]

// An expired worker is gone, even if the duty has not deleted it yet: the new registration is another one.
const forgetExpired = statement({
  name: 'worker.register.forget-expired',
  params: { namespace: 'text', worker_instance_id: 'text' },
  row: {},
  text: `
with swept as (
  delete from flowfabric.ff_worker
  where namespace = $1 and worker_instance_id = $2 and expires_at_ms <= flowfabric.ff_now_ms()
  returning namespace, worker_instance_id, worker_id
)
insert into flowfabric.ff_event (occurred_at_ms, event_type, partition_key, namespace, actor, worker_instance_id, details)
select flowfabric.ff_now_ms(), 'worker_ttl_swept', 0, namespace, 'worker-expiry', worker_instance_id,
  jsonb_build_object('workerId', worker_id)
from swept`,
})

// Returns no row when the instance belongs to another worker. The row is written before its event, which the readers of
// the log rely on: the transaction that draws the event's id then has an id of its own.
const write = statement({
  name: 'worker.register',
  params: {
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
    ttl_ms: 'int8',
    actor: 'text',
  },
  row: { is_new: 'bool', registered_at_ms: 'int8', expires_at_ms: 'int8' },
  text: `
with written as (
  insert into flowfabric.ff_worker as w (namespace, worker_instance_id, worker_id, lanes, kinds, versions, capabilities,
    host, pid, ttl_ms, registered_at_ms, heartbeat_at_ms, expires_at_ms)
  select $1, $2, $3, $4::text[], case when $6 then null else $5::text[] end, $7::text[], $8::text[], $9, $10, $11,
    c.now_ms, c.now_ms, c.now_ms + $11
  from (select flowfabric.ff_now_ms() as now_ms offset 0) c
  on conflict (namespace, worker_instance_id) do update
  set lanes = excluded.lanes, kinds = excluded.kinds, versions = excluded.versions,
    capabilities = excluded.capabilities, host = excluded.host, pid = excluded.pid, ttl_ms = excluded.ttl_ms,
    heartbeat_at_ms = excluded.heartbeat_at_ms, expires_at_ms = excluded.expires_at_ms
  where w.worker_id = excluded.worker_id
  returning w.xmax = 0 as is_new, w.namespace, w.worker_instance_id, w.worker_id, w.lanes, w.registered_at_ms,
    w.heartbeat_at_ms, w.expires_at_ms
),
told as (
  insert into flowfabric.ff_event (occurred_at_ms, event_type, partition_key, namespace, actor, worker_instance_id,
    details)
  select heartbeat_at_ms, 'worker_registered', 0, namespace, $12, worker_instance_id,
    jsonb_build_object('workerId', worker_id, 'lanes', to_jsonb(lanes), 'refreshed', not is_new)
  from written
)
select is_new, registered_at_ms, expires_at_ms
from written`,
})

export async function register(
  sql: Sql,
  registry: TaskRegistry,
  caller: Caller,
  request: RegisterRequest,
): Promise<Registered> {
  refuseUnknownFields('workers.register', request, fields)
  const { kinds, versions = [], host, pid } = request
  const workerInstanceId = checkWorker('workerInstanceId', request.workerInstanceId)
  const instance = { namespace: scopeFor(caller, request.namespace), worker_instance_id: workerInstanceId }
  const worker = {
    ...instance,
    worker_id: checkWorker('workerId', request.workerId),
    lanes: eachOf('lanes', request.lanes, limits.workerLaneCount, checkLane),
    kinds: kinds === undefined ? [] : eachOf('kinds', kinds, limits.workerKindCount, checkKind),
    any_kind: kinds === undefined,
    versions: eachOf('versions', versions, limits.workerKindCount, checkVersion, 0),
    capabilities: parseCapabilities(request.capabilities),
    host:
      host === undefined
        ? null
        : checkText('host', host, { minBytes: 1, maxBytes: limits.hostBytes, refuseControls: true }),
    pid: pid === undefined ? null : checkPid(pid),
    ttl_ms: checkTtl(request.ttl),
    actor: caller.actor,
  }
  const tasks = checkTasks(request.tasks ?? [])
  const calls = [call(forgetExpired, instance), call(write, worker)] as const
  const [, [row]] = await untilSent(sql, { again: false }, () =>
    sql.pipeline<readonly [...typeof calls, ...Call[]]>([
      ...calls,
      ...(tasks.length === 0 ? [] : taskCalls(worker, tasks)),
    ]),
  ).finally(() => registry.forget())
  if (row === undefined) throw reassigned(workerInstanceId)
  return {
    kind: row.is_new ? 'registered' : 'refreshed',
    workerInstanceId,
    registeredAt: row.registered_at_ms,
    expiresAt: row.expires_at_ms,
  }
}

function eachOf(field: string, value: unknown, most: number, check: (one: unknown) => string, least = 1): string[] {
  const allowed = `an array of ${least} to ${most}`
  if (!Array.isArray(value)) throw refusal('invalid_input', field, show(value), allowed)
  if (value.length < least || value.length > most) {
    throw refusal('invalid_input', field, `an array of ${value.length}`, allowed)
  }
  return [...new Set(value.map((one: unknown) => check(one)))].sort()
}

function checkPid(pid: unknown): number {
  if (Number.isInteger(pid) && (pid as number) >= 0 && (pid as number) < 2 ** 31) return pid as number
  throw refusal('invalid_input', 'pid', show(pid), 'the id of a process')
}

function checkTtl(ttl: Duration | undefined): number {
  if (ttl === undefined) return limits.defaultWorkerTtlMs
  const ttlMs = parseDuration('ttl', ttl)
  if (ttlMs > 0 && ttlMs <= limits.workerTtlMaxMs) return ttlMs
  throw refusal('invalid_input', 'ttl', show(ttl), 'from 1 ms to a day')
}

function reassigned(workerInstanceId: string): EngineError {
  const sentence = `worker instance ${show(workerInstanceId)} is used by another live worker; give each process its own instance id`
  return new EngineError('invalid_input', sentence, { field: 'workerInstanceId', why: 'instance_id reassigned' })
}
