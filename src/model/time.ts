import { EngineError } from './errors.ts'
import { show } from './text.ts'

/** The last millisecond of the year 9999: a sum with any duration is still exact. */
export const lastTime = 253_402_300_799_999

export function checkTime(field: string, value: unknown): number {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value <= lastTime) return value
  throw new EngineError('invalid_input', `${field} is ${show(value)}; it must be a time in milliseconds since 1970`, {
    field,
  })
}
