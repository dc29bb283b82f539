import { expect, test } from 'vitest'
import { isHeldBy, isLastLease } from '../../src/model/lease.ts'

const given = { leaseId: 'a', leaseEpoch: 3 }
const lease = { expiresAt: 200, isStarted: true, workerInstanceId: 'w' }
const held = { lifecyclePhase: 'active', ...given, lease, now: 100 } as const

test('a worker holds an execution while its lease is current and has not expired', () => {
  expect(isHeldBy(held, given)).toBe(true)
  expect(isHeldBy({ ...held, now: 199 }, given)).toBe(true)
  expect(isHeldBy({ ...held, now: 200 }, given)).toBe(false)
})

test.each([
  ['another lease id', { ...given, leaseId: 'b' }],
  ['an earlier epoch', { ...given, leaseEpoch: 2 }],
])('%s is not the current lease', (_, other) => {
  expect(isLastLease(held, other)).toBe(false)
  expect(isHeldBy(held, other)).toBe(false)
})

test('the last holder is known after its lease has ended, and has no lease', () => {
  for (const lifecyclePhase of ['runnable', 'suspended', 'terminal'] as const) {
    const left = { ...held, lifecyclePhase, lease: null }
    expect(isLastLease(left, given)).toBe(true)
    expect(isHeldBy(left, given)).toBe(false)
  }
})
