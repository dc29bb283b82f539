// A firing by hand, now: paused or not, and whatever its times are. What overlaps is treated as always.
import { EngineError } from '../../model/errors.ts'
import { formatExecutionId, type ExecutionId } from '../../model/id.ts'
import { earliest, lookAgainAt, triggered } from '../../model/schedule.ts'
import { mintUuid } from '../../model/uuid.ts'
import { call, type Sql } from '../../sql/sql.ts'
import { statement } from '../../sql/statement.ts'
import type { Caller } from '../kernel/caller.ts'
import type { Written } from '../kernel/effects.ts'
import { contended } from '../kernel/failure.ts'
import { untilSent } from '../kernel/resend.ts'
import { effectsOfFiring, firingAt, firingWrites, type FiringDecision } from './fire.ts'
import { firingReads, lockedSchedules } from './locked.ts'
import { resolveSchedules } from './resolve.ts'
import { checkNamed, nameParams, scheduleNotFound, type NamedSchedule } from './named.ts'

export type TriggerResult =
  | { readonly kind: 'fired'; readonly scheduleId: string; readonly executionId: ExecutionId }
  /** The last execution has not ended. */
  | { readonly kind: 'skipped'; readonly scheduleId: string; readonly executionId: ExecutionId }
  /** It fires when those before it have ended. */
  | { readonly kind: 'queued'; readonly scheduleId: string; readonly plannedAt: number }

const find = statement({
  name: 'schedule.find',
  params: nameParams,
  row: { schedule_id: 'uuid' },
  text: `
select schedule_id
from flowfabric.ff_schedule
where namespace = $1 and schedule_name = $2`,
})

// Waits for the lock of the schedule; the duty would skip a locked one.
const lockOne = statement({
  name: 'schedule.lock',
  params: { schedule_id: 'uuid' },
  row: {},
  text: `
select from flowfabric.ff_schedule
where schedule_id = $1
for no key update`,
})

const patienceMs = 2000

export async function triggerSchedule(
  sql: Sql,
  caller: Caller,
  request: NamedSchedule,
): Promise<Written<TriggerResult>> {
  const name = checkNamed('schedules.trigger', caller, request)
  const [found] = await sql.query(find, name)
  if (found === undefined) throw scheduleNotFound(name.schedule_name)
  await resolveSchedules(sql, [found.schedule_id])
  const executionUuid = mintUuid()
  let answer: TriggerResult | undefined
  let decided: readonly FiringDecision[] = []
  // When the reply is lost it is not sent again: it could fire a second time.
  const [created] = await untilSent(sql, { again: false, onlyOnce: true }, () =>
    sql.decide(
      [call(lockOne, { schedule_id: found.schedule_id }), ...firingReads([found.schedule_id])],
      ([, ...looked]) => {
        const [schedule] = lockedSchedules(looked)
        if (schedule === undefined) throw scheduleNotFound(name.schedule_name)
        if (schedule.isPreviousHeld) throw contended()
        const { time, fired, queued, skipped, cancelsPrevious } = triggered(schedule, schedule.now)
        const firings = fired.map((at) =>
          at === time
            ? { ...firingAt(schedule, at), uuid: executionUuid, key: `by hand ${executionUuid}`, delayMs: 0 }
            : firingAt(schedule, at),
        )
        const decision: FiringDecision = {
          schedule,
          firings,
          skipped,
          queued,
          cancelsPrevious,
          plannedAt: schedule.plannedAt,
          nextFireAt: schedule.isPaused ? null : earliest(schedule.plannedAt, lookAgainAt(queued, schedule.now)),
          lastPlannedAt: schedule.lastPlannedAt,
        }
        answer = answerOf(decision, time, executionUuid)
        decided = [decision]
        return firingWrites(decided, caller.actor)
      },
      { lockTimeoutMs: patienceMs },
    ),
  )
  return { answer: answer!, effects: effectsOfFiring(decided, created, caller.actor) }
}

function answerOf({ schedule, firings, skipped }: FiringDecision, time: number, executionUuid: string): TriggerResult {
  const { scheduleId, partition, lastExecutionUuid } = schedule
  if (firings.some((firing) => firing.uuid === executionUuid)) {
    return { kind: 'fired', scheduleId, executionId: formatExecutionId(partition, executionUuid) }
  }
  if (!skipped.includes(time)) return { kind: 'queued', scheduleId, plannedAt: time }
  if (lastExecutionUuid === null) throw new EngineError('internal_error', `schedule '${scheduleId}' did not fire`)
  return { kind: 'skipped', scheduleId, executionId: formatExecutionId(partition, lastExecutionUuid) }
}
