import { describe, expect, test } from 'vitest'
import { checkTagKey, checkTagValue, matchesFilter, parseTags } from '../../src/model/tag.ts'
import { refused } from './refused.ts'

describe('a tag key', () => {
  test.each(['cairn.task_id', 'app.sub.field', 'no_dot', 'a', 'a.1', 'a._', 'constructor', 'x'.repeat(128)])(
    'TAG-03 may be %s',
    (key) => {
      expect(checkTagKey(key)).toBe(key)
    },
  )

  test.each([
    'Cairn.x',
    'cairn.',
    'cairn..x',
    'cairn.x.',
    'cairn.Foo',
    'cairn.foo bar',
    '1a.b',
    '.a',
    '_a',
    '__proto__',
    'a-b',
    'a\n',
    'ä',
    '',
    'x'.repeat(129),
    null,
    7,
  ])('TAG-03 is never %j', (key) => {
    refused('invalid_tag', () => checkTagKey(key))
  })
})

describe('a tag value', () => {
  test('is any text of up to 1024 bytes', () => {
    for (const value of ['', 'Ärger 😀\n', 'x'.repeat(1024)]) expect(checkTagValue('plan', value)).toBe(value)
  })

  test.each(['x'.repeat(1025), 'a\0', '\ud800', 7, null, undefined])('is never %j', (value) => {
    const error = refused('invalid_tag', () => checkTagValue('plan', value))
    expect(error.message).toMatch(/^tag plan is /)
  })
})

describe('tags', () => {
  test('may be absent', () => {
    expect(parseTags(undefined)).toEqual({})
  })

  test('are returned in the order of their keys', () => {
    expect(Object.entries(parseTags({ b: '2', 'a.x': '1', constructor: '3' }))).toEqual([
      ['a.x', '1'],
      ['b', '2'],
      ['constructor', '3'],
    ])
  })

  test('are 64 at most', () => {
    const tags = Object.fromEntries(Array.from({ length: 64 }, (_, index) => [`t${index}`, 'x']))
    expect(Object.keys(parseTags(tags))).toHaveLength(64)
    const error = refused('invalid_tag', () => parseTags({ ...tags, one_more: 'x' }))
    expect(error.message).toBe('65 tags are given; an execution can have at most 64')
  })

  test('are own and enumerable', () => {
    const hidden = Object.defineProperty({ a: '1' }, 'b', { value: '2', enumerable: false })
    expect(parseTags(hidden)).toEqual({ a: '1' })
  })

  test.each([null, 'a=b', ['a'], new Map([['a', 'b']]), Object.create({ a: '1' }), { [Symbol('a')]: 'b' }])(
    'are a plain object and nothing else: %s',
    (value) => {
      refused('invalid_tag', () => parseTags(value))
    },
  )

  test.each([{ A: '1' }, { a: 1 }, { a: undefined }, { a: null }, JSON.parse('{"__proto__":"x"}')])(
    'are refused whole when one is bad: %j',
    (value) => {
      refused('invalid_tag', () => parseTags(value))
    },
  )
})

describe('a filter', () => {
  const candidate = { namespace: 'a', tags: { plan: 'pro' } }
  const plan = (value: string) => ({ key: 'plan', value })

  test.each([
    ['nothing', {}, true],
    ['the namespace', { namespace: 'a' }, true],
    ['another namespace', { namespace: 'b' }, false],
    ['the tag', { tag: plan('pro') }, true],
    ['another value', { tag: plan('free') }, false],
    ['another key', { tag: { key: 'region', value: 'pro' } }, false],
    ['both', { namespace: 'a', tag: plan('pro') }, true],
    ['both, the namespace wrong', { namespace: 'b', tag: plan('pro') }, false],
    ['both, the tag wrong', { namespace: 'a', tag: plan('free') }, false],
  ])('TAG-05 by %s', (_, filter, admitted) => {
    expect(matchesFilter(filter, candidate)).toBe(admitted)
  })

  test('does not find a tag on a prototype', () => {
    const tags = Object.create({ plan: 'pro' }) as Record<string, string>
    expect(matchesFilter({ tag: plan('pro') }, { namespace: 'a', tags })).toBe(false)
  })
})
