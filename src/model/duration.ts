import ms from 'ms'
import { refusal } from './errors.ts'
import type { ErrorCode } from './errors.ts'
import { limits } from './limits.ts'
import { show } from './text.ts'

/** Milliseconds, or a text with one unit: `'250ms'`, `'30s'`, `'5m'`, `'2 hours'`, `'7d'`. */
export type Duration = number | `${number}` | `${number}${AnyCase}` | `${number} ${AnyCase}`

// The units of `ms`. Its types are a package of their own, which users of this package do not have.
type Word =
  | 'year'
  | 'yr'
  | 'week'
  | 'day'
  | 'hour'
  | 'hr'
  | 'minute'
  | 'min'
  | 'second'
  | 'sec'
  | 'millisecond'
  | 'msec'
type Unit = 'y' | 'w' | 'd' | 'h' | 'm' | 's' | 'ms' | Word | `${Word}s`
type AnyCase = Unit | Uppercase<Unit> | Capitalize<Unit>

export function parseDuration(field: string, value: unknown, code: ErrorCode = 'invalid_input'): number {
  const duration = typeof value === 'string' ? parseUnit(value) : value
  if (typeof duration === 'number' && Number.isInteger(duration) && duration >= 0 && duration <= limits.durationMs) {
    return duration
  }
  throw refusal(code, field, show(value), allowed)
}

const allowed =
  "a whole number of milliseconds, or a number with one unit such as '250ms', '30s', '5m', '2h' or '7d', from 0 to 100 years"

/** `ms` returns nothing for combined units (`1h30m`) and ISO durations; it throws for an empty or overlong text. */
function parseUnit(text: string): number | undefined {
  if (text.length === 0 || text.length > 100) return undefined
  const exact: number | undefined = ms(text as ms.StringValue)
  if (exact === undefined) return undefined
  // 1.1 times a unit is slightly off a whole number; half a millisecond is more than that.
  const whole = Math.round(exact)
  return Math.abs(exact - whole) < 1e-3 ? whole : undefined
}
