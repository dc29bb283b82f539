import { describe, expect, test } from 'vitest'
import { attached } from '../../src/model/attached.ts'
import {
  decideFail,
  decideGiveBack,
  decideRestart,
  type Delay,
  endingOfHolderCancel,
  expiryCountAfterRelease,
  type Failure,
} from '../../src/model/departure.ts'
import { parsePolicy } from '../../src/model/policy.ts'

const running = { attached: 0, stop: null, retryCount: 0, now: 1000 }
const stop = { requestedAt: 500, deadlineAt: null, reason: 'too dear', actor: 'ops', outcome: null }
const asked = { ...running, stop }
const cleansUp = { ...asked, attached: attached.compensation }
const ending = { outcome: 'cancelled', reason: 'too dear', actor: 'ops' }
const cancelled = { kind: 'cancelled', ending }

const policy = parsePolicy({ retry: { attempts: 3, backoff: { type: 'fixed', delayMs: 400, jitter: 0.5 } } })
const failure: Failure = { category: 'transient', permanent: false, retryInMs: null }

describe('a failure', () => {
  test('is followed by another attempt after the back-off of the policy', () => {
    expect(decideFail(running, policy, failure, 'worker', 0)).toEqual({ kind: 'retried', nextAt: 1400 })
    expect(decideFail(running, policy, failure, 'worker', 0.5)).toEqual({ kind: 'retried', nextAt: 1300 })
  })

  test('is followed by another attempt after the time that the holder sets instead', () => {
    const after = (retryInMs: number) => decideFail(running, policy, { ...failure, retryInMs }, 'worker', 0)
    expect(after(30)).toEqual({ kind: 'retried', nextAt: 1030 })
    expect(after(0)).toEqual({ kind: 'retried', nextAt: null })
  })

  test.each([
    ['without a policy', null, running, failure],
    ['in the last attempt', policy, { ...running, retryCount: 2 }, failure],
    ['that is permanent', policy, running, { ...failure, permanent: true, retryInMs: 30 }],
    ['of a category that is never retried', policy, running, { ...failure, category: 'permanent' }],
    ['after a request to stop', null, asked, failure],
  ] as const)('%s is final', (_, given, execution, of) => {
    expect(decideFail(execution, given, of, 'worker', 0)).toEqual({ kind: 'failed' })
  })

  test('with retries left ends an execution with a stop request and nothing to clean up', () => {
    expect(decideFail(asked, policy, failure, 'worker', 0)).toEqual(cancelled)
  })

  test('with retries left returns an execution with a stop request at once, to clean up', () => {
    const atOnce = { kind: 'retried', nextAt: null }
    expect(decideFail(cleansUp, policy, { ...failure, retryInMs: 30 }, 'worker', 0)).toEqual(atOnce)
  })
})

describe('an execution that is given back', () => {
  test('can be claimed when the delay is over, and at once when it is over already', () => {
    const until = (delay: Delay) => decideGiveBack(running, delay, 'worker')
    expect(until({ delayMs: 50, delayUntil: null })).toEqual({ kind: 'given_back', nextAt: 1050 })
    expect(until({ delayMs: null, delayUntil: 1001 })).toEqual({ kind: 'given_back', nextAt: 1001 })
    expect(until({ delayMs: null, delayUntil: 1000 })).toEqual({ kind: 'given_back', nextAt: null })
    expect(until({ delayMs: 0, delayUntil: null })).toEqual({ kind: 'given_back', nextAt: null })
    expect(until({ delayMs: null, delayUntil: null })).toEqual({ kind: 'given_back', nextAt: null })
  })

  test('ends when it has a stop request, unless it has something to clean up', () => {
    const delay = { delayMs: 50, delayUntil: null }
    expect(decideGiveBack(asked, delay, 'worker')).toEqual(cancelled)
    expect(decideGiveBack(cleansUp, delay, 'worker')).toEqual({ kind: 'given_back', nextAt: 1050 })
  })

  test('keeps the count of its expiries, unless its handler had started or a step was recorded', () => {
    const lease = { expiresAt: 2000, isStarted: false, workerInstanceId: 'w' }
    expect(expiryCountAfterRelease({ lease }, false)).toBeNull()
    expect(expiryCountAfterRelease({ lease }, true)).toBe(0)
    expect(expiryCountAfterRelease({ lease: { ...lease, isStarted: true } }, false)).toBe(0)
  })
})

test('a restart begins a new generation, unless the execution has a stop request', () => {
  expect(decideRestart(running, 'worker')).toEqual({ kind: 'restarted' })
  expect(decideRestart(cleansUp, 'worker')).toEqual({ kind: 'cleans_up' })
  expect(decideRestart(asked, 'worker')).toEqual(cancelled)
  const nameless = { ...asked, stop: { ...stop, reason: null, actor: null } }
  expect(decideRestart(nameless, 'worker')).toEqual({
    kind: 'cancelled',
    ending: { outcome: 'cancelled', reason: 'cancel_requested', actor: 'worker' },
  })
})

test('a cancel by the holder ends the execution as the stop request demanded', () => {
  expect(endingOfHolderCancel(running, null, 'worker')).toEqual({ outcome: 'cancelled', reason: null, actor: 'worker' })
  expect(endingOfHolderCancel(asked, null, 'worker')).toEqual({
    outcome: 'cancelled',
    reason: 'too dear',
    actor: 'ops',
  })
  const limited = { ...asked, stop: { ...stop, outcome: 'expired' as const } }
  expect(endingOfHolderCancel(limited, 'done', 'worker')).toEqual({ outcome: 'expired', reason: 'done', actor: 'ops' })
})
