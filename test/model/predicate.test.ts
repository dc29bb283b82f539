import { describe, expect, test } from 'vitest'
import type { Json } from '../../src/model/json.ts'
import { fulfils } from '../../src/model/predicate.ts'
import type { Predicate } from '../../src/model/predicate.ts'

const order: Json = { amount: 500, items: [{ sku: 'x', tags: [] }], note: null, customer: { name: 'Ann', vip: false } }

describe('a predicate', () => {
  test.each<[Predicate, boolean]>([
    [{ exists: true }, true],
    [{ path: [], exists: true }, true],
    [{ path: ['note'], exists: true }, true],
    [{ path: ['nothing'], exists: false }, true],
    [{ path: ['nothing'], exists: true }, false],
    [{ path: ['amount', 'unit'], exists: false }, true],
    [{ path: ['items', 0, 'sku'], equals: 'x' }, true],
    [{ path: ['items', '0', 'sku'], equals: 'x' }, false],
    [{ path: ['items', 'length'], equals: 1 }, false],
    [{ path: ['items', 1], exists: false }, true],
    [{ path: ['toString'], exists: false }, true],
    [{ path: ['note'], equals: null }, true],
    [{ path: ['nothing'], equals: null }, false],
    [{ path: ['customer'], equals: { vip: false, name: 'Ann' } }, true],
    [{ path: ['customer'], equals: { name: 'Ann' } }, false],
    [{ path: ['items'], equals: [{ tags: [], sku: 'x' }] }, true],
    [{ path: ['items'], equals: {} }, false],
    [{ path: ['amount'], equals: '500' }, false],
    [{ path: ['amount'], oneOf: [1, 500] }, true],
    [{ path: ['amount'], oneOf: [1, '500'] }, false],
    [{ path: ['amount'], above: 499 }, true],
    [{ path: ['amount'], above: 500 }, false],
    [{ path: ['amount'], atLeast: 500 }, true],
    [{ path: ['amount'], below: 500 }, false],
    [{ path: ['amount'], atMost: 500 }, true],
    [{ path: ['amount'], atLeast: '5' }, false],
    [{ path: ['note'], atMost: 500 }, false],
    [{ path: ['nothing'], atMost: 500 }, false],
    [{ path: ['customer', 'name'], atLeast: 'A' }, true],
    [{ not: { path: ['nothing'], atMost: 500 } }, true],
    [
      {
        allOf: [
          { path: ['amount'], above: 1 },
          { path: ['note'], exists: true },
        ],
      },
      true,
    ],
    [
      {
        allOf: [
          { path: ['amount'], above: 1 },
          { path: ['note'], exists: false },
        ],
      },
      false,
    ],
    [
      {
        anyOf: [
          { path: ['amount'], below: 1 },
          { path: ['note'], exists: true },
        ],
      },
      true,
    ],
    [
      {
        anyOf: [
          { path: ['amount'], below: 1 },
          { path: ['note'], exists: false },
        ],
      },
      false,
    ],
  ])('%j evaluates to %s for an order', (predicate, answer) => {
    expect(fulfils(order, predicate)).toBe(answer)
  })

  test('compares a key that a prototype has too', () => {
    const own = JSON.parse('{"__proto__":1}') as Json
    expect(fulfils(own, { path: ['__proto__'], equals: 1 })).toBe(true)
    expect(fulfils({}, { path: ['__proto__'], exists: true })).toBe(false)
    expect(fulfils({ a: 1 }, { equals: JSON.parse('{"__proto__":{}}') as Json })).toBe(false)
  })

  test('with a test that this version does not know is never satisfied, negated or beside a true one', () => {
    const unknown = { path: ['note'], resembles: 'x' } as unknown as Predicate
    const known: Predicate = { path: ['amount'], equals: 500 }
    for (const predicate of [unknown, { not: unknown }, { anyOf: [known, unknown] }, { not: { allOf: [unknown] } }]) {
      expect(fulfils(order, predicate)).toBe(false)
    }
  })

  test('reads a payload no deeper than necessary', () => {
    let deep: Json = 1
    for (let level = 0; level < 100_000; level += 1) deep = [deep]
    expect(fulfils(deep, { equals: [[1]] })).toBe(false)
    expect(fulfils(deep, { not: { path: [0, 0, 'a'], exists: true } })).toBe(true)
  })
})
