import { describe, expect, test } from 'vitest'
import {
  attemptStates,
  blockingReason,
  blockingReasons,
  claimReason,
  eligibilityStates,
  interruptions,
  isLegal,
  ownershipStates,
  publicState,
  publicStates,
  terminalOutcomes,
} from '../../src/model/state.ts'
import type { StateVector } from '../../src/model/state.ts'
import { allVectors } from './vectors.ts'

const waiting: StateVector = {
  lifecyclePhase: 'runnable',
  ownershipState: 'unowned',
  eligibilityState: 'eligible_now',
  attemptState: 'pending_first_attempt',
  terminalOutcome: 'none',
  interruption: 'none',
}
const active: StateVector = {
  ...waiting,
  lifecyclePhase: 'active',
  ownershipState: 'leased',
  eligibilityState: 'not_applicable',
  attemptState: 'running_attempt',
}
const suspended: StateVector = {
  ...active,
  lifecyclePhase: 'suspended',
  ownershipState: 'unowned',
  attemptState: 'attempt_interrupted',
}
const completed: StateVector = {
  ...active,
  lifecyclePhase: 'terminal',
  ownershipState: 'unowned',
  attemptState: 'attempt_terminal',
  terminalOutcome: 'success',
}
const resumed: StateVector = { ...waiting, attemptState: 'attempt_interrupted', interruption: 'signalled' }

describe('the legal vectors', () => {
  const legal = allVectors.filter(isLegal)
  const count = (phase: string) => legal.filter((vector) => vector.lifecyclePhase === phase).length

  test('are 66 out of all combinations', () => {
    expect(allVectors).toHaveLength(4 * 2 * 7 * 7 * 6 * 9)
    expect({
      runnable: count('runnable'),
      active: count('active'),
      suspended: count('suspended'),
      terminal: count('terminal'),
    }).toEqual({ runnable: 6 + 5 + 6 + 4 * 8 + 5, active: 1, suspended: 1, terminal: 10 })
  })

  test('are leased exactly when they are active', () => {
    for (const vector of legal) expect(vector.ownershipState === 'leased').toBe(vector.lifecyclePhase === 'active')
  })

  test('have an outcome exactly when they are terminal', () => {
    for (const vector of legal) expect(vector.terminalOutcome !== 'none').toBe(vector.lifecyclePhase === 'terminal')
  })

  test('have an eligibility exactly when they are runnable', () => {
    for (const vector of legal) {
      expect(vector.eligibilityState !== 'not_applicable').toBe(vector.lifecyclePhase === 'runnable')
    }
  })

  test('have an interruption exactly when they are runnable and interrupted', () => {
    for (const vector of legal) {
      const isBack = vector.lifecyclePhase === 'runnable' && vector.attemptState === 'attempt_interrupted'
      expect(vector.interruption !== 'none').toBe(isBack)
    }
  })

  test('wait for edges only before the first run of a generation', () => {
    const dependent = legal.filter((vector) => vector.eligibilityState === 'blocked_by_dependencies')
    expect(dependent.map((vector) => vector.attemptState)).toEqual(['pending_first_attempt', 'pending_replay_attempt'])
  })

  test('end in these ways', () => {
    const endings = legal.filter((vector) => vector.lifecyclePhase === 'terminal')
    expect(endings.map((vector) => `${vector.terminalOutcome} ${vector.attemptState}`).toSorted()).toEqual([
      'cancelled attempt_terminal',
      'cancelled pending_first_attempt',
      'expired attempt_terminal',
      'expired pending_first_attempt',
      'failed attempt_terminal',
      'failed none',
      'skipped attempt_terminal',
      'skipped none',
      'success attempt_terminal',
      'success none',
    ])
  })

  test('become illegal when any word of an active one is changed', () => {
    expect(isLegal(active)).toBe(true)
    for (const ownershipState of ownershipStates.filter((word) => word !== 'leased')) {
      expect(isLegal({ ...active, ownershipState })).toBe(false)
    }
    for (const attemptState of attemptStates.filter((word) => word !== 'running_attempt')) {
      expect(isLegal({ ...active, attemptState })).toBe(false)
    }
    for (const interruption of interruptions.filter((word) => word !== 'none')) {
      expect(isLegal({ ...active, interruption })).toBe(false)
    }
  })
})

describe('the public state', () => {
  test.each([
    ['success', 'completed'],
    ['failed', 'failed'],
    ['cancelled', 'cancelled'],
    ['expired', 'expired'],
    ['skipped', 'skipped'],
    ['none', 'failed'],
  ] as const)('EXEC-39 of a terminal execution with outcome %s is %s', (terminalOutcome, state) => {
    expect(publicState({ ...completed, terminalOutcome })).toBe(state)
  })

  test.each(ownershipStates)('EXEC-39 of an active execution is active, also when it is %s', (ownershipState) => {
    expect(publicState({ ...active, ownershipState })).toBe('active')
  })

  test('EXEC-39 of a suspended execution is suspended', () => {
    expect(publicState(suspended)).toBe('suspended')
  })

  test.each([
    ['eligible_now', 'waiting'],
    ['not_eligible_until_time', 'delayed'],
    ['blocked_by_dependencies', 'waiting_children'],
    ['blocked_by_budget', 'rate_limited'],
    ['blocked_by_quota', 'rate_limited'],
    ['blocked_by_operator', 'waiting'],
    ['not_applicable', 'waiting'],
  ] as const)('EXEC-39 of a runnable execution that is %s is %s', (eligibilityState, state) => {
    expect(publicState({ ...waiting, eligibilityState })).toBe(state)
  })

  test.each([
    ['lapsed', 'waiting'],
    ['revoked', 'waiting'],
    ['released', 'waiting'],
    ['delayed', 'waiting'],
    ['signalled', 'resumable'],
    ['timed_out', 'resumable'],
    ['children', 'resumable'],
  ] as const)('of an eligible execution that was %s is %s', (interruption, state) => {
    expect(publicState({ ...resumed, interruption })).toBe(state)
  })

  test('of a resumed execution is resumable only while it is eligible', () => {
    expect(publicState({ ...resumed, eligibilityState: 'not_eligible_until_time' })).toBe('delayed')
    expect(publicState({ ...resumed, eligibilityState: 'blocked_by_quota' })).toBe('rate_limited')
  })

  test('is one of its words for every combination, and legal vectors show each of them', () => {
    expect(new Set(allVectors.map(publicState))).toEqual(new Set(publicStates))
    expect(new Set(allVectors.filter(isLegal).map(publicState))).toEqual(new Set(publicStates))
  })
})

describe('the blocking reason', () => {
  test.each([
    ['eligible_now', 'waiting_for_worker'],
    ['not_eligible_until_time', 'waiting_for_delay'],
    ['blocked_by_dependencies', 'waiting_for_children'],
    ['blocked_by_budget', 'waiting_for_budget'],
    ['blocked_by_quota', 'waiting_for_quota'],
    ['blocked_by_operator', 'paused_by_operator'],
  ] as const)('of a runnable execution that is %s is %s', (eligibilityState, reason) => {
    expect(blockingReason({ ...waiting, eligibilityState })).toBe(reason)
  })

  test('distinguishes a retry, a resumption and a plain delay', () => {
    const delayed = { ...waiting, eligibilityState: 'not_eligible_until_time' } as const
    const interrupted = { ...delayed, attemptState: 'attempt_interrupted' } as const
    expect(blockingReason({ ...delayed, attemptState: 'pending_retry_attempt' })).toBe('waiting_for_retry_backoff')
    expect(blockingReason({ ...interrupted, interruption: 'delayed' })).toBe('waiting_for_delay')
    for (const interruption of ['signalled', 'timed_out', 'children'] as const) {
      expect(blockingReason({ ...interrupted, interruption })).toBe('waiting_for_resume_delay')
    }
  })

  test('of a suspended execution is a signal, of a running or ended one none', () => {
    expect(blockingReason(suspended)).toBe('waiting_for_signal')
    expect(blockingReason(active)).toBe('none')
    expect(blockingReason(completed)).toBe('none')
  })

  test('exists for every legal vector that is neither running nor ended', () => {
    for (const vector of allVectors.filter(isLegal)) {
      const isIdle = vector.lifecyclePhase === 'runnable' || vector.lifecyclePhase === 'suspended'
      expect(blockingReasons).toContain(blockingReason(vector))
      expect(blockingReason(vector) !== 'none').toBe(isIdle)
    }
  })
})

describe('the claim reason', () => {
  test.each([
    ['pending_first_attempt', 'first'],
    ['pending_retry_attempt', 'retry'],
    ['pending_replay_attempt', 'replay'],
  ] as const)('of %s is %s', (attemptState, reason) => {
    expect(claimReason({ ...waiting, attemptState })).toBe(reason)
  })

  test.each([
    ['lapsed', 'reclaim'],
    ['revoked', 'reclaim'],
    ['released', 'resume'],
    ['delayed', 'resume'],
    ['signalled', 'resume'],
    ['timed_out', 'resume'],
    ['children', 'resume'],
  ] as const)('of an execution that was %s is %s', (interruption, reason) => {
    expect(claimReason({ ...resumed, interruption })).toBe(reason)
  })

  test('is not computed for a vector that cannot be claimed', () => {
    expect(() => claimReason(active)).toThrow(RangeError)
    expect(() => claimReason(completed)).toThrow(RangeError)
  })
})

test('no word is listed twice', () => {
  for (const words of [
    attemptStates,
    eligibilityStates,
    interruptions,
    ownershipStates,
    publicStates,
    terminalOutcomes,
  ]) {
    expect(new Set<string>(words).size).toBe(words.length)
  }
})
