import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  allOf,
  edgeKinds,
  groupState,
  parseEdgeKind,
  parseJoinPolicy,
  quorumOf,
  resolveEdge,
  type EdgeResolution,
  type GroupState,
  type JoinPolicy,
} from '../../src/model/edge-group.ts'
import { refused } from './refused.ts'

test('an edge is satisfied by the endings of its kind, and otherwise failed or skipped', () => {
  const endings = ['success', 'failed', 'cancelled', 'expired', 'skipped'] as const
  const table = Object.fromEntries(edgeKinds.map((kind) => [kind, endings.map((ending) => resolveEdge(kind, ending))]))
  expect(table).toEqual({
    success_only: ['satisfied', 'failed', 'failed', 'failed', 'skipped'],
    optional: ['satisfied', 'satisfied', 'satisfied', 'satisfied', 'satisfied'],
    on_failure: ['skipped', 'satisfied', 'satisfied', 'satisfied', 'skipped'],
  })
  expect(resolveEdge('start', 'none')).toBe('satisfied')
  expect(endings.map((ending) => resolveEdge('start', ending))).toEqual([
    'failed',
    'failed',
    'failed',
    'failed',
    'skipped',
  ])
})

test('EDGE-06 a policy is read as written, with defaults for omitted fields', () => {
  const read = (policy: unknown) => parseJoinPolicy('policy', policy)
  expect(read({ kind: 'all_of' })).toEqual({ kind: 'all_of', onSatisfied: 'let_run' })
  expect(read({ kind: 'any_of' })).toEqual({ kind: 'any_of', onSatisfied: 'cancel_remaining' })
  expect(read({ kind: 'quorum', k: 3 })).toEqual({ kind: 'quorum', k: 3, onSatisfied: 'cancel_remaining' })
  for (const policy of [
    { kind: 'all_of', onSatisfied: 'cancel_remaining' },
    { kind: 'any_of', onSatisfied: 'let_run' },
    { kind: 'quorum', k: 3, onSatisfied: 'let_run' },
  ]) {
    expect(read(policy)).toEqual(policy)
  }
})

test('EDGE-04 a quorum of zero, of a fraction, or of more than any flow has is refused', () => {
  for (const k of [0, -1, 1.5, 100_001, '2', null]) {
    const error = refused('invalid_input', () => parseJoinPolicy('policy', { kind: 'quorum', k }))
    expect(error.message).toContain('policy.k')
  }
  refused('invalid_input', () => parseJoinPolicy('policy', { kind: 'quorum' }))
})

test('EDGE-06 unknown words are refused, with the one that was probably meant', () => {
  refused('invalid_input', () => parseJoinPolicy('policy', {}))
  refused('invalid_input', () => parseJoinPolicy('policy', 'all_of'))
  refused('invalid_input', () => parseJoinPolicy('policy', { kind: 'all_of', k: 2 }))
  refused('invalid_input', () => parseJoinPolicy('policy', { kind: 'any_of', onSatisfied: 'stop' }))
  const error = refused('invalid_input', () => parseJoinPolicy('policy', { kind: 'any-of' }))
  expect(error.message).toContain('did you mean any_of?')
  refused('invalid_input', () => parseEdgeKind('kind', 'start'))
})

const policies = fc.oneof(
  fc.constant(allOf),
  fc.constant<JoinPolicy>({ kind: 'any_of', onSatisfied: 'let_run' }),
  fc.integer({ min: 1, max: 8 }).map((k): JoinPolicy => ({ kind: 'quorum', k, onSatisfied: 'let_run' })),
)
const resolutions = fc.array(fc.constantFrom<EdgeResolution>('satisfied', 'failed', 'skipped'), {
  minLength: 1,
  maxLength: 8,
})

/** The state of a sealed group after each of its resolutions, until it fires. */
function walk(policy: JoinPolicy, all: readonly EdgeResolution[]): GroupState[] {
  const counts = { satisfied: 0, failed: 0, skipped: 0 }
  const states: GroupState[] = []
  for (const resolution of all) {
    counts[resolution] += 1
    states.push(groupState(policy, { total: all.length, isSealed: true, ...counts }))
    if (states.at(-1) !== 'pending') break
  }
  return states
}

test('a sealed group whose edges can reach its quorum fires at the latest when its last edge is resolved', () => {
  fc.assert(
    fc.property(policies, resolutions, (policy, all) => {
      fc.pre((quorumOf(policy) ?? 1) <= all.length)
      const last = walk(policy, all).at(-1)!
      const satisfied = all.filter((one) => one === 'satisfied').length
      const needed = quorumOf(policy) ?? all.length
      expect(last).toBe(satisfied >= needed ? 'satisfied' : 'impossible')
    }),
  )
})

test('a group fires the same way in every order in which its edges are resolved', () => {
  const shuffled = resolutions.chain((all) =>
    fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
  )
  fc.assert(
    fc.property(policies, shuffled, (policy, [one, other]) => {
      fc.pre((quorumOf(policy) ?? 1) <= one.length)
      expect(walk(policy, one).at(-1)).toBe(walk(policy, other).at(-1))
    }),
  )
})

test('a group that is not sealed is never impossible, unless it needs all edges', () => {
  const counts = { total: 3, satisfied: 0, failed: 2, skipped: 1, isSealed: false }
  expect(groupState({ kind: 'any_of', onSatisfied: 'let_run' }, counts)).toBe('pending')
  expect(groupState({ kind: 'quorum', k: 2, onSatisfied: 'let_run' }, counts)).toBe('pending')
  expect(groupState(allOf, counts)).toBe('impossible')
  expect(groupState({ kind: 'any_of', onSatisfied: 'let_run' }, { ...counts, isSealed: true })).toBe('impossible')
})
