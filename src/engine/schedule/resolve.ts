// The executions of a schedule depend on their registered task, which may change after the put. So before a schedule
// fires, its row is compared with the newest registration and updated if they differ: a firing then copies the row.
import { isDeepStrictEqual } from 'node:util'
import type { ExecutionPolicy } from '../../model/policy.ts'
import type { Tags } from '../../model/tag.ts'
import { layer, type OwnPolicy, type TaskPolicy } from '../../model/task-policy.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement, type RowOf } from '../../sql/statement.ts'
import type { CheckedExecution } from '../transition/new-execution.ts'
import { QueueRegistry, type Queue } from '../queue/intern.ts'
import { decodeRegistered, joinRegistered, registeredColumns, registeredRow } from '../task/registered.ts'

/** The fields of the put itself, as the row stores them. */
export interface GivenPolicy extends Omit<OwnPolicy, 'deadlineAt'> {
  readonly taskDefaults: TaskPolicy | null
}

export function givenPolicyOf(execution: CheckedExecution): GivenPolicy {
  const { givenLane: lane, policy, deadlineMs, tags, taskDefaults } = execution
  return { lane, policy, deadlineMs, tags, taskDefaults }
}

const row = {
  schedule_id: 'uuid',
  request_hash: 'bytea',
  given: 'jsonb',
  namespace: 'text',
  lane_id: 'text',
  execution_kind: 'text',
  task_version: 'text',
  required_capabilities: 'text[]',
  policy: 'jsonb?',
  deadline_after_ms: 'int8?',
  tags: 'jsonb?',
  ...registeredRow,
} as const

const read = statement({
  name: 'schedule.resolve.read',
  params: { schedule_ids: 'uuid[]' },
  row,
  text: `
select s.schedule_id, s.request_hash, s.given, s.namespace, q.lane_id, q.execution_kind, q.task_version,
  q.required_capabilities, s.policy, s.deadline_after_ms, s.tags, ${registeredColumns}
from unnest($1::uuid[]) as i (schedule_id)
join flowfabric.ff_schedule s on s.schedule_id = any (array[i.schedule_id])
join flowfabric.ff_queue q on q.queue_id = any (array[s.queue_id])
${joinRegistered({ namespace: 's.namespace', kind: 'q.execution_kind', version: 'q.task_version' })}`,
})

// Skips a schedule that was put again since, which has the registration that its put found, and a locked one, which is
// firing.
const write = statement({
  name: 'schedule.resolve.write',
  params: {
    schedule_ids: 'uuid[]',
    request_hashes: 'bytea[]',
    queue_ids: 'int4[]',
    policies: 'jsonb?[]',
    deadlines_ms: 'int8?[]',
    tags: 'jsonb?[]',
  },
  row: {},
  text: `
with target as materialized (
  select s.schedule_id, i.queue_id, i.policy, i.deadline_ms, i.tags
  from unnest($1::uuid[], $2::bytea[], $3::int4[], $4::jsonb[], $5::int8[], $6::jsonb[])
    as i (schedule_id, request_hash, queue_id, policy, deadline_ms, tags)
  join flowfabric.ff_schedule s on s.schedule_id = any (array[i.schedule_id]) and s.request_hash = i.request_hash
  order by i.schedule_id
  for no key update of s skip locked
)
update flowfabric.ff_schedule s
set queue_id = t.queue_id, policy = t.policy, deadline_after_ms = t.deadline_ms, tags = t.tags
from target t
where s.schedule_id = any (array[t.schedule_id])`,
})

export async function resolveSchedules(sql: Sql, uuids: readonly string[]): Promise<void> {
  const rows = await sql.query(read, { schedule_ids: uuids })
  const changed = rows.flatMap((found) => changeOf(found) ?? [])
  if (changed.length === 0) return
  const queueIds = await new QueueRegistry(sql).idsOf(changed.map((change) => change.queue))
  await sql.query(write, {
    schedule_ids: changed.map((change) => change.uuid),
    request_hashes: changed.map((change) => change.requestHash),
    queue_ids: queueIds,
    policies: changed.map((change) => change.policy),
    deadlines_ms: changed.map((change) => change.deadlineMs),
    tags: changed.map((change) => change.tags),
  })
}

interface Change {
  readonly uuid: string
  readonly requestHash: Uint8Array
  readonly queue: Queue
  readonly policy: ExecutionPolicy | null
  readonly deadlineMs: number | null
  readonly tags: Tags | null
}

function changeOf(found: RowOf<typeof row>): Change | null {
  const { taskDefaults, ...own } = found.given as GivenPolicy
  const wanted = layered(own, decodeRegistered(found), taskDefaults)
  if (wanted === null) return null
  const { lane, policy, deadlineMs, tags } = wanted
  const is = [found.lane_id, found.policy, found.deadline_after_ms, found.tags]
  if (isDeepStrictEqual(is, [lane, policy, deadlineMs, tags])) return null
  const { namespace, execution_kind: kind, task_version: version, required_capabilities: capabilities } = found
  const queue = { namespace, lane, kind, version: version === '' ? null : version, capabilities }
  return { uuid: found.schedule_id, requestHash: found.request_hash, queue, policy, deadlineMs, tags }
}

/** Null: together they have too many tags. The schedule then fires as it did before the registration. */
function layered(own: Omit<OwnPolicy, 'deadlineAt'>, registered: TaskPolicy | null, imported: TaskPolicy | null) {
  try {
    return layer({ ...own, deadlineAt: null }, registered, imported)
  } catch {
    return null
  }
}
