// Put creates or replaces a schedule. The same request again changes nothing. New fields of its executions, or another
// overlap, do not change its next time; another timing, or another end, plans anew from now.
import { mintUuid } from '../../model/uuid.ts'
import type { Timing } from '../../model/schedule-timing.ts'
import { call, type Call, type Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import type { NewExecution } from '../transition/new-execution.ts'
import type { QueueRegistry } from '../queue/intern.ts'
import { untilSent } from '../kernel/resend.ts'
import type { TaskRegistry } from '../task/registry.ts'
import { nameParams } from './named.ts'
import { lockNamed, planAgainst, type Planned } from './put-plan.ts'
import { givenPolicyOf } from './resolve.ts'
import { checkPutRequest, type NewSchedule, type PutScheduleRequest } from './put-request.ts'

export interface SchedulePut {
  readonly kind: Planned['kind']
  readonly scheduleId: string
  /** Null while it is paused; a put does not end that. */
  readonly nextFireAt: number | null
}

// Of two concurrent puts of the same new schedule, the second waits for the first and then replaces it.
const write = statement({
  name: 'schedule.put',
  params: {
    ...nameParams,
    schedule_id: 'uuid',
    partition_key: 'int2',
    now_ms: 'int8',
    cron: 'text?',
    time_zone: 'text?',
    every_ms: 'int8?',
    anchor_at_ms: 'int8?',
    overlap: 'text',
    catch_up: 'text',
    catch_up_limit: 'int4',
    jitter_ms: 'int8',
    until_ms: 'int8?',
    planned_at_ms: 'int8?',
    next_fire_at_ms: 'int8?',
    queued_at_ms: 'int8[]',
    request_hash: 'bytea',
    queue_id: 'int4',
    priority: 'int2',
    deadline_after_ms: 'int8?',
    payload: 'bytea?',
    payload_encoding: 'text?',
    policy: 'jsonb?',
    tags: 'jsonb?',
    given: 'jsonb',
    actor: 'text',
  },
  row: {},
  text: `
with written as (
  insert into flowfabric.ff_schedule as s (namespace, schedule_name, schedule_id, partition_key, created_at_ms,
    changed_at_ms, cron, time_zone, every_ms, anchor_at_ms, overlap, catch_up, catch_up_limit, jitter_ms, until_ms,
    planned_at_ms, next_fire_at_ms, queued_at_ms, request_hash, queue_id, priority, deadline_after_ms, payload,
    payload_encoding, policy, tags, given)
  values ($1, $2, $3, $4, $5, $5, $6, $7, $8, $9, $10::text::flowfabric.ff_schedule_overlap,
    $11::text::flowfabric.ff_schedule_catch_up, $12, $13, $14, $15, $16, $17::int8[], $18, $19, $20, $21, $22, $23, $24,
    $25, $26)
  on conflict (namespace, schedule_name) do update
  set changed_at_ms = excluded.changed_at_ms, cron = excluded.cron, time_zone = excluded.time_zone,
    every_ms = excluded.every_ms, anchor_at_ms = excluded.anchor_at_ms, overlap = excluded.overlap,
    catch_up = excluded.catch_up, catch_up_limit = excluded.catch_up_limit, jitter_ms = excluded.jitter_ms,
    until_ms = excluded.until_ms, planned_at_ms = excluded.planned_at_ms,
    next_fire_at_ms = case when s.paused_at_ms is null then excluded.next_fire_at_ms end,
    queued_at_ms = excluded.queued_at_ms, request_hash = excluded.request_hash, queue_id = excluded.queue_id,
    priority = excluded.priority, deadline_after_ms = excluded.deadline_after_ms, payload = excluded.payload,
    payload_encoding = excluded.payload_encoding, policy = excluded.policy, tags = excluded.tags,
    given = excluded.given
  returning s.namespace, s.schedule_name, s.partition_key, s.changed_at_ms, s.planned_at_ms
)
insert into flowfabric.ff_event (occurred_at_ms, event_type, partition_key, namespace, actor, details)
select changed_at_ms, 'schedule_put', partition_key, namespace, $27,
  jsonb_strip_nulls(jsonb_build_object('scheduleId', schedule_name, 'plannedAt', planned_at_ms))
from written`,
})

export async function putSchedule(
  sql: Sql,
  queues: QueueRegistry,
  tasks: TaskRegistry,
  caller: Caller,
  request: PutScheduleRequest,
): Promise<SchedulePut> {
  const asked = checkPutRequest(caller, request)
  const execution = await tasks.resolve(asked.execution)
  const [queueId] = await queues.idsOf([execution.queue])
  const name = { namespace: asked.namespace, schedule_name: asked.scheduleId }
  let answer: SchedulePut | undefined
  await untilSent(sql, { again: false }, () =>
    sql.decide([call(lockNamed, name)], ([[found]]): readonly Call[] => {
      const planned = planAgainst(found!, asked)
      const { kind, nextFireAt } = planned
      const isPaused = found!.paused_at_ms !== null
      answer = { kind, scheduleId: asked.scheduleId, nextFireAt: isPaused ? null : planned.plannedAt }
      if (kind === 'unchanged') return []
      return [
        call(write, {
          ...name,
          ...columnsOf(asked, execution, planned.timing),
          schedule_id: mintUuid(),
          now_ms: found!.now_ms,
          queue_id: queueId!,
          planned_at_ms: planned.plannedAt,
          next_fire_at_ms: nextFireAt,
          queued_at_ms: planned.queued,
          actor: caller.actor,
        }),
      ]
    }),
  )
  return answer!
}

function columnsOf(asked: NewSchedule, execution: NewExecution, timing: Timing) {
  const [cron, every] = timing.kind === 'cron' ? [timing, null] : [null, timing]
  return {
    partition_key: asked.partition,
    cron: cron?.cron ?? null,
    time_zone: cron?.timeZone ?? null,
    every_ms: every?.everyMs ?? null,
    anchor_at_ms: every?.anchorAt ?? null,
    overlap: asked.overlap,
    catch_up: asked.catchUp,
    catch_up_limit: asked.catchUpLimit,
    jitter_ms: asked.jitterMs,
    until_ms: asked.until,
    request_hash: asked.requestHash,
    priority: execution.priority,
    deadline_after_ms: execution.deadlineMs,
    payload: execution.payload,
    payload_encoding: execution.payloadEncoding,
    policy: execution.policy,
    tags: execution.tags,
    given: givenPolicyOf(asked.execution),
  }
}
