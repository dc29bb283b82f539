import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checkText, hasLoneSurrogate, nearest, show } from '../../src/model/text.ts'
import { refused } from './refused.ts'

describe('text', () => {
  test('is measured in bytes of UTF-8', () => {
    expect(checkText('word', 'äöü', { maxBytes: 6 })).toBe('äöü')
    const error = refused('invalid_input', () => checkText('word', 'äöü', { maxBytes: 5 }))
    expect(error.message).toBe('word is 6 bytes long; it must be 0 to 5 bytes of text')
  })

  test('that is far too long is refused by its length alone', () => {
    const error = refused('invalid_input', () => checkText('word', 'x'.repeat(1_000_000), { maxBytes: 5 }))
    expect(error.message).toBe('word is at least 1000000 bytes long; it must be 0 to 5 bytes of text')
  })

  test('that is empty is refused where a value is required', () => {
    const error = refused('invalid_input', () => checkText('word', '', { minBytes: 1, maxBytes: 5 }))
    expect(error.details).toEqual({ field: 'word', found: 'empty', allowed: '1 to 5 bytes of text' })
    expect(checkText('word', '', { maxBytes: 5 })).toBe('')
  })

  test.each([undefined, null, 7, true, ['a'], { a: 1 }, Symbol('a'), 7n, () => 'a'])('is never %s', (value) => {
    refused('invalid_input', () => checkText('word', value, { maxBytes: 100 }))
  })

  test.each(['a\0b', '\0', 'a\ud800', '\udc00a', '\ud83d \ude00'])(
    'with NUL or a lone surrogate is refused: %j',
    (text) => {
      refused('invalid_input', () => checkText('word', text, { maxBytes: 100 }))
    },
  )

  test('with a whole surrogate pair is kept', () => {
    expect(checkText('word', '😀', { maxBytes: 4 })).toBe('😀')
  })

  test('of printable ASCII has no control and no foreign letter', () => {
    const rule = { maxBytes: 100, printableAscii: true }
    expect(checkText('lane', ' a~', rule)).toBe(' a~')
    for (const text of ['a\tb', 'a\n', '\x7f', 'ä']) refused('invalid_input', () => checkText('lane', text, rule))
  })

  test('without control characters may have foreign letters', () => {
    const rule = { maxBytes: 100, refuseControls: true }
    expect(checkText('kind', 'größe', rule)).toBe('größe')
    for (const text of ['a\tb', 'a\n', '\x7f', '\x85']) refused('invalid_input', () => checkText('kind', text, rule))
  })

  test('is refused with the code of its rule', () => {
    refused('invalid_tag', () => checkText('tag', 1, { maxBytes: 1, code: 'invalid_tag' }))
  })

  test('that is accepted survives UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        try {
          checkText('word', text, { maxBytes: 40 })
        } catch {
          return
        }
        expect(Buffer.from(text).toString()).toBe(text)
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(40)
      }),
    )
  })

  test('has a lone surrogate exactly when UTF-8 cannot carry it', () => {
    const unit = fc.constantFrom('a', '\ud83d', '\ude00')
    fc.assert(
      fc.property(fc.array(unit), (units) => {
        const text = units.join('')
        expect(hasLoneSurrogate(text)).toBe(Buffer.from(text).toString() !== text)
      }),
    )
  })
})

describe('a value in a message', () => {
  test.each([
    ['a "b"\n', '"a \\"b\\"\\n"'],
    [7, '7'],
    [NaN, 'NaN'],
    [7n, '7n'],
    [null, 'null'],
    [undefined, 'undefined'],
    [[1], 'an array'],
    [{ a: 1 }, 'an object'],
    [() => 1, 'a function'],
    [Symbol('a'), 'Symbol(a)'],
  ])('%s is shown as %s', (value, shown) => {
    expect(show(value)).toBe(shown)
  })

  test('is cut when it is long', () => {
    expect(show('x'.repeat(500))).toBe(`"${'x'.repeat(79)}…"`)
  })

  test('that is an object is shown without a call of its methods', () => {
    expect(show({ toString: () => 'x'.repeat(1e6), toJSON: () => expect.unreachable() })).toBe('an object')
  })
})

describe('the nearest word', () => {
  const words = ['attempts', 'backoff', 'categories', 'jitter']
  test.each([
    ['attempt', 'attempts'],
    ['backOff', 'backoff'],
    ['jiter', 'jitter'],
    ['catagorys', 'categories'],
  ])('to %s is %s', (word, meant) => {
    expect(nearest(word, words)).toBe(meant)
  })

  test('may be further off when it begins alike', () => {
    expect(nearest('retires', ['retry', 'timeout', 'schema'])).toBe('retry')
    expect(nearest('retention', ['retry', 'timeout', 'schema'])).toBeUndefined()
    expect(nearest('report', ['repair'])).toBeUndefined()
  })

  test('is none when nothing is near', () => {
    expect(nearest('priority', words)).toBeUndefined()
    expect(nearest('', words)).toBeUndefined()
    expect(nearest('x'.repeat(10_000), words)).toBeUndefined()
  })
})
