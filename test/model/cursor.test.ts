import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { crc16 } from '../../src/model/crc16.ts'
import { decodeCursor, encodeCursor } from '../../src/model/cursor.ts'
import { refused } from './refused.ts'

const uuid = '550e8400-e29b-41d4-a716-446655440000'
const shape = ['int', 'uuid'] as const

/** A cursor with a right checksum around any body, as a forger would write it. */
function seal(body: string): string {
  const bytes = Buffer.from(body)
  const crc = crc16(bytes)
  return Buffer.concat([bytes, Buffer.from([crc >> 8, crc & 0xff])]).toString('base64url')
}

describe('a cursor', () => {
  test('returns the key that it was created from', () => {
    const texts = fc.string({ unit: 'grapheme' }).filter((text) => !text.includes('\0'))
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.uuid(), texts, (int, id, text) => {
        const key = [int === 0 ? 0 : int, id, text]
        expect(decodeCursor('executions', encodeCursor('executions', key), ['int', 'uuid', 'text'])).toEqual(key)
      }),
    )
  })

  test('fits into a URL unchanged', () => {
    expect(encodeCursor('lanes', ['größe?&/+'])).toMatch(/^[\w-]+$/)
  })

  test('of another list is refused', () => {
    const error = refused('invalid_cursor', () => decodeCursor('lanes', encodeCursor('executions', [7, uuid]), shape))
    expect(error.message).toBe('the cursor does not belong to the list lanes; start this list without a cursor')
  })

  test.each([
    [[], shape],
    [[7], shape],
    [[7, uuid, 'more'], shape],
    [[uuid, 7], shape],
    [[7.5, uuid], shape],
    [[2 ** 53, uuid], shape],
    [[7, uuid.toUpperCase()], shape],
    [[7, 'not a uuid'], shape],
    [['a\0b'], ['text']],
    [['a\ud800'], ['text']],
  ] as const)('whose key %j does not have the shape %j is refused', (key, wanted) => {
    refused('invalid_cursor', () => decodeCursor('executions', encodeCursor('executions', key), wanted))
  })

  test('that lost or changed any one character is refused', () => {
    const cursor = encodeCursor('executions', [7, uuid])
    for (const [index, letter] of cursor.split('').entries()) {
      const changed = cursor.slice(0, index) + (letter === 'A' ? 'B' : 'A') + cursor.slice(index + 1)
      const shortened = cursor.slice(0, index) + cursor.slice(index + 1)
      refused('invalid_cursor', () => decodeCursor('executions', changed, shape))
      refused('invalid_cursor', () => decodeCursor('executions', shortened, shape))
    }
  })

  test.each([
    '',
    'A',
    'AAAA',
    '%%%',
    `${encodeCursor('executions', [7, uuid])}=`,
    ` ${encodeCursor('executions', [7, uuid])}`,
    seal(''),
    seal('{'),
    seal('null'),
    seal('{"0":"executions"}'),
    seal('[]'),
    seal(`["executions",7,["${uuid}"]]`),
    seal('["executions",1e400,"x"]'),
    'A'.repeat(100_000),
    null,
    undefined,
    7,
    ['x'],
  ])('is never %j', (text) => {
    refused('invalid_cursor', () => decodeCursor('executions', text, shape))
  })
})
