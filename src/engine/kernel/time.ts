import { EngineError } from '../../model/errors.ts'
import { show } from '../../model/text.ts'

// The last millisecond of the year 9999: far enough for anyone, and a sum with any duration is still exact.
const lastTime = 253_402_300_799_999

export function checkTime(field: string, value: number): number {
  if (Number.isSafeInteger(value) && value >= 0 && value <= lastTime) return value
  throw new EngineError('invalid_input', `${field} is ${show(value)}; it must be a time in milliseconds since 1970`, {
    field,
  })
}
