import { expect, test } from 'vitest'
import { attached } from '../../src/model/attached.ts'
import { expireLease, type ExpiredExecution } from '../../src/model/lease-expiry.ts'

const now = 1_000_000
const stop = { deadlineAt: 5, reason: 'enough', actor: 'ann', outcome: null }

function expire(given: Partial<ExpiredExecution>, random = 0) {
  const execution = {
    attached: 0,
    stop: null,
    consecutiveExpiryCount: 0,
    isStarted: true,
    hasProgressed: false,
    hasNeighbours: false,
    policy: null,
    now,
    ...given,
  }
  return expireLease(execution, 'lease-expiry', random)
}

const waitAfter = (consecutiveExpiryCount: number): number | null => {
  const expiry = expire({ consecutiveExpiryCount })
  if (expiry.kind !== 'requeued') throw new Error(expiry.kind)
  return expiry.nextAt === null ? null : expiry.nextAt - now
}

test('the first reclaim is possible at once; then each waits twice as long, a minute at most', () => {
  const waits = [0, 1, 2, 3, 4, 5, 6, 7, 8, 50].map(waitAfter)
  expect(waits).toEqual([null, 1000, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000, 60_000])
})

test('a run that was only prefetched is not counted, and is reclaimed at once', () => {
  const expiry = expire({ isStarted: false, consecutiveExpiryCount: 100, policy: { maxReclaimCount: 0 } })
  expect(expiry).toEqual({ kind: 'requeued', expiryCount: 100, nextAt: null, cleansUp: false })
})

test('progress resets the count', () => {
  expect(expire({ hasProgressed: true, consecutiveExpiryCount: 7 })).toMatchObject({ expiryCount: 1, nextAt: null })
  expect(expire({ hasProgressed: true, isStarted: false })).toMatchObject({ expiryCount: 0 })
})

test('executions that one worker lost together are spread over ten seconds', () => {
  const one = { consecutiveExpiryCount: 1, hasNeighbours: true }
  expect(expire(one, 0)).toMatchObject({ nextAt: now + 1000 })
  expect(expire(one, 0.9999)).toMatchObject({ nextAt: now + 1000 + 9999 })
  expect(expire({ ...one, consecutiveExpiryCount: 0 }, 0.9999)).toMatchObject({ nextAt: null })
})

test.each([
  ['the policy says so', { maxReclaimCount: 2 }, 2],
  ['the policy says nothing', null, 100],
])('past the limit it fails, when %s', (_, policy, most) => {
  expect(expire({ policy, consecutiveExpiryCount: most - 1 })).toMatchObject({ kind: 'requeued', cleansUp: false })
  expect(expire({ policy, consecutiveExpiryCount: most })).toEqual({ kind: 'failed' })
})

test.each([['compensation'], ['onFailure']] as const)('past the limit its code runs for its %s first', (bit) => {
  const spent = { policy: { maxReclaimCount: 0 }, attached: attached[bit] }
  expect(expire(spent)).toEqual({ kind: 'requeued', expiryCount: 1, nextAt: null, cleansUp: true })
  // Its clean-up may be reclaimed as often as it takes, within the time that it has.
  const cleaning = { ...spent, consecutiveExpiryCount: 1, stop: { ...stop, outcome: 'failed' } } as const
  expect(expire(cleaning)).toMatchObject({ kind: 'requeued', expiryCount: 2, cleansUp: false })
})

test('an execution with a stop request ends cancelled, also past the limit', () => {
  for (const consecutiveExpiryCount of [0, 1000]) {
    expect(expire({ consecutiveExpiryCount, stop })).toEqual({ kind: 'cancelled', reason: 'enough', actor: 'ann' })
  }
  expect(expire({ stop, attached: attached.compensation })).toMatchObject({ kind: 'requeued', cleansUp: false })
})
