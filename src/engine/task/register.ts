// A worker registers the policies of its tasks, so that they apply however an execution is submitted. Of two
// registrations of a kind and version the newest wins. They stay when workers leave.
import { createHash } from 'node:crypto'
import { refusal } from '../../model/errors.ts'
import { checkedBy, unchecked } from '../../model/field-kinds.ts'
import type { RequestOf } from '../../model/field.ts'
import { limits } from '../../model/limits.ts'
import { kind, version } from '../../model/named-fields.ts'
import { refuseUnknownFields } from '../../model/shape.ts'
import { parseTaskPolicy, taskPolicyFields, type TaskPolicy } from '../../model/task-policy.ts'
import { show } from '../../model/text.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { sharedScope } from '../signing-key/scope.ts'

const registeredTaskFields = {
  kind,
  /** Left out: the task has none. */
  version: version.optional(),
  ...taskPolicyFields,
}

export interface RegisteredTask extends RequestOf<typeof registeredTaskFields> {}

export interface NewTask extends TaskPolicy {
  readonly kind: string
  /** Empty: none. */
  readonly version: string
}

function checkTasks(tasks: unknown): readonly NewTask[] {
  const most = limits.workerKindCount
  if (!Array.isArray(tasks)) throw refusal('invalid_input', 'tasks', show(tasks), 'an array of tasks')
  if (tasks.length > most) {
    throw refusal('invalid_input', 'tasks', `an array of ${tasks.length}`, `an array of at most ${most}`)
  }
  const checked = new Map<string, NewTask>()
  tasks.forEach((task: unknown, index) => {
    const at = `tasks[${index}]`
    refuseUnknownFields(at, task, Object.keys(registeredTaskFields))
    const { kind: kindName, version: versionName, ...policy } = task as RegisteredTask
    const identity = {
      kind: kind.read('kind', kindName, {}),
      version: versionName === undefined ? '' : version.read('version', versionName, {}),
    }
    const key = `${identity.kind}\0${identity.version}`
    if (checked.has(key)) throw refusal('invalid_input', at, 'a task that is listed before', 'listed once')
    checked.set(key, { ...identity, ...parseTaskPolicy(at, policy) })
  })
  return [...checked.values()]
}

export const registeredTasks = checkedBy<readonly RegisteredTask[], readonly NewTask[]>(checkTasks, {
  kind: 'list',
  of: unchecked({ kind: 'fields', fields: registeredTaskFields }),
  max: limits.workerKindCount,
})

const internPolicies = statement({
  name: 'task.intern-policies',
  params: { hashes: 'bytea[]', policies: 'jsonb[]' },
  row: {},
  text: `
insert into flowfabric.ff_policy (policy_hash, policy)
select distinct on (i.policy_hash) i.policy_hash, i.policy
from unnest($1::bytea[], $2::jsonb[]) as i (policy_hash, policy)
where not exists (select from flowfabric.ff_policy p where p.policy_hash = any (array[i.policy_hash]))
order by i.policy_hash
on conflict (policy_hash) do nothing`,
})

// After the policies, in a statement of its own: the policy may be a row of another transaction that the insert waited
// for. In the order of the keys, so that two workers with the same tasks do not wait for each other. An unchanged task
// is not written.
const write = statement({
  name: 'task.register',
  params: {
    namespace: 'text',
    worker_instance_id: 'text?',
    worker_id: 'text?',
    kinds: 'text[]',
    versions: 'text[]',
    lanes: 'text?[]',
    deadlines_ms: 'int8?[]',
    tags: 'jsonb?[]',
    policy_hashes: 'bytea?[]',
    actor: 'text',
  },
  row: {},
  text: `
insert into flowfabric.ff_task as t (namespace, execution_kind, task_version, registered_at_ms, deadline_after_ms,
  policy_id, lane_id, registered_by, tags)
select $1, i.kind, i.version, flowfabric.ff_now_ms(), i.deadline_ms, p.policy_id, i.lane, $10, i.tags
from unnest($4::text[], $5::text[], $6::text[], $7::int8[], $8::jsonb[], $9::bytea[])
  as i (kind, version, lane, deadline_ms, tags, policy_hash)
left join flowfabric.ff_policy p on p.policy_hash = any (array[i.policy_hash])
where ($2::text is null or exists (
    select from flowfabric.ff_worker w where w.namespace = $1 and w.worker_instance_id = $2 and w.worker_id = $3))
  and not exists (
    select from flowfabric.ff_task s
    where s.namespace = $1 and s.execution_kind = i.kind and s.task_version = i.version
      and (s.deadline_after_ms, s.policy_id, s.lane_id, s.tags)
        is not distinct from (i.deadline_ms, p.policy_id, i.lane, i.tags))
order by i.kind, i.version
on conflict (namespace, execution_kind, task_version) do update
set registered_at_ms = greatest(t.registered_at_ms, excluded.registered_at_ms), registered_by = excluded.registered_by,
  deadline_after_ms = excluded.deadline_after_ms, policy_id = excluded.policy_id, lane_id = excluded.lane_id,
  tags = excluded.tags`,
})

interface Registrant {
  readonly namespace: string
  /** Null: no worker registers them. */
  readonly worker_instance_id: string | null
  readonly worker_id: string | null
  readonly actor: string
}

/** Follows the registration of the worker, in its transaction; writes nothing if that was refused. */
export function taskCalls(worker: Registrant, tasks: readonly NewTask[]) {
  const policies = tasks.flatMap(({ policy }) => (policy === null ? [] : [policy]))
  const { namespace, worker_instance_id, worker_id, actor } = worker
  return [
    call(internPolicies, { hashes: policies.map(hashOf), policies }),
    call(write, {
      namespace,
      worker_instance_id,
      worker_id,
      kinds: tasks.map((task) => task.kind),
      versions: tasks.map((task) => task.version),
      lanes: tasks.map((task) => task.lane),
      deadlines_ms: tasks.map((task) => task.deadlineMs),
      tags: tasks.map((task) => task.tags),
      policy_hashes: tasks.map(({ policy }) => (policy === null ? null : hashOf(policy))),
      actor,
    }),
  ] as const
}

/** Registers tasks in all namespaces without a worker, as the test kit does. */
export async function registerTasks(sql: Sql, actor: string, tasks: readonly RegisteredTask[]): Promise<void> {
  const registrant = { namespace: sharedScope, worker_instance_id: null, worker_id: null, actor }
  await sql.pipeline(taskCalls(registrant, checkTasks(tasks)))
}

/** A checked policy has one order of its fields. */
function hashOf(policy: object): Uint8Array {
  return new Uint8Array(createHash('sha256').update(JSON.stringify(policy)).digest())
}
