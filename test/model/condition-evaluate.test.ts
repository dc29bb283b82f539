import { describe, expect, test } from 'vitest'
import { evaluate } from '../../src/model/condition-evaluate.ts'
import type { ConditionInput } from '../../src/model/condition-evaluate.ts'
import type { ConditionSignal } from '../../src/model/condition-match.ts'
import { receive } from '../../src/model/condition-receive.ts'
import type { Condition } from '../../src/model/condition.ts'
import type { SignalEffect } from '../../src/model/signal.ts'

let serial = 0
const ann = { type: 'link', identity: 'ann' } as const
const bob = { type: 'link', identity: 'bob' } as const

/** Accepted in the order of the list. */
function signal(fields: Partial<ConditionSignal> = {}): ConditionSignal {
  serial += 1
  return { id: `s${serial}`, name: 'go', source: ann, acceptedAt: serial, ...fields }
}
const through = (waitpoint: string, fields: Partial<ConditionSignal> = {}) => signal({ waitpoint, ...fields })

/** The effect of each signal, one after the other. */
function effects(condition: Condition, ...signals: ConditionSignal[]): SignalEffect[] {
  return signals.map((each, i) => receive(condition, given(...signals.slice(0, i)), [each]).effects[0]!)
}
const given = (...signals: ConditionSignal[]): ConditionInput => ({ signals, now: 1000 })

const approval: Condition = { kind: 'signal', waitpoint: 'approval' }
const review: Condition = { kind: 'signal', waitpoint: 'review' }
const isGo: Condition = { kind: 'signal', name: 'go' }
const countOf = (n: number, distinct: 'sources' | 'signals' | 'waitpoints', ...waitpoints: string[]): Condition => ({
  kind: 'count',
  n,
  distinct,
  waitpoints,
})

describe('one leaf', () => {
  test('SIG-03 without a matcher takes any signal of its waitpoint', () => {
    expect(effects(approval, through('approval', { name: 'whatever' }))).toEqual(['resume_condition_satisfied'])
    expect(evaluate(approval, given(through('review'))).satisfied).toBe(false)
  })

  test('SIG-02 with a name keeps a signal of another name beside it', () => {
    const ready: Condition = { kind: 'signal', waitpoint: 'approval', name: 'ready' }
    const signals = [through('approval', { name: 'other' }), through('approval', { name: 'ready' })]
    expect(effects(ready, ...signals)).toEqual(['appended_to_waitpoint', 'resume_condition_satisfied'])
    expect(evaluate(ready, given(...signals)).signals).toEqual([signals[1]!.id])
  })

  test.each([
    [{ type: 'link' }, ann, true],
    [{ type: 'system' }, ann, false],
    [{ identity: 'ann' }, ann, true],
    [{ identity: 'ann' }, bob, false],
    [{ type: 'link', identity: 'bob' }, bob, true],
    [{ identity: '' }, { type: 'operator', identity: '' }, true],
  ] as const)('from the source %j takes signals from %j: %s', (wanted, source, satisfied) => {
    const condition: Condition = { ...approval, source: wanted }
    expect(evaluate(condition, given(through('approval', { source }))).satisfied).toBe(satisfied)
  })

  test('with a predicate never takes a payload that is absent or not JSON', () => {
    const positive: Condition = { ...approval, payload: { exists: true } }
    const negative: Condition = { ...approval, payload: { not: { path: ['a'], exists: true } } }
    expect(evaluate(positive, given(through('approval', { payload: null }))).satisfied).toBe(true)
    expect(evaluate(negative, given(through('approval', { payload: null }))).satisfied).toBe(true)
    expect(evaluate(positive, given(through('approval'))).satisfied).toBe(false)
    expect(evaluate(negative, given(through('approval'))).satisfied).toBe(false)
  })

  test.each(['operator', 'timeout'] as const)('COMP-04 for the %s takes no signal, whatever its name', (kind) => {
    const names = ['go', 'operator', 'timeout', '__operator_only__', '__timeout_only__']
    const signals = names.flatMap((name) => [through('approval', { name }), signal({ name })])
    expect(evaluate({ kind }, given(...signals)).satisfied).toBe(false)
    expect(new Set(effects({ kind }, ...signals))).toEqual(new Set(['appended_to_waitpoint', 'kept_for_condition']))
  })

  test('for the timeout is satisfied when the deadline has fired', () => {
    expect(evaluate({ kind: 'timeout' }, { ...given(), timedOutAt: 999 }).satisfied).toBe(true)
  })

  test('for a child is satisfied when that child has ended', () => {
    const child: Condition = { kind: 'child', executionId: '{fp:7}:018f0000-0000-7000-8000-000000000001' }
    const other = new Map([['{fp:7}:018f0000-0000-7000-8000-000000000002', 5]])
    const own = new Map([['{fp:7}:018f0000-0000-7000-8000-000000000001', 5]])
    expect(evaluate(child, given()).satisfied).toBe(false)
    expect(evaluate(child, { ...given(), childEndings: other }).satisfied).toBe(false)
    expect(evaluate(child, { ...given(), childEndings: own }).satisfied).toBe(true)
  })

  test('for a point in time is satisfied in that millisecond', () => {
    const time: Condition = { kind: 'time', at: 1000 }
    expect(evaluate(time, { signals: [], now: 999 })).toMatchObject({ satisfied: false, dueAt: 1000 })
    expect(evaluate(time, { signals: [], now: 1000 })).toMatchObject({ satisfied: true, dueAt: null })
  })

  test('stays satisfied by past events, though the clock was set back since', () => {
    expect(evaluate(isGo, { signals: [signal({ acceptedAt: 5000 })], now: 1000 }).satisfied).toBe(true)
  })
})

describe('a signal sent by name', () => {
  test('is taken by a leaf that names it and no waitpoint', () => {
    expect(effects(isGo, signal({ name: 'stop' }), signal())).toEqual([
      'kept_for_condition',
      'resume_condition_satisfied',
    ])
  })

  test("does not satisfy a leaf of a waitpoint, nor a waitpoint's signal a leaf by name", () => {
    expect(evaluate({ ...approval, name: 'go' }, given(signal())).satisfied).toBe(false)
    expect(evaluate(isGo, given(through('approval'))).satisfied).toBe(false)
  })

  test('is taken once: the second of its name stays for the next wait', () => {
    const [first, second] = [signal(), signal()]
    expect(evaluate(isGo, given(second, first)).signals).toEqual([first.id])
    const [a, b] = ['a', 'b'].map((id) => signal({ id, acceptedAt: 7 })) as [ConditionSignal, ConditionSignal]
    expect(evaluate(isGo, given(b, a)).signals).toEqual(['a'])
  })

  test('stays when another leaf won, or when a count needs no more', () => {
    const stop = signal({ name: 'stop' })
    const go = [signal(), signal(), signal()]
    const either: Condition = { kind: 'anyOf', members: [isGo, { kind: 'signal', name: 'stop' }] }
    expect(evaluate(either, given(...go, stop)).signals).toEqual([stop.id])
    const two: Condition = { kind: 'count', n: 2, distinct: 'signals', name: 'go' }
    expect(evaluate(two, given(...go)).signals).toEqual([go[0]!.id, go[1]!.id])
  })

  test('stays when the condition is not satisfied', () => {
    const both: Condition = { kind: 'allOf', members: [isGo, approval] }
    expect(evaluate(both, given(signal()))).toMatchObject({ satisfied: false, signals: [] })
    expect(effects(both, signal())).toEqual(['kept_for_condition'])
  })
})

describe('allOf', () => {
  test('COMP-01 over two waitpoints is satisfied by the second', () => {
    const both: Condition = { kind: 'allOf', members: [approval, review] }
    const signals = [through('review'), through('approval')]
    expect(effects(both, ...signals)).toEqual(['appended_to_waitpoint', 'resume_condition_satisfied'])
    expect(evaluate(both, given(...signals))).toMatchObject({
      signals: [signals[0]!.id, signals[1]!.id],
      satisfiers: { 'members[0]': [signals[1]!.id], 'members[1]': [signals[0]!.id] },
    })
  })

  test('reports the effect of a signal: a repeat, one for no wait, one that no leaf accepts', () => {
    const both: Condition = { kind: 'allOf', members: [{ ...approval, name: 'yes' }, review] }
    const yes = () => through('approval', { name: 'yes' })
    expect(
      effects(both, yes(), yes(), through('approval', { name: 'no' }), through('audit'), through('review')),
    ).toEqual([
      'appended_to_waitpoint',
      'appended_to_waitpoint_duplicate',
      'signal_ignored_matcher_failed',
      'signal_ignored_not_in_condition',
      'resume_condition_satisfied',
    ])
  })

  test('lets one signal serve several leaves', () => {
    const condition: Condition = { kind: 'allOf', members: [approval, { ...approval, name: 'go' }] }
    expect(effects(condition, through('approval'))).toEqual(['resume_condition_satisfied'])
  })

  test('works at every depth', () => {
    const inner: Condition = { kind: 'allOf', members: [{ kind: 'allOf', members: [countOf(1, 'signals', 'review')] }] }
    const condition: Condition = { kind: 'allOf', members: [inner] }
    expect(effects(condition, through('review'))).toEqual(['resume_condition_satisfied'])
  })

  test('comes due when its last point in time does', () => {
    const times = [2000, 3000].map((at): Condition => ({ kind: 'time', at }))
    expect(evaluate({ kind: 'allOf', members: times }, given()).dueAt).toBe(3000)
    expect(evaluate({ kind: 'allOf', members: [...times, isGo] }, given()).dueAt).toBeNull()
    expect(evaluate({ kind: 'allOf', members: [...times, isGo] }, given(signal())).dueAt).toBe(3000)
  })
})

describe('anyOf', () => {
  test('names the leaf that was satisfied first, not the first in the list', () => {
    const [late, early] = [signal({ acceptedAt: 9 }), signal({ name: 'stop', acceptedAt: 8 })]
    const either: Condition = { kind: 'anyOf', members: [isGo, { kind: 'signal', name: 'stop' }] }
    expect(evaluate(either, given(late, early)).winners).toEqual({ '<root>': 'members[1]' })
    expect(evaluate(either, given()).winners).toEqual({})
  })

  test('whose leaves are satisfied in one moment names the first in the list', () => {
    const either: Condition = { kind: 'anyOf', members: [review, isGo, { ...isGo, source: ann }] }
    expect(evaluate(either, given(signal())).winners).toEqual({ '<root>': 'members[1]' })
  })

  test('of anyOf names the leaf inside', () => {
    const inner: Condition = { kind: 'anyOf', members: [review, isGo] }
    expect(evaluate({ kind: 'anyOf', members: [approval, inner] }, given(signal())).winners).toEqual({
      '<root>': 'members[1].members[1]',
      'members[1]': 'members[1].members[1]',
    })
  })

  test('is won by a point in time that had passed before the signal arrived', () => {
    const either: Condition = { kind: 'anyOf', members: [approval, { kind: 'time', at: 900 }] }
    const { evaluation, effects } = receive(either, given(), [through('approval', { acceptedAt: 1000 })])
    expect(evaluation).toMatchObject({ satisfied: true, winners: { '<root>': 'members[1]' }, signals: [] })
    expect(effects).toEqual(['appended_to_waitpoint'])
  })

  test('comes due when its first point in time does', () => {
    const times = [3000, 2000].map((at): Condition => ({ kind: 'time', at }))
    expect(evaluate({ kind: 'anyOf', members: [isGo, ...times] }, given()).dueAt).toBe(2000)
  })
})

describe('count', () => {
  test('COMP-02 of sources takes each proved source once', () => {
    const two = countOf(2, 'sources', 'review')
    const from = (source: ConditionSignal['source']) => through('review', { source })
    expect(effects(two, from(ann), from(ann), from({ type: 'system', identity: 'ann' }))).toEqual([
      'appended_to_waitpoint',
      'appended_to_waitpoint_duplicate',
      'resume_condition_satisfied',
    ])
    const ambiguous = [from({ type: 'link', identity: 'b:c' }), from({ type: 'link', identity: 'b' })]
    expect(evaluate(two, given(...ambiguous)).satisfied).toBe(true)
  })

  test('of sources takes one name in several spellings once', () => {
    const two = countOf(2, 'sources', 'review')
    const from = (identity: string) => through('review', { source: { type: 'link', identity } })
    const spellings = [
      'Ada Lovelace',
      'ada  lovelace',
      ' ADA LOVELACE',
      'Ada\u00a0Lovelace',
      'A\u200bda Lovelace',
      'Ａｄａ Lovelace',
    ]
    expect(evaluate(two, given(...spellings.map(from))).satisfied).toBe(false)
    expect(evaluate(two, given(from('Ada Lovelace'), from('Adam Lovelace'))).satisfied).toBe(true)
  })

  test('COMP-03 of signals takes two through one waitpoint, of waitpoints it takes one through each', () => {
    const twice = [through('review'), through('review')]
    expect(effects(countOf(2, 'signals', 'review'), ...twice)).toEqual([
      'appended_to_waitpoint',
      'resume_condition_satisfied',
    ])
    const waitpoints = countOf(2, 'waitpoints', 'review', 'audit')
    expect(effects(waitpoints, ...twice, through('audit'))).toEqual([
      'appended_to_waitpoint',
      'appended_to_waitpoint_duplicate',
      'resume_condition_satisfied',
    ])
  })

  test('never counts a signal that another count has counted', () => {
    const two: Condition = { kind: 'allOf', members: [countOf(2, 'signals', 'review'), countOf(2, 'signals', 'audit')] }
    const signals = [through('review'), through('audit'), through('review'), through('audit')]
    expect(effects(two, ...signals)).toEqual([
      'appended_to_waitpoint',
      'appended_to_waitpoint',
      'appended_to_waitpoint',
      'resume_condition_satisfied',
    ])
    expect(evaluate(two, given(...signals)).satisfiers).toEqual({
      'members[0]': [signals[0]!.id, signals[2]!.id],
      'members[1]': [signals[1]!.id, signals[3]!.id],
    })
  })

  test('evaluates signals that arrived before the wait like later ones', () => {
    const early = [through('review', { source: ann }), through('review', { source: bob })]
    expect(evaluate(countOf(2, 'sources', 'review'), given(...early)).satisfied).toBe(true)
  })
})

test.each([
  { kind: 'quorum', n: 0 },
  { kind: 'count', n: 1, distinct: 'colours', waitpoints: ['approval'] },
  { kind: 'signal', waitpoint: 'approval', payload: { like: '%' } },
  { kind: 'anyOf', members: [{ kind: 'quorum' }] },
])('COMP-06 a stored condition of an unknown shape is never satisfied: %j', (stored) => {
  const signals = [through('approval', { payload: {} }), signal({ payload: {} })]
  expect(evaluate(stored as unknown as Condition, given(...signals)).satisfied).toBe(false)
})
