// The position of a reader of the log: the id of the last event that it received. Nine bytes, a version and the id in
// big-endian order, written in hexadecimal, so that cursors sort as the events do.
import { EngineError } from '../../model/errors.ts'
import { show } from '../../model/text.ts'

const version = '02'
const cursorForm = /^02([\da-f]{16})$/

export function encodeEventCursor(eventId: number): string {
  return version + eventId.toString(16).padStart(16, '0')
}

export function decodeEventCursor(cursor: unknown): number {
  const digits = typeof cursor === 'string' ? cursorForm.exec(cursor)?.[1] : undefined
  const eventId = digits === undefined ? Number.NaN : Number.parseInt(digits, 16)
  if (Number.isSafeInteger(eventId)) return eventId
  const sentence = `the cursor is ${show(cursor)}; pass the cursor of an event unchanged, or start without a cursor`
  throw new EngineError('invalid_cursor', sentence, { field: 'after' })
}
