import fc from 'fast-check'
import { expect, test } from 'vitest'
import { findCycle, showCycle, type Arc } from '../../src/model/graph.ts'

const arcs = (...pairs: (readonly [number, number])[]): Arc[] => pairs.map(([from, to]) => ({ from, to }))

test('a cycle is reported in the order of its edges, without the nodes before or after it', () => {
  const cycle = findCycle(6, arcs([0, 1], [1, 2], [2, 3], [3, 1], [3, 4], [4, 5]))!
  const start = cycle.indexOf(1)
  expect([...cycle.slice(start), ...cycle.slice(0, start)]).toEqual([1, 2, 3])
})

test('a graph without a cycle reports none', () => {
  expect(findCycle(4, arcs([0, 1], [0, 2], [1, 3], [2, 3]))).toBeNull()
  expect(findCycle(0, [])).toBeNull()
})

test('edges that only lead forward form no cycle, and one that leads back on a path forms one', () => {
  const pair = fc.tuple(fc.nat(29), fc.nat(29)).filter(([a, b]) => a !== b)
  fc.assert(
    fc.property(fc.array(pair, { maxLength: 80 }), (pairs) => {
      const forward = arcs(...pairs.map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const))
      expect(findCycle(30, forward)).toBeNull()
      const [first] = forward
      if (first === undefined) return
      const closed = [...forward, { from: first.to, to: first.from }]
      const cycle = findCycle(30, closed)!
      cycle.forEach((member, index) => {
        const next = cycle[(index + 1) % cycle.length]
        expect(closed).toContainEqual({ from: member, to: next })
      })
    }),
  )
})

test('a cycle is shown by names, the middle of a long one left out', () => {
  expect(showCycle(['a', 'b'])).toBe('a -> b -> a')
  const long = showCycle(Array.from({ length: 100 }, (_, index) => `m${index}`))
  expect(long).toContain('m0 -> m1 ->')
  expect(long).toContain('80 more')
  expect(long.endsWith('-> m99 -> m0')).toBe(true)
})
