// Schedules whose time has come. What is due is looked for first; then it is locked, decided here and written.
import { firingsOf } from '../../model/schedule.ts'
import type { Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import { effectsOfFiring, firingAt, firingWrites, type FiringDecision } from '../schedule/fire.ts'
import { firingReads, lockedSchedules, type LockedSchedule } from '../schedule/locked.ts'
import { resolveSchedules } from '../schedule/resolve.ts'
import { takenUpCall } from '../kernel/candidate.ts'
import type { Duty } from '../kernel/duty.ts'
import { scopeOf, scopeParams } from '../kernel/scope.ts'
import { emptyDutySet, RowFault, runDuty, type DutySet, type DutySteps } from '../kernel/run-duty.ts'

const name = 'schedule-fire'
const timer = 'ff_schedule.next_fire_at_ms'

// Each may fire as often as it may catch up, and all that a set fires is written by one statement: those that would make it
// too large stay due.
const mostSchedules = 200
const mostFirings = 2000

// `is not distinct from` is no reason to read by namespace what is wanted by time.
const due = statement({
  name: `duty.${name}.due`,
  params: scopeParams,
  row: { schedule_id: 'uuid' },
  text: `
select s.schedule_id
from flowfabric.ff_schedule s
where s.next_fire_at_ms <= flowfabric.ff_now_ms()
  and ($2::text is null or s.namespace is not distinct from $2)
  and ($3::text is null or s.tags ->> $3 = $4)
  and not exists (
    select from flowfabric.ff_set_aside a
    where a.duty = '${name}' and a.subject_id = any (array[s.schedule_id]) and a.retry_at_ms > flowfabric.ff_now_ms())
order by s.next_fire_at_ms, s.schedule_id
limit $1`,
})

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

export const scheduleFire: Duty = {
  name,
  watch: { column: timer, isPrompt: true },
  intervalMs: 1000,
  runOnce(sql, options = {}) {
    const steps: DutySteps = {
      look: async (scope) => {
        const rows = await sql.query(due, scope)
        return rows.map((row) => ({ execution_id: row.schedule_id }))
      },
      act: async (scope, only) => {
        const uuids = only.length > 0 ? only : (await steps.look(scope)).map((row) => row.execution_id)
        return fireDue(sql, uuids)
      },
      quarantine: async (uuid, error) => {
        const [row] = await sql.query(quarantine, { schedule_id: uuid, error })
        if (row === undefined) return null
        const subject = `schedule '${row.schedule_name}' of namespace '${row.namespace}'`
        return { subject, retryInMs: row.retry_in_ms, failureCount: row.failure_count }
      },
    }
    const batch = Math.min(scopeOf(options).batch, mostSchedules)
    return runDuty(sql, name, steps, { ...options, batch })
  },
}

async function fireDue(sql: Sql, uuids: readonly string[]): Promise<DutySet> {
  if (uuids.length === 0) return emptyDutySet
  await resolveSchedules(sql, uuids)
  let decisions: readonly FiringDecision[] = []
  const [cancelled, created] = await sql.decide(firingReads(uuids), (looked) => {
    decisions = decideWithin(lockedSchedules(looked), mostFirings)
    const taken = decisions.map(({ schedule }) => schedule.uuid)
    return [...firingWrites(decisions, name), takenUpCall(name, taken)]
  })
  return {
    seen: uuids.length,
    processed: decisions.length,
    effects: effectsOfFiring(cancelled, created),
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

/** Nothing for what has been paused, put off or fired since it was looked for, or whose last execution is held. */
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

// A pattern that was good when it was put may not be one for the version that runs now.
function planned(schedule: LockedSchedule) {
  try {
    return firingsOf(schedule, schedule.now)
  } catch (cause) {
    const message = cause instanceof Error ? cause.message : String(cause)
    throw new RowFault(`its next times cannot be computed: ${message}`, { cause })
  }
}
