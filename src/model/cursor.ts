// A cursor contains the key of the last row of a page. It is opaque to callers, names its list, and ends in a checksum
// that detects damage. It is no secret and no proof, so its contents are checked like any other input.
import { crc16 } from './crc16.ts'
import { EngineError } from './errors.ts'
import { limits } from './limits.ts'
import { hasLoneSurrogate } from './text.ts'

export type CursorField = 'int' | 'uuid' | 'text'

export function encodeCursor(list: string, key: readonly (string | number)[]): string {
  const body = Buffer.from(JSON.stringify([list, ...key]))
  return Buffer.concat([body, checksum(body)]).toString('base64url')
}

export function decodeCursor(list: string, text: unknown, shape: readonly CursorField[]): (string | number)[] {
  const fields = unseal(text)
  if (fields === null) {
    throw new EngineError(
      'invalid_cursor',
      'the cursor is damaged; pass nextCursor unchanged, or start without a cursor',
      {
        list,
      },
    )
  }
  const [from, ...key] = fields
  if (from !== list) {
    throw new EngineError(
      'invalid_cursor',
      `the cursor does not belong to the list ${list}; start this list without a cursor`,
      {
        list,
      },
    )
  }
  if (!hasShape(key, shape)) {
    throw new EngineError('invalid_cursor', `the cursor does not fit the list ${list}; start without a cursor`, {
      list,
    })
  }
  return key
}

function unseal(text: unknown): unknown[] | null {
  if (typeof text !== 'string' || text.length > limits.cursorBytes) return null
  const bytes = Buffer.from(text, 'base64url')
  // Node skips characters that are not base64url, so the text is valid only if it encodes to itself.
  if (bytes.length <= 2 || bytes.toString('base64url') !== text) return null
  const body = bytes.subarray(0, -2)
  if (!checksum(body).equals(bytes.subarray(-2))) return null
  try {
    const fields: unknown = JSON.parse(body.toString())
    return Array.isArray(fields) ? fields : null
  } catch {
    return null
  }
}

function checksum(body: Uint8Array): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16BE(crc16(body))
  return bytes
}

function hasShape(key: readonly unknown[], shape: readonly CursorField[]): key is (string | number)[] {
  return key.length === shape.length && shape.every((field, index) => isField[field](key[index]))
}

const isField: Readonly<Record<CursorField, (value: unknown) => boolean>> = {
  int: (value) => Number.isSafeInteger(value),
  uuid: (value) => typeof value === 'string' && /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(value),
  text: (value) => typeof value === 'string' && !value.includes('\0') && !hasLoneSurrogate(value),
}
