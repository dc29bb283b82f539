import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isLegal, publicState } from '../../src/model/state.ts'
import type { StateVector } from '../../src/model/state.ts'
import { apply, births, transitions, transitionsFrom } from '../../src/model/transition.ts'
import { allVectors } from './vectors.ts'

const words = (vector: StateVector) => Object.values(vector).join(' ')

function reachable(): StateVector[] {
  const found = new Map<string, StateVector>()
  const open = births.map(({ to }) => to)
  for (let vector = open.pop(); vector !== undefined; vector = open.pop()) {
    if (found.has(words(vector))) continue
    found.set(words(vector), vector)
    for (const transition of transitionsFrom(vector)) open.push(apply(transition, vector))
  }
  return [...found.values()]
}

function after(...names: string[]): StateVector {
  return names.reduce((vector, name) => {
    const [operation, when] = name.split(': ')
    const transition = transitionsFrom(vector).find((one) => one.name === operation && one.when === when)
    if (transition === undefined) throw new Error(`no ${name} from ${words(vector)}`)
    return apply(transition, vector)
  }, births[0]!.to)
}

describe('the transition table', () => {
  test('leads from any creation, by any walk, only to legal vectors that have a public state', () => {
    fc.assert(
      fc.property(fc.constantFrom(...births), fc.array(fc.nat(), { maxLength: 60 }), (birth, choices) => {
        let vector = birth.to
        for (const choice of choices) {
          const open = transitionsFrom(vector)
          expect(open, `a way on from ${words(vector)}`).not.toHaveLength(0)
          vector = apply(open[choice % open.length]!, vector)
          expect(isLegal(vector), words(vector)).toBe(true)
          expect(publicState(vector)).toMatch(/^[a-z_]+$/)
        }
      }),
      { numRuns: 500 },
    )
  })

  test('reaches every legal vector but these, which cost nothing to allow', () => {
    const reached = new Set(reachable().map(words))
    const unreached = allVectors.filter((vector) => isLegal(vector) && !reached.has(words(vector)))
    expect(unreached.map((vector) => [vector.eligibilityState, vector.attemptState, vector.interruption])).toEqual([
      // A revoked or released execution is eligible at once: neither operation takes a delay.
      ['not_eligible_until_time', 'attempt_interrupted', 'revoked'],
      ['not_eligible_until_time', 'attempt_interrupted', 'released'],
      // An execution that was asked to stop is eligible at once.
      ['not_eligible_until_time', 'attempt_interrupted', 'cancelled'],
      // A replay starts at once or after its edges, until replaying with a delay is asked for.
      ['not_eligible_until_time', 'pending_replay_attempt', 'none'],
    ])
  })

  test('reaches nothing but legal vectors', () => {
    expect(reachable().filter((vector) => !isLegal(vector))).toEqual([])
    expect(reachable()).toHaveLength(69 - 4)
  })

  test('has no row that never applies and none that changes nothing', () => {
    const vectors = reachable()
    for (const transition of transitions) {
      const starts = vectors.filter((vector) => transitionsFrom(vector).includes(transition))
      expect(starts, transition.name).not.toHaveLength(0)
      for (const start of starts) expect(words(apply(transition, start)), transition.name).not.toBe(words(start))
    }
  })

  test('lets everything that has not ended be cancelled, run into its deadline and be skipped, in one way each', () => {
    for (const vector of reachable().filter(({ lifecyclePhase }) => lifecyclePhase !== 'terminal')) {
      for (const ending of ['cancel', 'deadline', 'skip']) {
        const ways = transitionsFrom(vector).filter(({ name }) => name === ending)
        expect(ways, `${ending} from ${words(vector)}`).toHaveLength(1)
        expect(apply(ways[0]!, vector).lifecyclePhase).toBe('terminal')
      }
    }
  })

  test('lets nothing but a replay leave an ending', () => {
    for (const vector of reachable().filter(({ lifecyclePhase }) => lifecyclePhase === 'terminal')) {
      expect(new Set(transitionsFrom(vector).map(({ name }) => name))).toEqual(new Set(['replay']))
    }
  })

  test('lets an execution be claimed exactly when it is eligible', () => {
    for (const vector of reachable()) {
      const isClaimable = transitionsFrom(vector).some(({ name }) => name === 'claim')
      expect(isClaimable).toBe(vector.eligibilityState === 'eligible_now')
    }
  })

  test('refuses a transition that does not start here', () => {
    const complete = transitions.find(({ name }) => name === 'complete')!
    expect(() => apply(complete, births[0]!.to)).toThrow(
      'complete does not start from runnable / unowned / eligible_now / pending_first_attempt / none / none',
    )
  })
})

describe('a walk', () => {
  test.each([
    [['claim', 'complete'], 'completed'],
    [['claim', 'fail: a retry is left', 'promote', 'claim', 'fail: no retry is left'], 'failed'],
    [['claim', 'attempt-timeout: a retry is left'], 'delayed'],
    [['claim', 'attempt-timeout: no retry is left'], 'expired'],
    [['claim', 'lapse: reclaims are left'], 'waiting'],
    [['claim', 'lapse: it is not the first in a row'], 'delayed'],
    [['claim', 'lapse: it is not the first in a row', 'promote'], 'waiting'],
    [['claim', 'lapse: at the reclaim limit'], 'failed'],
    [['claim', 'suspend', 'signal'], 'resumable'],
    [['claim', 'suspend', 'signal: with a resume delay'], 'delayed'],
    [['claim', 'suspend', 'signal: with a resume delay', 'promote'], 'resumable'],
    [['claim', 'suspend', 'children-ended', 'claim'], 'active'],
    [['claim', 'suspend', 'suspension-timeout: cancel'], 'cancelled'],
    [['depend'], 'waiting_children'],
    [['depend', 'skip'], 'skipped'],
    [['depend', 'skip', 'replay: a member of a flow that waits again'], 'waiting_children'],
    [['depend', 'flow-ended: the nested flow succeeded'], 'completed'],
    [['depend', 'flow-ended: the nested flow failed'], 'failed'],
    [['block: by a quota'], 'rate_limited'],
    [['block: by an operator', 'unblock', 'claim'], 'active'],
    [['cancel', 'replay'], 'waiting'],
  ] as const)('%s shows as %s', (names, state) => {
    expect(publicState(after(...names))).toBe(state)
  })

  test('keeps what an execution was before its first claim', () => {
    expect(after('cancel').attemptState).toBe('pending_first_attempt')
    expect(after('deadline').attemptState).toBe('pending_first_attempt')
    expect(after('skip').attemptState).toBe('none')
    expect(after('claim', 'release', 'cancel').attemptState).toBe('attempt_terminal')
  })

  test('forgets the interruption when the execution is claimed', () => {
    expect(after('claim', 'revoke').interruption).toBe('revoked')
    expect(after('claim', 'revoke', 'claim').interruption).toBe('none')
  })
})
