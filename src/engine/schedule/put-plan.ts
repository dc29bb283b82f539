// The schedule that a put finds, and the next time of the new one.
import { EngineError } from '../../model/errors.ts'
import { earliest, lookAgainAt, plannedAfter } from '../../model/schedule.ts'
import type { Timing } from '../../model/schedule-timing.ts'
import { statement, type RowOf } from '../../sql/statement.ts'
import { nameParams } from './named.ts'
import type { NewSchedule } from './put-request.ts'
import { timingOf } from './schedule.ts'

const lockRow = {
  now_ms: 'int8',
  schedule_id: 'uuid?',
  cron: 'text?',
  time_zone: 'text?',
  every_ms: 'int8?',
  anchor_at_ms: 'int8?',
  planned_at_ms: 'int8?',
  until_ms: 'int8?',
  paused_at_ms: 'int8?',
  queued_at_ms: 'int8[]',
  request_hash: 'bytea?',
} as const

// One row, also if the schedule does not exist yet.
export const lockNamed = statement({
  name: 'schedule.put.lock',
  params: nameParams,
  row: lockRow,
  text: `
with found as materialized (
  select *
  from flowfabric.ff_schedule
  where namespace = $1 and schedule_name = $2
  for no key update
)
select c.now_ms, f.schedule_id, f.cron, f.time_zone, f.every_ms, f.anchor_at_ms, f.planned_at_ms, f.until_ms,
  f.paused_at_ms, coalesce(f.queued_at_ms, '{}') as queued_at_ms, f.request_hash
from (select count(*) from found) k
left join found f on true
cross join lateral (select f.schedule_id as of, k.count as counted, flowfabric.ff_now_ms() as now_ms offset 0) c`,
})

export interface Planned {
  readonly kind: 'created' | 'changed' | 'unchanged'
  readonly timing: Timing
  readonly plannedAt: number | null
  readonly nextFireAt: number | null
  readonly queued: readonly number[]
}

export function planAgainst(found: RowOf<typeof lockRow>, asked: NewSchedule): Planned {
  const now = found.now_ms
  if (found.schedule_id === null) {
    const timing = timingFrom(asked, now)
    const plannedAt = firstTime(asked, timing, now)
    return { kind: 'created', timing, plannedAt, nextFireAt: plannedAt, queued: [] }
  }
  const timing = timingFrom(asked, found.anchor_at_ms !== null && isSameTiming(found, asked) ? found.anchor_at_ms : now)
  const isSame = Buffer.compare(found.request_hash!, asked.requestHash) === 0
  const keepsTimes = isSameTiming(found, asked) && found.until_ms === asked.until
  const plannedAt = isSame || keepsTimes ? found.planned_at_ms : firstTime(asked, timing, now)
  const queued = asked.overlap === 'queue' ? found.queued_at_ms : []
  const nextFireAt = earliest(plannedAt, lookAgainAt(queued, now))
  return { kind: isSame ? 'unchanged' : 'changed', timing, plannedAt, nextFireAt, queued }
}

function timingFrom({ timing }: NewSchedule, anchorAt: number): Timing {
  return timing.kind === 'cron' ? timing : { ...timing, anchorAt }
}

function isSameTiming(found: RowOf<typeof lockRow>, { timing }: NewSchedule): boolean {
  const stored = timingOf(found)
  if (stored.kind === 'every') return timing.kind === 'every' && timing.everyMs === stored.everyMs
  return timing.kind === 'cron' && timing.cron === stored.cron && timing.timeZone === stored.timeZone
}

function firstTime({ scheduleId, until }: NewSchedule, timing: Timing, now: number): number {
  if (until !== null && until <= now) {
    const sentence = `until is ${instant(until)}, which is in the past; pass a future time, or delete the schedule`
    throw new EngineError('invalid_input', sentence, { field: 'until', scheduleId })
  }
  const first = plannedAfter({ timing, until }, now)
  if (first !== null) return first
  const after = until === null ? '' : ` before ${instant(until)}`
  const found = timing.kind === 'cron' ? `cron '${timing.cron}'` : `an interval of ${timing.everyMs} ms`
  const sentence = `${found} never fires${after}; correct it, or do not create schedule '${scheduleId}'`
  throw new EngineError('invalid_input', sentence, { field: timing.kind, scheduleId })
}

function instant(time: number): string {
  return new Date(time).toISOString()
}
