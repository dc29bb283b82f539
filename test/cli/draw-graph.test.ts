import fc from 'fast-check'
import { expect, test } from 'vitest'
import { drawGraph, type Node } from '../../src/cli/draw-graph.ts'

function drawn(graph: Readonly<Record<string, readonly string[]>>, hasUnicode = true): string[] {
  const nodes = Object.entries(graph).map(([id, upstreamIds]) => ({ id, upstreamIds }))
  return drawGraph(nodes, hasUnicode).rows.map(({ before, after, id }) => `${before}o${after} ${id}`)
}

test('a diamond', () => {
  const graph = {
    build: [],
    unit: ['build'],
    browser: ['build'],
    deploy: ['unit', 'browser', 'build'],
    alert: ['deploy'],
  }
  expect(drawn(graph)).toEqual([
    'o         build',
    '├─o─┐     unit',
    '├─o─┤     browser',
    '└───┴─o   deploy',
    '      └─o alert',
  ])
})

test('a line that crosses a track which does not lead to it is broken there', () => {
  const graph = { a: [], b: [], c: ['a'], d: ['a', 'b'], e: ['b'] }
  expect(drawn(graph)).toEqual(['o───┐   a', 'o─┐ │   b', '  │ ├─o c', '  ├─┴─o d', '  └───o e'])
  expect(drawn({ a: [], b: [], c: ['b'], d: ['a'] })).toEqual(['o───┐   a', 'o─┐ │   b', '  │ └─o d', '  └───o c'])
  expect(drawn({ a: [], b: [], c: ['b'], d: ['a', 'c'] }).join('\n')).toContain('│')
})

test('unconnected members are drawn beside each other', () => {
  expect(drawn({ a: [], b: [] })).toEqual(['o a', 'o b'])
  expect(drawn({})).toEqual([])
})

test('in ASCII', () => {
  expect(drawn({ a: [], b: ['a'], c: ['b'] }, false)).toEqual(['o     a', '+-o   b', '  +-o c'])
})

const someGraph = fc.array(fc.array(fc.nat(20), { maxLength: 4 }), { minLength: 1, maxLength: 25 }).map((before) =>
  before.map((some, index): Node => ({
    id: String(index),
    upstreamIds: index === 0 ? [] : [...new Set(some.map((each) => String(each % index)))],
  })),
)

const [up, down, left, right] = [1, 2, 4, 8] as const
const ends: Readonly<Record<string, number>> = {
  '│': up | down,
  '─': left | right,
  '┌': down | right,
  '┐': down | left,
  '└': up | right,
  '┘': up | left,
  '├': up | down | right,
  '┤': up | down | left,
  '┬': down | left | right,
  '┴': up | left | right,
  '┼': up | down | left | right,
}

/** Follows the lines to the left of a node; a vertical line without a branch is passed over. */
function upstreamsSeen(rows: readonly string[], row: number, at: number): Set<number> {
  const seen = new Set<number>()
  const visited = new Set<string>()
  const climb = (y: number, x: number): void => {
    if (visited.has(`${y} ${x}`)) return
    visited.add(`${y} ${x}`)
    const character = rows[y]![x]!
    // A node at the head of its own track.
    if (character === 'o') return void seen.add(y)
    const bits = ends[character] ?? 0
    // A line that continues to the right leads to a node, and does not belong to this one.
    if ((bits & left) !== 0 && (bits & right) === 0) walkLeft(y, x - 1)
    if ((bits & up) !== 0) climb(y - 1, x)
  }
  const walkLeft = (y: number, x: number): void => {
    if (x < 0) return
    const character = rows[y]![x]!
    if (character === 'o') return void seen.add(y)
    const bits = ends[character] ?? 0
    const isCrossed = character === '│'
    if ((bits & up) !== 0 && !isCrossed) climb(y - 1, x)
    if (isCrossed || (bits & left) !== 0) walkLeft(y, x - 1)
  }
  if (at > 0 && rows[row]![at - 1] !== ' ') walkLeft(row, at - 1)
  return seen
}

test('following the lines of any graph yields its edges', () => {
  fc.assert(
    fc.property(someGraph, (nodes) => {
      const { rows } = drawGraph(nodes, true)
      const lines = rows.map(({ before, after }) => `${before}o${after}`)
      rows.forEach(({ id, before }, row) => {
        const seen = [...upstreamsSeen(lines, row, before.length)].map((each) => rows[each]!.id)
        expect(seen.toSorted()).toEqual([...nodes.find((node) => node.id === id)!.upstreamIds].toSorted())
      })
    }),
    { numRuns: 300 },
  )
})
