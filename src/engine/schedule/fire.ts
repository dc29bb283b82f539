// Fires schedules. One round trip locks and reads them; the code here decides by their patterns and the database's
// clock; a second round trip writes the executions, the new state of the schedule, and the skipped times. So ten
// processes that read the same schedule fire it once, and after a crash it is still due.
import { attached } from '../../model/attached.ts'
import { jitterOf } from '../../model/schedule.ts'
import { mintUuid } from '../../model/uuid.ts'
import { call } from '../../sql/sql.ts'
import { statement, type RowOf } from '../../sql/statement.ts'
import { cancelTransition } from '../execution/cancel.ts'
import { mergeEffects, type Effects } from '../kernel/effects.ts'
import { writeFreshWith } from '../transition/new-rows.ts'
import { transitionCalls, transitionEffects, type Transition } from '../transition/transitions.ts'
import type { LockedSchedule } from './locked.ts'
import { creatorOf } from './put-request.ts'

export interface Firing {
  readonly uuid: string
  readonly partition: number
  /** Within the schedule, for each of its times once. */
  readonly key: string
  readonly plannedAt: number
  readonly delayMs: number
}

/** The decision for one schedule. */
export interface FiringDecision {
  readonly schedule: LockedSchedule
  readonly firings: readonly Firing[]
  readonly skipped: readonly number[]
  readonly queued: readonly number[]
  readonly cancelsPrevious: boolean
  readonly plannedAt: number | null
  readonly nextFireAt: number | null
  readonly lastPlannedAt: number | null
}

export function firingAt(schedule: LockedSchedule, plannedAt: number): Firing {
  return {
    uuid: mintUuid(),
    partition: schedule.partition,
    key: new Date(plannedAt).toISOString(),
    plannedAt,
    delayMs: jitterOf(schedule.uuid, plannedAt, schedule.jitterMs),
  }
}

// Every column of an execution comes from the schedule's row, which the transaction holds; payloads do not travel.
const insertFirings = statement({
  name: 'schedule.fire.create',
  params: {
    schedule_ids: 'uuid[]',
    execution_ids: 'uuid[]',
    keys: 'text[]',
    planned_ats_ms: 'int8[]',
    delays_ms: 'int8[]',
    creators: 'text[]',
    request_hash: 'bytea',
    key_ttl_ms: 'int8',
    actor: 'text',
  },
  row: { queue_id: 'int4', is_delayed: 'bool' },
  text: `
with fresh as materialized (
  select i.execution_id, i.idempotency_key, i.planned_at_ms, i.creator, s.schedule_id, s.schedule_name, s.partition_key,
    s.namespace, s.queue_id, s.priority, s.payload, s.payload_encoding, s.policy, s.tags, c.now_ms,
    nullif(q.task_version, '') as task_version, i.delay_ms > 0 as is_delayed,
    case when i.delay_ms > 0 then c.now_ms + i.delay_ms end as due_ms,
    null::int8 as deadline_at_ms, s.deadline_after_ms as deadline_ms, c.now_ms + s.deadline_after_ms as deadline_due_ms,
    case when s.tags is null then 0 else ${attached.tags} end as attached
  from (select flowfabric.ff_now_ms() as now_ms offset 0) c
  cross join unnest($1::uuid[], $2::uuid[], $3::text[], $4::int8[], $5::int8[], $6::text[])
    as i (schedule_id, execution_id, idempotency_key, planned_at_ms, delay_ms, creator)
  join flowfabric.ff_schedule s on s.schedule_id = any (array[i.schedule_id])
  join flowfabric.ff_queue q on q.queue_id = any (array[s.queue_id])
),
${writeFreshWith(['schedule_id'], [])},
tagged as (
  insert into flowfabric.ff_exec_tag (execution_id, created_at_ms, namespace, tag_key, tag_value)
  select f.execution_id, f.now_ms, f.namespace, t.key, t.value
  from fresh f
  cross join lateral jsonb_each_text(f.tags) t
  where f.tags is not null
),
keyed as (
  insert into flowfabric.ff_idempotency_key
    (namespace, scope_id, idempotency_key, execution_id, expires_at_ms, request_hash)
  select namespace, schedule_id, idempotency_key, execution_id, now_ms + $8, $7
  from fresh
),
logged as (
  insert into flowfabric.ff_event (occurred_at_ms, execution_id, generation, event_type, partition_key, namespace, actor,
    details)
  select now_ms, execution_id, 0, 'schedule_fired', partition_key, namespace, $9,
    jsonb_build_object('scheduleId', schedule_name, 'plannedAt', planned_at_ms)
  from fresh
)
select queue_id, is_delayed
from fresh`,
})

const remember = statement({
  name: 'schedule.fire.remember',
  params: {
    schedule_ids: 'uuid[]',
    planned_ats_ms: 'int8?[]',
    next_fire_ats_ms: 'int8?[]',
    last_planned_ats_ms: 'int8?[]',
    last_execution_ids: 'uuid?[]',
    fired_counts: 'int8[]',
    skipped: 'jsonb[]',
    queued: 'jsonb[]',
    actor: 'text',
  },
  row: {},
  text: `
with input as materialized (
  select i.*, flowfabric.ff_now_ms() as now_ms
  from unnest($1::uuid[], $2::int8[], $3::int8[], $4::int8[], $5::uuid[], $6::int8[], $7::jsonb[], $8::jsonb[])
    as i (schedule_id, planned_at_ms, next_fire_at_ms, last_planned_at_ms, last_execution_id, fired_count, skipped, queued)
),
remembered as (
  update flowfabric.ff_schedule s
  set planned_at_ms = i.planned_at_ms,
    next_fire_at_ms = i.next_fire_at_ms,
    last_planned_at_ms = i.last_planned_at_ms,
    last_execution_id = coalesce(i.last_execution_id, s.last_execution_id),
    last_fired_at_ms = case when i.fired_count > 0 then i.now_ms else s.last_fired_at_ms end,
    fired_count = s.fired_count + i.fired_count,
    skipped_count = s.skipped_count + jsonb_array_length(i.skipped),
    queued_at_ms = array(select t.value::int8 from jsonb_array_elements_text(i.queued) with ordinality t order by t.ordinality)
  from input i
  where s.schedule_id = any (array[i.schedule_id])
  returning s.schedule_name, s.namespace, s.partition_key, i.skipped, i.now_ms
)
insert into flowfabric.ff_event (occurred_at_ms, event_type, partition_key, namespace, actor, reason, details)
select now_ms, 'schedule_skipped', partition_key, namespace, $9, 'previous_running',
  jsonb_build_object('scheduleId', schedule_name, 'plannedAt', skipped)
from remembered
where jsonb_array_length(skipped) > 0`,
})

// Times never fire twice as it is, because the row remembers the last; the key is the proof, for a day.
const keyTtlMs = 86_400_000
// No caller repeats this key, so no request is compared.
const noRequest = new Uint8Array(32)

/** The decisions, as they are written. */
export function firingWrites(decisions: readonly FiringDecision[], actor: string) {
  const firings = decisions.flatMap(({ schedule, firings }) => firings.map((firing) => ({ schedule, firing })))
  return [
    call(insertFirings, {
      schedule_ids: firings.map(({ schedule }) => schedule.uuid),
      execution_ids: firings.map(({ firing }) => firing.uuid),
      keys: firings.map(({ firing }) => firing.key),
      planned_ats_ms: firings.map(({ firing }) => firing.plannedAt),
      delays_ms: firings.map(({ firing }) => firing.delayMs),
      creators: firings.map(({ schedule }) => creatorOf(schedule.scheduleId)),
      request_hash: noRequest,
      key_ttl_ms: keyTtlMs,
      actor,
    }),
    call(remember, {
      schedule_ids: decisions.map(({ schedule }) => schedule.uuid),
      planned_ats_ms: decisions.map((decision) => decision.plannedAt),
      next_fire_ats_ms: decisions.map((decision) => decision.nextFireAt),
      last_planned_ats_ms: decisions.map((decision) => decision.lastPlannedAt),
      last_execution_ids: decisions.map(({ firings }) => firings.at(-1)?.uuid ?? null),
      fired_counts: decisions.map(({ firings }) => firings.length),
      skipped: decisions.map((decision) => decision.skipped),
      queued: decisions.map((decision) => decision.queued),
      actor,
    }),
    ...transitionCalls(cancelsOf(decisions, actor)),
  ] as const
}

/** The previous executions that a firing cancels. */
function cancelsOf(decisions: readonly FiringDecision[], actor: string): Transition[] {
  return decisions.flatMap(({ schedule, cancelsPrevious }) => {
    const { previous, scheduleId } = schedule
    if (!cancelsPrevious || previous === null) return []
    const reason = `replaced by the next firing of schedule '${scheduleId}'`
    return cancelTransition(previous, { graceMs: 0, deadlineMs: null, isForced: false, reason, actor }).transition ?? []
  })
}

/** `created` is the answer to the first of `firingWrites`. */
export function effectsOfFiring(
  decisions: readonly FiringDecision[],
  created: readonly RowOf<typeof insertFirings.row>[],
  actor: string,
): Effects {
  const readyQueueIds = [...new Set(created.flatMap((row) => (row.is_delayed ? [] : [row.queue_id])))]
  return mergeEffects(transitionEffects(cancelsOf(decisions, actor)), { readyQueueIds, wroteEvents: true })
}
