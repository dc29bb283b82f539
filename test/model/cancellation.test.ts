import { expect, test } from 'vitest'
import { attached } from '../../src/model/attached.ts'
import { cancel, cancelMember, type CancellableExecution, type CancelTerms } from '../../src/model/cancellation.ts'

const now = 1_000_000
const stopUntil = (deadlineAt: number) => ({ deadlineAt, reason: 'enough', actor: 'ann', outcome: null })
const running: CancellableExecution = { lifecyclePhase: 'active', attached: 0, stop: null, now }
const cleaning: CancellableExecution = { ...running, attached: attached.compensation }

function by(terms: Partial<CancelTerms>): CancelTerms {
  return { graceMs: 0, deadlineMs: null, isForced: false, ...terms }
}

test.each(['runnable', 'active', 'suspended'] as const)(
  'without a grace, an execution that is %s ends at once',
  (lifecyclePhase) => {
    expect(cancel({ ...running, lifecyclePhase }, by({}))).toEqual({ kind: 'ends' })
  },
)

test('a grace is for a running execution; others end at once', () => {
  const terms = by({ graceMs: 5000 })
  expect(cancel(running, terms)).toEqual({ kind: 'asked', until: now + 5000, isNew: true })
  expect(cancel({ ...running, lifecyclePhase: 'runnable' }, terms)).toEqual({ kind: 'ends' })
  expect(cancel({ ...running, lifecyclePhase: 'suspended' }, terms)).toEqual({ kind: 'ends' })
})

test('the earlier of two ends of the grace counts', () => {
  const asked = { ...running, stop: stopUntil(now + 5000) }
  expect(cancel(asked, by({ graceMs: 5001 }))).toEqual({ kind: 'asked', until: now + 5000, isNew: false })
  expect(cancel(asked, by({ graceMs: 5000 }))).toEqual({ kind: 'asked', until: now + 5000, isNew: false })
  expect(cancel(asked, by({ graceMs: 4999 }))).toEqual({ kind: 'asked', until: now + 4999, isNew: true })
  expect(cancel(asked, by({}))).toEqual({ kind: 'ends' })
})

test.each(['runnable', 'active', 'suspended'] as const)(
  'an execution that is %s and has a compensation receives a request',
  (phase) => {
    const execution = { ...cleaning, lifecyclePhase: phase }
    expect(cancel(execution, by({}))).toMatchObject({ kind: 'asked', until: now + 600_000 })
    expect(cancel(execution, by({ graceMs: 5000 }))).toMatchObject({ kind: 'asked', until: now + 5000 })
    expect(cancel(execution, by({ graceMs: 5000, deadlineMs: 7000 }))).toMatchObject({
      kind: 'asked',
      until: now + 7000,
    })
    expect(cancel(execution, by({ deadlineMs: 0 }))).toMatchObject({ kind: 'asked', until: now })
  },
)

test('a forced cancel ends it without its compensations, and an ended one stays unchanged', () => {
  const terms = by({ isForced: true, graceMs: 5000 })
  expect(cancel(cleaning, terms)).toEqual({ kind: 'ends' })
  expect(cancel({ ...cleaning, lifecyclePhase: 'terminal' }, terms)).toEqual({ kind: 'none' })
})

test('a member is cancelled with its flow, unless it ended, was spared because it had started, or is in another generation', () => {
  const member = { ...running, startedAt: 5 }
  const all = { isOnlyPending: false, isSameLife: true }
  const pending = { isOnlyPending: true, isSameLife: true }
  expect(cancelMember(member, all)).toBe('ends')
  expect(cancelMember(member, pending)).toBe('none')
  expect(cancelMember({ ...member, startedAt: null }, pending)).toBe('ends')
  expect(cancelMember(member, { ...all, isSameLife: false })).toBe('none')
  expect(cancelMember({ ...member, lifecyclePhase: 'terminal' }, all)).toBe('none')
  expect(cancelMember({ ...cleaning, startedAt: 5 }, all)).toBe('asked')
  expect(cancelMember({ ...cleaning, startedAt: 5, stop: stopUntil(5) }, all)).toBe('none')
})
