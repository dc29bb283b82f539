// Times as people read them.
import type { Printer } from './print.ts'

const units = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1000],
] as const

/** `340ms`, `1.2s`, `3m 5s`, `2d 4h`: the two largest units. */
export function span(ms: number): string {
  const length = Math.abs(Math.round(ms))
  if (length < 1000) return `${length}ms`
  if (length < 10_000) return `${(length / 1000).toFixed(1)}s`
  const first = units.findIndex(([, size]) => length >= size)
  const [name, size] = units[first]!
  const whole = `${Math.floor(length / size)}${name}`
  const next = units[first + 1]
  const rest = next === undefined ? 0 : Math.floor((length % size) / next[1])
  return rest === 0 ? whole : `${whole} ${rest}${next![0]}`
}

/** `3m 5s ago`, `in 2d`. */
export function relative(at: number, now: number): string {
  const distance = at - now
  if (Math.abs(distance) < 1000) return 'now'
  return distance < 0 ? `${span(distance)} ago` : `in ${span(distance)}`
}

export function instant(at: number): string {
  return new Date(at).toISOString()
}

/** For a column: relative on a terminal, the instant into a pipe. Empty for null. */
export function timeCell({ isTerminal }: Printer, now: number): (at: number | null) => string {
  return (at) => (at === null ? '' : isTerminal ? relative(at, now) : instant(at))
}

/** Without the day if it is today. */
export function clockTime(at: number, now: number): string {
  const text = instant(at)
  return text.slice(0, 10) === instant(now).slice(0, 10) ? text.slice(11, 23) : text.replace('T', ' ').slice(0, 23)
}
