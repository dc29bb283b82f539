// The times of a schedule: by a cron pattern in a time zone, or by an interval. Pure: all times are milliseconds that
// the caller passes, and the clock is never read.
//
// A pattern names wall-clock times. When the clocks go forward, a skipped time fires right after the change. When they
// go back, a fixed time fires once, the first time that it is shown, and a repeating one (`*/30 * * * *`) continues by
// elapsed time. An interval ignores clock changes: it counts from its anchor.
import { Cron } from 'croner'
import { EngineError, refusal } from './errors.ts'
import { parseDuration } from './duration.ts'
import { limits } from './limits.ts'
import { checkText, show } from './text.ts'

export type Timing =
  | { readonly kind: 'cron'; readonly cron: string; readonly timeZone: string }
  /** At `anchorAt` plus one interval, plus two, and so on. */
  | { readonly kind: 'every'; readonly everyMs: number; readonly anchorAt: number }

/** As requested; the anchor of an interval is the time at which it is first stored. */
export type TimingRequest =
  | { readonly kind: 'cron'; readonly cron: string; readonly timeZone: string }
  | { readonly kind: 'every'; readonly everyMs: number }

export function parseTiming(given: {
  readonly cron?: unknown
  readonly every?: unknown
  readonly timeZone?: unknown
}): TimingRequest {
  const { cron, every, timeZone } = given
  if ((cron === undefined) === (every === undefined)) {
    const found = cron === undefined ? 'neither cron nor every is given' : 'cron and every are both given'
    throw new EngineError('invalid_input', `${found}; pass exactly one of them`, { field: 'cron' })
  }
  if (cron !== undefined) return parseCron(cron, timeZone === undefined ? 'UTC' : checkTimeZone(timeZone))
  if (timeZone !== undefined) {
    throw new EngineError('invalid_input', 'timeZone is given with every, which does not use it; omit it', {
      field: 'timeZone',
    })
  }
  return { kind: 'every', everyMs: checkEvery(every) }
}

function parseCron(cron: unknown, timeZone: string): TimingRequest {
  const pattern = checkText('cron', cron, { minBytes: 1, maxBytes: limits.cronBytes, printableAscii: true }).trim()
  // The library also accepts a date, which would fire once.
  if (/^\d+-/.test(pattern)) throw refusal('invalid_input', 'cron', show(cron), cronForm)
  try {
    compile(pattern, timeZone).nextRun(new Date(0))
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.replace(/^CronPattern: /, '') : String(cause)
    const message = `cron is ${show(cron)}; it must be ${cronForm} (${why})`
    throw new EngineError('invalid_input', message, { field: 'cron', found: show(cron), allowed: cronForm }, { cause })
  }
  return { kind: 'cron', cron: pattern, timeZone }
}

const cronForm = 'five fields, as in "30 2 * * MON-FRI", six with seconds first, or a macro such as @daily'

function checkTimeZone(value: unknown): string {
  const timeZone = checkText('timeZone', value, { minBytes: 1, maxBytes: limits.timeZoneBytes, printableAscii: true })
  try {
    Intl.DateTimeFormat('en', { timeZone }).format(0)
    return timeZone
  } catch {
    throw refusal('invalid_input', 'timeZone', show(value), 'the name of a time zone, such as Europe/Berlin or UTC')
  }
}

function checkEvery(every: unknown): number {
  const everyMs = parseDuration('every', every)
  if (everyMs >= limits.shortestIntervalMs) return everyMs
  throw refusal('invalid_input', 'every', show(every), `at least ${limits.shortestIntervalMs} ms`)
}

/** The first time after this one; null when there is none. */
export function nextTime(timing: Timing, after: number): number | null {
  if (timing.kind === 'cron') {
    return compile(timing.cron, timing.timeZone).nextRun(new Date(after))?.getTime() ?? null
  }
  const { everyMs, anchorAt } = timing
  const count = Math.floor((after - anchorAt) / everyMs) + 1
  return anchorAt + Math.max(1, count) * everyMs
}

/** The times from `first`, which is one of them, up to `now`, oldest first; of more than `most` the newest. */
export function timesUpTo(timing: Timing, first: number, now: number, most: number): number[] {
  if (first > now) return []
  if (timing.kind === 'every') {
    const passed = Math.floor((now - first) / timing.everyMs)
    const count = Math.min(passed + 1, most)
    return Array.from({ length: count }, (_, index) => first + (passed - count + 1 + index) * timing.everyMs)
  }
  const next = nextTime(timing, first)
  if (next === null || next > now) return [first]
  // Counted backwards, because a fleet may have been down for a million of them. They are whole seconds, and the
  // library excludes the second that it starts from.
  const afterNow = new Date((Math.floor(now / 1000) + 1) * 1000)
  const newest = compile(timing.cron, timing.timeZone).previousRuns(most, afterNow)
  return newest.flatMap((time) => (time.getTime() < first ? [] : [time.getTime()])).toReversed()
}

// Compiling costs more than evaluating, and the duty evaluates the same few patterns again and again.
const compiled = new Map<string, Cron>()
const mostCompiled = 1000

function compile(cron: string, timeZone: string): Cron {
  const key = `${timeZone} ${cron}`
  const known = compiled.get(key)
  if (known !== undefined) return known
  const made = new Cron(cron, { timezone: timeZone, mode: '5-or-6-parts' })
  if (compiled.size >= mostCompiled) compiled.clear()
  compiled.set(key, made)
  return made
}
