import { expect, test } from 'vitest'
import { checkCodec, jsonCodec } from '../../src/model/codec.ts'
import { refused } from '../model/refused.ts'

test.each([[null], [0], [''], ['ü 😀'], [[1, { a: null }]], [{ nested: { deep: [true] } }]])(
  '%j returns unchanged',
  (value) => {
    const encoded = jsonCodec.encode(value)
    expect(encoded.encoding).toBe('json')
    expect(jsonCodec.decode(encoded)).toEqual(value)
  },
)

test.each([[undefined], [() => 1], [Symbol('x')]])('a value without a JSON form is refused: %s', (value) => {
  refused('invalid_input', () => jsonCodec.encode(value))
})

class Money {
  readonly amount = 5
}

test.each([
  [
    { items: new Map([['a', 1]]) },
    'items is a Map, which JSON cannot store; convert it with Object.fromEntries(map), or use a codec that keeps it',
  ],
  [[{ 'a b': new Set() }], '[0]["a b"] is a Set, which JSON cannot store; convert it with Array.from(set)'],
  [new Map(), 'it is a Map'],
  [
    { price: new Money() },
    'price is an instance of Money, which JSON cannot store; convert it to a plain object, give its class a toJSON method, or',
  ],
  [{ error: new TypeError('x') }, 'error is an instance of TypeError, which JSON cannot store; take its message'],
  [{ late: Promise.resolve(1) }, 'late is a Promise, which JSON cannot store; await it'],
  [{ bytes: [new Uint8Array(2)] }, 'bytes[0] is an instance of Uint8Array'],
  [{ call: () => 1 }, 'call is a function, which JSON cannot store; leave it out'],
  [{ tag: Symbol('x') }, 'tag is a symbol'],
  [{ own: { toJSON: () => ({ inner: new Map() }) } }, 'own.inner is a Map'],
  [{ own: { toJSON: () => new Date(0) } }, 'own is an instance of Date'],
])('a value that JSON would lose is refused by its path: %o', (value, sentence) => {
  expect(refused('invalid_input', () => jsonCodec.encode(value)).message).toContain(sentence)
})

test('a copy that toJSON makes may carry the method itself', () => {
  const copied = {
    a: 1,
    toJSON(): object {
      return { ...this }
    },
  }
  expect(jsonCodec.decode(jsonCodec.encode({ copied }))).toEqual({ copied: { a: 1 } })
})

test('undefined fields are omitted, and toJSON decides what a value becomes', () => {
  const bare = Object.assign(Object.create(null) as object, { a: 1 })
  const value = { at: new Date(0), no: undefined, bare, own: { toJSON: () => 'own' }, list: [undefined] }
  expect(jsonCodec.decode(jsonCodec.encode(value))).toEqual({
    at: '1970-01-01T00:00:00.000Z',
    bare: { a: 1 },
    own: 'own',
    list: [null],
  })
})

test('bytes of another encoding are refused by name', () => {
  const error = refused('invalid_input', () => jsonCodec.decode({ bytes: new Uint8Array(), encoding: 'cbor' }))
  expect(error.message).toContain('cbor')
})

test('a codec that must be awaited is refused when it is given, and one that throws is not', () => {
  const encoded = jsonCodec.encode(null)
  const slow = refused('invalid_input', () => checkCodec({ ...jsonCodec, encode: async () => encoded }))
  expect(slow.message).toBe('the codec returned a promise; encode must return { bytes, encoding } synchronously')
  refused('invalid_input', () => checkCodec({ ...jsonCodec, encode: () => Promise.reject(new Error('no key')) }))
  refused('invalid_input', () => checkCodec({ ...jsonCodec, encode: () => null }))
  const late = refused('invalid_input', () => checkCodec({ ...jsonCodec, decode: async () => null }))
  expect(late.message).toBe('the codec returned a promise; decode must return the value synchronously')
  const locked = (): never => {
    throw new Error('the keys are not there yet')
  }
  checkCodec({ encode: locked, decode: locked })
  checkCodec(jsonCodec)
})
