import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isLegal, publicState } from '../../src/model/state.ts'
import type { StateVector } from '../../src/model/state.ts'
import { births, transitions } from '../../src/model/transition.ts'
import { apply, reachableVectors, transitionsFrom, vectorText } from '../../src/model/transition-walk.ts'
import { allVectors } from './vectors.ts'

function after(...names: string[]): StateVector {
  return names.reduce((vector, name) => {
    const [operation, when] = name.split(': ')
    const transition = transitionsFrom(vector).find((one) => one.name === operation && one.when === when)
    if (transition === undefined) throw new Error(`no ${name} from ${vectorText(vector)}`)
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
          expect(open, `a way on from ${vectorText(vector)}`).not.toHaveLength(0)
          vector = apply(open[choice % open.length]!, vector)
          expect(isLegal(vector), vectorText(vector)).toBe(true)
          expect(publicState(vector)).toMatch(/^[a-z_]+$/)
        }
      }),
      { numRuns: 500 },
    )
  })

  test('reaches exactly the legal vectors', () => {
    const legal = allVectors.filter(isLegal)
    expect(reachableVectors().map(vectorText).toSorted()).toEqual(legal.map(vectorText).toSorted())
    expect(legal).toHaveLength(66)
  })

  test('leads from every legal vector only to legal ones', () => {
    const changes = allVectors
      .filter(isLegal)
      .flatMap((vector) =>
        transitionsFrom(vector).map((transition) => [transition, apply(transition, vector)] as const),
      )
    expect(changes.filter(([, vector]) => !isLegal(vector))).toEqual([])
    expect(new Set(changes.map(([transition]) => transition))).toEqual(new Set(transitions))
  })

  test('has no row that never applies and none that changes nothing', () => {
    const vectors = reachableVectors()
    for (const transition of transitions) {
      const starts = vectors.filter((vector) => transitionsFrom(vector).includes(transition))
      expect(starts, transition.name).not.toHaveLength(0)
      for (const start of starts)
        expect(vectorText(apply(transition, start)), transition.name).not.toBe(vectorText(start))
    }
  })

  test('has no two rows with one name and case', () => {
    const keys = transitions.map(({ name, when = '' }) => `${name}: ${when}`)
    expect(new Set(keys).size).toBe(keys.length)
  })

  test('lets every execution that has not ended be cancelled, expired by its deadline and skipped, in one way each, or two', () => {
    for (const vector of reachableVectors().filter(({ lifecyclePhase }) => lifecyclePhase !== 'terminal')) {
      for (const ending of ['cancel', 'deadline', 'skip']) {
        const ways = transitionsFrom(vector).filter(({ name }) => name === ending)
        // A replayed execution may have been claimed before its replay, or not.
        const wayCount = vector.attemptState === 'pending_replay_attempt' ? 2 : 1
        expect(ways, `${ending} from ${vectorText(vector)}`).toHaveLength(wayCount)
        for (const way of ways) expect(apply(way, vector).lifecyclePhase).toBe('terminal')
      }
    }
  })

  test('lets nothing but a replay leave an ending', () => {
    for (const vector of reachableVectors().filter(({ lifecyclePhase }) => lifecyclePhase === 'terminal')) {
      expect(new Set(transitionsFrom(vector).map(({ name }) => name))).toEqual(new Set(['replay']))
    }
  })

  test('lets an execution be claimed exactly when it is eligible', () => {
    for (const vector of reachableVectors()) {
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
    [['claim', 'lease-expiry: reclaims are left'], 'waiting'],
    [['claim', 'lease-expiry: it is not the first in a row'], 'delayed'],
    [['claim', 'lease-expiry: it is not the first in a row', 'promote'], 'waiting'],
    [['claim', 'lease-expiry: at the reclaim limit'], 'failed'],
    [['claim', 'suspend', 'signal'], 'resumable'],
    [['claim', 'suspend', 'signal: with a resume delay'], 'delayed'],
    [['claim', 'suspend', 'signal: with a resume delay', 'promote'], 'resumable'],
    [['claim', 'suspend', 'children-ended', 'claim'], 'active'],
    [['claim', 'suspend', 'suspension-timeout: cancel'], 'cancelled'],
    [['depend'], 'waiting_children'],
    [['depend', 'skip: before its first claim'], 'skipped'],
    [['depend', 'skip: before its first claim', 'replay: a member of a flow that waits again'], 'waiting_children'],
    [['depend', 'flow-ended: the nested flow succeeded'], 'completed'],
    [['depend', 'flow-ended: the nested flow failed'], 'failed'],
    [['block: by a quota'], 'rate_limited'],
    [['block: by an operator', 'unblock', 'claim'], 'active'],
    [['cancel: before its first claim', 'replay'], 'waiting'],
  ] as const)('%s shows as %s', (names, state) => {
    expect(publicState(after(...names))).toBe(state)
  })

  test('keeps the state of an execution before its first claim', () => {
    expect(after('cancel: before its first claim').attemptState).toBe('pending_first_attempt')
    expect(after('deadline: before its first claim').attemptState).toBe('pending_first_attempt')
    expect(after('skip: before its first claim').attemptState).toBe('none')
    expect(after('claim', 'release', 'cancel').attemptState).toBe('attempt_terminal')
  })

  test('drops the interruption when the execution is claimed', () => {
    expect(after('claim', 'revoke').interruption).toBe('revoked')
    expect(after('claim', 'revoke', 'claim').interruption).toBe('none')
  })
})
