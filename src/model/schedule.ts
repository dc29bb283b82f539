// The decision for a due schedule: which of its times fire, which are skipped, which wait, and when it is due again.
import { crc16 } from './crc16.ts'
import { limits } from './limits.ts'
import { nextTime, timesUpTo, type Timing } from './schedule-timing.ts'

/**
 * What a firing does when the execution of the last one has not ended: it is skipped, waits for it, cancels it, or
 * starts anyway.
 */
export const overlaps = ['skip', 'queue', 'cancelPrevious', 'allow'] as const
export type Overlap = (typeof overlaps)[number]

/**
 * What happens to times at which no supervisor was running: nothing fires, the last of them, or all up to a limit. A
 * time that is late by less than a minute was not missed.
 */
export const catchUps = ['none', 'last', 'all'] as const
export type CatchUp = (typeof catchUps)[number]

export interface DueSchedule {
  readonly timing: Timing
  /** The first time that is not processed; null when none is left. */
  readonly plannedAt: number | null
  /** The last processed time; a clock that was set back fires none of them again. */
  readonly lastPlannedAt: number | null
  readonly until: number | null
  readonly overlap: Overlap
  readonly catchUp: CatchUp
  readonly catchUpLimit: number
  /** Times that wait for the last firing's execution to end. */
  readonly queued: readonly number[]
  readonly isPreviousRunning: boolean
}

export interface Firings {
  /** Oldest first. */
  readonly fired: readonly number[]
  readonly skipped: readonly number[]
  readonly queued: readonly number[]
  readonly cancelsPrevious: boolean
  readonly plannedAt: number | null
  /** When it is due again; null: never. */
  readonly nextFireAt: number | null
}

const notMissedMs = 60_000
// The schedule receives no event when the execution that it waits for ends.
const shortestCheckMs = 1000
const longestLookMs = 15_000

export function firingsOf(schedule: DueSchedule, now: number): Firings {
  const due = dueTimes(schedule, now)
  const plannedAt =
    schedule.plannedAt !== null && schedule.plannedAt > now ? schedule.plannedAt : plannedAfter(schedule, now)
  const { fired, skipped, queued, cancelsPrevious } = overlapping(schedule, due)
  const nextFireAt = earliest(plannedAt, lookAgainAt(queued, now))
  return { fired, skipped, queued, cancelsPrevious, plannedAt, nextFireAt }
}

/** The firing by hand at `now`, whatever its times are. */
export function triggered(schedule: DueSchedule, now: number): Overlapping & { readonly time: number } {
  const time = unplannedTime(schedule, now)
  return { time, ...overlapping(schedule, [time]) }
}

// Never one of the schedule's own times: each time fires once.
function unplannedTime({ timing, queued }: DueSchedule, now: number): number {
  let time = Math.max(now, ...queued.map((waiting) => waiting + 1))
  while (nextTime(timing, time - 1) === time) time += 1
  return time
}

/** When to check waiting times again; null without any. */
export function lookAgainAt(queued: readonly number[], now: number): number | null {
  const [first] = queued
  return first === undefined ? null : now + lookAgainMs(now - first)
}

/** Its first time after this one; null when it has none, or only after its end. */
export function plannedAfter({ timing, until }: Pick<DueSchedule, 'timing' | 'until'>, after: number): number | null {
  const next = nextTime(timing, after)
  return next === null || (until !== null && next > until) ? null : next
}

export function earliest(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.min(one, other)
}

function dueTimes(schedule: DueSchedule, now: number): number[] {
  const { timing, plannedAt, lastPlannedAt, until, catchUp, catchUpLimit } = schedule
  if (plannedAt === null) return []
  const end = until === null ? now : Math.min(now, until)
  const times = timesUpTo(timing, plannedAt, end, catchUp === 'all' ? catchUpLimit : 1)
  const isMissed = (time: number): boolean => catchUp === 'none' && now - time > notMissedMs
  return times.filter((time) => !isMissed(time) && (lastPlannedAt === null || time > lastPlannedAt))
}

export type Overlapping = Pick<Firings, 'fired' | 'skipped' | 'queued' | 'cancelsPrevious'>

function overlapping({ overlap, queued, isPreviousRunning }: DueSchedule, due: readonly number[]): Overlapping {
  switch (overlap) {
    case 'allow':
      return { fired: due, skipped: [], queued: [], cancelsPrevious: false }
    case 'skip': {
      // The first of them runs when the second's turn comes.
      const fired = isPreviousRunning ? [] : due.slice(0, 1)
      return { fired, skipped: due.slice(fired.length), queued: [], cancelsPrevious: false }
    }
    case 'cancelPrevious': {
      // Each would cancel the one before, so only the last is started.
      const fired = due.slice(-1)
      return { fired, skipped: due.slice(0, -1), queued: [], cancelsPrevious: isPreviousRunning && fired.length > 0 }
    }
    case 'queue': {
      const waiting = [...queued, ...due]
      const fired = isPreviousRunning ? [] : waiting.slice(0, 1)
      const left = waiting.slice(fired.length)
      const most = limits.queuedFirings
      return { fired, skipped: left.slice(most), queued: left.slice(0, most), cancelsPrevious: false }
    }
  }
}

function lookAgainMs(waitedMs: number): number {
  return Math.min(Math.max(Math.round(waitedMs / 8), shortestCheckMs), longestLookMs)
}

/** How much later than planned an execution may be claimed: the same for the same time of the same schedule. */
export function jitterOf(scheduleUuid: string, plannedAt: number, jitterMs: number): number {
  const share = crc16(Buffer.from(`${scheduleUuid} ${plannedAt}`)) / 65_536
  return Math.floor(share * (jitterMs + 1))
}
