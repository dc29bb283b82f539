import { expect, test } from 'vitest'
import { attached } from '../../src/model/attached.ts'
import type { Condition } from '../../src/model/condition.ts'
import { decideDue, type DueSuspension } from '../../src/model/suspension-timeout.ts'

const now = 1_000_000
const signal: Condition = { kind: 'signal', waitpoint: 'answer' }
const plain = { attached: attached.suspension, stop: null }

function due(given: Partial<DueSuspension>, execution: Parameters<typeof decideDue>[1] = plain) {
  const suspension: DueSuspension = {
    condition: signal,
    input: { signals: [], now },
    wakeAt: null,
    timeoutAt: now - 1,
    timeoutBehaviour: 'fail',
    ...given,
  }
  return decideDue(suspension, execution)
}

test.each([
  ['fail', 'failed'],
  ['cancel', 'cancelled'],
  ['expire', 'expired'],
] as const)('a deadline with the behaviour %s ends it, after its clean-up', (timeoutBehaviour, outcome) => {
  const reason = `suspension_timeout_${timeoutBehaviour}`
  const closeReason = `timed_out_${timeoutBehaviour}`
  expect(due({ timeoutBehaviour })).toEqual({ kind: 'ends', outcome, reason, closeReason })
  for (const bit of [attached.compensation, attached.onFailure]) {
    expect(due({ timeoutBehaviour }, { attached: bit, stop: null })).toEqual({ kind: 'asked', outcome, reason })
  }
})

test('a deadline at this very millisecond, or none, changes nothing', () => {
  for (const timeoutAt of [now, now + 1, null]) expect(due({ timeoutAt })).toEqual({ kind: 'none' })
})

test('a deadline that resumes reports the signals that had arrived by then', () => {
  const decided = due({ timeoutBehaviour: 'auto_resume_with_timeout_signal' })
  expect(decided).toMatchObject({ kind: 'resumes', evaluation: { satisfied: false, signals: [] } })
})

test('an escalation evaluates the condition again only where a leaf waits for the deadline', () => {
  const escalating = { timeoutBehaviour: 'escalate' } as const
  expect(due(escalating)).toEqual({ kind: 'escalates', wakeAt: null })
  const later: Condition = { kind: 'anyOf', members: [signal, { kind: 'time', at: now + 5 }] }
  expect(due({ ...escalating, condition: later })).toEqual({ kind: 'escalates', wakeAt: now + 5 })
  const either: Condition = { kind: 'anyOf', members: [signal, { kind: 'timeout' }] }
  expect(due({ ...escalating, condition: either })).toEqual({ kind: 'escalates', wakeAt: now })
})

test('a satisfied condition resumes it, also after the deadline', () => {
  const condition: Condition = { kind: 'time', at: now }
  for (const timeoutAt of [null, now - 1]) {
    expect(due({ condition, wakeAt: now, timeoutAt })).toMatchObject({ kind: 'satisfied' })
  }
  const child: Condition = { kind: 'child', executionId: '{fp:1}:0190a000-0000-7000-8000-000000000001' }
  const childEndings = new Map([[child.executionId, now - 5]])
  expect(due({ condition: child, input: { signals: [], now, childEndings } })).toMatchObject({ kind: 'satisfied' })
})

test('a point in time that is not enough is put off', () => {
  const condition: Condition = { kind: 'time', at: now + 9 }
  const waiting = { condition, wakeAt: now, timeoutAt: null, timeoutBehaviour: null }
  expect(due(waiting)).toMatchObject({ kind: 'waits', evaluation: { satisfied: false, dueAt: now + 9 } })
  expect(due({ ...waiting, wakeAt: now + 1 })).toEqual({ kind: 'none' })
})
