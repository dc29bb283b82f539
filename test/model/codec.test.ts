import { expect, test } from 'vitest'
import { jsonCodec } from '../../src/model/codec.ts'
import { refused } from '../model/refused.ts'

test.each([[null], [0], [''], ['ü 😀'], [[1, { a: null }]], [{ nested: { deep: [true] } }]])(
  '%j comes back as it went',
  (value) => {
    const encoded = jsonCodec.encode(value)
    expect(encoded.encoding).toBe('json')
    expect(jsonCodec.decode(encoded)).toEqual(value)
  },
)

test.each([[undefined], [() => 1], [Symbol('x')]])('what has no JSON form is refused: %s', (value) => {
  refused('invalid_input', () => jsonCodec.encode(value))
})

test('bytes of another encoding are refused by name', () => {
  const error = refused('invalid_input', () => jsonCodec.decode({ bytes: new Uint8Array(), encoding: 'cbor' }))
  expect(error.message).toContain('cbor')
})
