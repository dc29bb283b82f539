// Registers a worker instance with what it serves: the same fields as in its claims, so that a search for workers that
// could run an execution matches as a claim would. It is informational: a claim needs no registration, and a worker
// that is missing here keeps its leases until they expire.
import { EngineError } from '../../model/errors.ts'
import { duration, listOf, text, whole } from '../../model/field-kinds.ts'
import { checkFields, type RequestOf } from '../../model/field.ts'
import { limits } from '../../model/limits.ts'
import { capabilities, kind, lane, namespace, version, workerName } from '../../model/named-fields.ts'
import { show } from '../../model/text.ts'
import { call, type Call, type Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import { untilSent } from '../kernel/resend.ts'
import { scopeFor } from '../signing-key/scope.ts'
import { registeredTasks, taskCalls } from '../task/register.ts'
import type { TaskRegistry } from '../task/registry.ts'

export const registerFields = {
  workerId: workerName,
  workerInstanceId: workerName,
  /** Left out: the caller's namespace; for a caller of all, it serves all of them. */
  namespace: namespace.optional(),
  lanes: namesOf('lane', lane, 1, limits.workerLaneCount),
  /** Left out: any kind. */
  kinds: namesOf('kind', kind, 1, limits.workerKindCount).optional(),
  /** Besides executions that need none. */
  versions: namesOf('version', version, 0, limits.workerKindCount).default([]),
  capabilities: capabilities.default([]),
  /**
   * Its tasks, whose policies apply to every execution of their kind and version in this namespace, or in all if it
   * serves all. The newest registration wins, and stays when the worker leaves. Left out: nothing changes.
   */
  tasks: registeredTasks
    .default([])
    .describe('Policies of its tasks, which apply to every execution of the kind and version.'),
  /** Without a heartbeat for this long it is gone; defaults to a minute. */
  ttl: duration({ minMs: 1, maxMs: limits.workerTtlMaxMs, allowed: 'from 1 ms to a day' }).default(
    limits.defaultWorkerTtlMs,
  ),
  host: text({ minBytes: 1, maxBytes: limits.hostBytes, refuseControls: true }).optional(),
  pid: whole({ max: 2 ** 31 - 1, allowed: 'the id of a process' }).optional(),
}

function namesOf(each: string, name: typeof lane, min: number, max: number) {
  return listOf(name, { each, min, max, allowed: `an array of ${min} to ${max}` })
}

export interface RegisterRequest extends RequestOf<typeof registerFields> {}

export interface Registered {
  /** `refreshed`: it existed, and its fields are replaced. */
  readonly kind: 'registered' | 'refreshed'
  readonly workerInstanceId: string
  readonly registeredAt: number
  readonly expiresAt: number
}

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
logged as (
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
  const { workerInstanceId, tasks, ...checked } = checkFields('workers.register', registerFields, request)
  const instance = { namespace: scopeFor(caller, request.namespace), worker_instance_id: workerInstanceId }
  const worker = {
    ...instance,
    worker_id: checked.workerId,
    lanes: sortedNames(checked.lanes),
    kinds: sortedNames(checked.kinds ?? []),
    any_kind: checked.kinds === null,
    versions: sortedNames(checked.versions),
    capabilities: checked.capabilities,
    host: checked.host,
    pid: checked.pid,
    ttl_ms: checked.ttlMs,
    actor: caller.actor,
  }
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

function sortedNames(names: readonly string[]): readonly string[] {
  return [...new Set(names)].sort()
}

function reassigned(workerInstanceId: string): EngineError {
  const sentence = `worker instance ${show(workerInstanceId)} is used by another live worker; give each process its own instance id`
  return new EngineError('invalid_input', sentence, { field: 'workerInstanceId', why: 'instance_id reassigned' })
}
