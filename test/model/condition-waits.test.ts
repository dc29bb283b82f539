import { describe, expect, test } from 'vitest'
import { childrenOf, namesTakenBy, requiredSignalNames } from '../../src/model/condition-waits.ts'
import type { Condition } from '../../src/model/condition.ts'

const on = (waitpoint: string, name?: string): Condition => ({ kind: 'signal', waitpoint, ...(name && { name }) })

describe('the names that a waitpoint waits for', () => {
  const both: Condition = { kind: 'allOf', members: [on('A', 'a'), on('B', 'b'), on('A', 'a')] }
  const count: Condition = { kind: 'count', n: 1, distinct: 'signals', waitpoints: ['A', 'B'], name: 'vote' }
  test.each([
    ['a named leaf', on('A', 'name'), 'A', ['name']],
    ['a leaf that takes all', on('A'), 'A', []],
    ['its own leaf of two, once', both, 'A', ['a']],
    ['the other leaf of two', both, 'B', ['b']],
    ['a count, on its first waitpoint', count, 'A', ['vote']],
    ['a count, on its last waitpoint', count, 'B', ['vote']],
    ['a named leaf and one that takes all', { kind: 'anyOf', members: [on('A', 'a'), on('A')] }, 'A', []],
    ['the operator', { kind: 'operator' }, 'A', ['__operator_only__']],
    ['the timeout', { kind: 'timeout' }, 'A', ['__timeout_only__']],
  ] as const)('WPT-13 follow from %s', (_, condition, waitpoint, names) => {
    expect(requiredSignalNames(condition, waitpoint)).toEqual(names)
  })
})

test('the signals sent by name that a condition would take are those of leaves without a waitpoint', () => {
  const members: Condition[] = [
    { kind: 'signal', name: 'go' },
    on('A', 'a'),
    { kind: 'anyOf', members: [{ kind: 'count', n: 2, distinct: 'signals', name: 'item' }] },
    { kind: 'signal', name: 'go' },
  ]
  expect(namesTakenBy({ kind: 'allOf', members })).toEqual(['go', 'item'])
})

test('the children that a condition waits for are listed once', () => {
  const first: Condition = { kind: 'child', executionId: '{fp:7}:018f0000-0000-7000-8000-000000000001' }
  const second: Condition = { kind: 'child', executionId: '{fp:7}:018f0000-0000-7000-8000-000000000002' }
  const inner: Condition = { kind: 'anyOf', members: [second, first] }
  expect(childrenOf({ kind: 'allOf', members: [first, inner] })).toEqual([first.executionId, second.executionId])
})
