import { expect, test } from 'vitest'
import { attached } from '../../src/model/attached.ts'
import { timeOutAttempt, type TimedOutExecution } from '../../src/model/attempt-timeout.ts'
import { parsePolicy } from '../../src/model/policy.ts'

const now = 1_000_000
const retries = parsePolicy({ retry: { attempts: 3, backoff: { type: 'fixed', delayMs: 1000, jitter: 0.5 } } })
const stop = { deadlineAt: 5, reason: 'enough', actor: 'ann', outcome: null }

function timeOut(given: Partial<TimedOutExecution>, random = 0) {
  const execution = { attached: 0, stop: null, retryCount: 0, policy: null, now, ...given }
  return timeOutAttempt(execution, 'attempt-timeout', random)
}

test('it is retried by the policy, and expires when no attempt is left', () => {
  expect(timeOut({ policy: retries })).toEqual({ kind: 'retried', nextAt: now + 1000 })
  expect(timeOut({ policy: retries }, 0.5)).toEqual({ kind: 'retried', nextAt: now + 750 })
  expect(timeOut({ policy: retries, retryCount: 2 })).toEqual({ kind: 'expired' })
  expect(timeOut({})).toEqual({ kind: 'expired' })
  const only = parsePolicy({ retry: { attempts: 3, categories: ['transient'] } })
  expect(timeOut({ policy: only })).toEqual({ kind: 'expired' })
})

test('a retry without a delay can be claimed at once', () => {
  const policy = parsePolicy({ retry: { attempts: 3, backoff: { type: 'fixed', delayMs: 0 } } })
  expect(timeOut({ policy })).toEqual({ kind: 'retried', nextAt: null })
})

test.each([['compensation'], ['onFailure']] as const)('the last attempt runs its %s before it expires', (bit) => {
  expect(timeOut({ attached: attached[bit] })).toEqual({ kind: 'cleans_up', isAsked: true })
  expect(timeOut({ attached: attached[bit], policy: retries })).toMatchObject({ kind: 'retried' })
})

test('a clean-up that times out continues, within its own limit', () => {
  const cleaning = { attached: attached.compensation, stop }
  expect(timeOut(cleaning)).toEqual({ kind: 'cleans_up', isAsked: false })
  expect(timeOut({ ...cleaning, policy: retries })).toEqual({ kind: 'cleans_up', isAsked: false })
})

test('an execution with a stop request and nothing to clean up ends', () => {
  expect(timeOut({ stop, policy: retries })).toEqual({ kind: 'cancelled', reason: 'enough', actor: 'ann' })
  expect(timeOut({ stop })).toEqual({ kind: 'expired' })
  expect(timeOut({ stop, attached: attached.onFailure })).toEqual({ kind: 'expired' })
})
