// Schedules that are due.
import { firingsOf } from '../../model/schedule.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { dueRows, notQuarantined, releaseCall } from '../kernel/due.ts'
import type { Duty } from '../kernel/duty.ts'
import { RowFault, runDuty, type DutyParts, type DutySet } from '../kernel/run-duty.ts'
import { firingAt, effectsOfFiring, firingWrites, type FiringDecision } from '../schedule/fire.ts'
import { firingReads, lockedSchedules, type LockedSchedule } from '../schedule/locked.ts'
import { resolveSchedules } from '../schedule/resolve.ts'

const name = 'schedule-fire'
const timer = 'ff_schedule.next_fire_at_ms'

// Each schedule may fire as often as it may catch up, and one statement writes all firings of a set: schedules that would make
// the set too large stay due.
const mostSchedules = 200
const mostFirings = 2000

// `is not distinct from` keeps the planner from reading by namespace; the rows are needed in the order of time.
const due = dueRows(
  name,
  `
select s.schedule_id as id
from flowfabric.ff_schedule s
where s.next_fire_at_ms <= flowfabric.ff_now_ms()
  and ($2::text is null or s.namespace is not distinct from $2)
  and ($3::text is null or s.tags ->> $3 = $4)
  and ${notQuarantined(name, 's.schedule_id')}
order by s.next_fire_at_ms, s.schedule_id
limit $1`,
)

// From ten seconds, doubled with each failure, to an hour.
const quarantine = statement({
  name: `duty.${name}.set-aside`,
  params: { schedule_id: 'uuid', error: 'text' },
  row: { namespace: 'text', schedule_name: 'text', failure_count: 'int4', retry_in_ms: 'int8' },
  text: `
with subject as materialized (
  select s.schedule_id, s.namespace, s.schedule_name, coalesce(a.failure_count, 0) + 1 as failure_count
  from flowfabric.ff_schedule s
  left join flowfabric.ff_set_aside a on a.duty = '${name}' and a.subject_id = any (array[s.schedule_id])
  where s.schedule_id = $1
),
delayed as materialized (
  select j.*, least(3600000, 10000 * power(2, least(j.failure_count - 1, 20)))::int8 as retry_in_ms
  from subject j
),
written as (
  insert into flowfabric.ff_set_aside (duty, subject_id, failure_count, retry_at_ms, error)
  select '${name}', schedule_id, failure_count, flowfabric.ff_now_ms() + retry_in_ms, $2
  from delayed
  on conflict (duty, subject_id) do update
  set failure_count = excluded.failure_count, retry_at_ms = excluded.retry_at_ms, error = excluded.error
)
select namespace, schedule_name, failure_count, retry_in_ms
from delayed`,
})

const parts: DutyParts = {
  name,
  due,
  act: fireDue,
  largestBatch: mostSchedules,
  quarantine: async (sql, uuid, error) => {
    const [row] = await sql.query(quarantine, { schedule_id: uuid, error })
    if (row === undefined) return null
    const subject = `schedule '${row.schedule_name}' of namespace '${row.namespace}'`
    return { subject, retryInMs: row.retry_in_ms, failureCount: row.failure_count }
  },
}

export const scheduleFire: Duty = {
  name,
  watch: { column: timer, isPrompt: true },
  intervalMs: 1000,
  runOnce: (sql, options) => runDuty(sql, parts, options),
}

async function fireDue(sql: Sql, uuids: readonly string[]): Promise<DutySet> {
  await resolveSchedules(sql, uuids)
  let decisions: readonly FiringDecision[] = []
  const [created] = await sql.decide(firingReads(uuids), (rows) => {
    decisions = decideWithin(lockedSchedules(rows), mostFirings)
    const taken = decisions.map(({ schedule }) => schedule.uuid)
    return [...firingWrites(decisions, name), releaseCall(name, taken)]
  })
  return {
    seen: uuids.length,
    processed: decisions.length,
    effects: effectsOfFiring(decisions, created, name),
  }
}

function decideWithin(schedules: readonly LockedSchedule[], most: number): FiringDecision[] {
  const decisions: FiringDecision[] = []
  let count = 0
  for (const schedule of schedules) {
    if (count >= most) break
    const decided = decide(schedule)
    decisions.push(...decided)
    count += decided.reduce((sum, { firings }) => sum + firings.length, 0)
  }
  return decisions
}

/** None for a schedule that was paused, postponed or fired since it was read, or whose last execution is locked. */
function decide(schedule: LockedSchedule): FiringDecision[] {
  const { now, nextFireAt, isPaused, isPreviousHeld } = schedule
  if (isPaused || isPreviousHeld || nextFireAt === null || nextFireAt > now) return []
  const { fired, skipped, queued, ...rest } = planned(schedule)
  const seen = [schedule.lastPlannedAt ?? 0, ...fired, ...skipped, ...queued]
  return [
    {
      ...rest,
      schedule,
      skipped,
      queued,
      firings: fired.map((time) => firingAt(schedule, time)),
      lastPlannedAt: Math.max(...seen) || null,
    },
  ]
}

// A pattern that was valid when it was stored may be invalid for the running version.
function planned(schedule: LockedSchedule) {
  try {
    return firingsOf(schedule, schedule.now)
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    throw new RowFault(`its next times cannot be computed: ${message}`, { cause })
  }
}
