import { expect, test } from 'vitest'
import { checkCodec, jsonCodec } from '../../src/model/codec.ts'
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

test('a codec that must be awaited is refused when it is given, and one that throws is not', () => {
  const encoded = jsonCodec.encode(null)
  const slow = refused('invalid_input', () => checkCodec({ ...jsonCodec, encode: async () => encoded }))
  expect(slow.message).toBe('the codec gave a promise; encode gives { bytes, encoding }, and at once')
  refused('invalid_input', () => checkCodec({ ...jsonCodec, encode: () => Promise.reject(new Error('no key')) }))
  refused('invalid_input', () => checkCodec({ ...jsonCodec, encode: () => null }))
  const late = refused('invalid_input', () => checkCodec({ ...jsonCodec, decode: async () => null }))
  expect(late.message).toBe('the codec gave a promise; decode gives the value, and at once')
  const locked = (): never => {
    throw new Error('the keys are not there yet')
  }
  checkCodec({ encode: locked, decode: locked })
  checkCodec(jsonCodec)
})
