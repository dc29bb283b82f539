import { expect, test } from 'vitest'
import { conditionText } from '../../src/model/condition-text.ts'
import type { Condition } from '../../src/model/condition.ts'

const child = '{fp:7}:01900000-0000-7000-8000-000000000001'
const time: Condition = { kind: 'time', at: 0 }

const texts: readonly [Condition, string][] = [
  [{ kind: 'signal', name: 'paid' }, "a signal named 'paid'"],
  [{ kind: 'signal', waitpoint: 'approval' }, "a signal at waitpoint 'approval'"],
  [{ kind: 'signal', waitpoint: 'approval', name: 'yes' }, "a signal named 'yes' at waitpoint 'approval'"],
  [
    { kind: 'count', n: 2, distinct: 'sources', waitpoints: ['a', 'b'] },
    "2 signals from different sources at waitpoints 'a', 'b'",
  ],
  [
    { kind: 'count', n: 2, distinct: 'waitpoints', waitpoints: ['a', 'b'] },
    "2 signals through different waitpoints at waitpoints 'a', 'b'",
  ],
  [{ kind: 'count', n: 3, distinct: 'signals', name: 'vote' }, "3 signals named 'vote'"],
  [{ kind: 'count', n: 1, distinct: 'signals', name: 'vote' }, "a signal named 'vote'"],
  [{ kind: 'operator' }, 'an operator to resume it'],
  [{ kind: 'timeout' }, 'its timeout'],
  [{ kind: 'child', executionId: child }, `child ${child} to end`],
  [time, 'the time 1970-01-01T00:00:00.000Z'],
  [{ kind: 'allOf', members: [time] }, 'the time 1970-01-01T00:00:00.000Z'],
  [
    { kind: 'anyOf', members: [{ kind: 'operator' }, { kind: 'allOf', members: [{ kind: 'timeout' }, time] }] },
    'one of (an operator to resume it, all of (its timeout, the time 1970-01-01T00:00:00.000Z))',
  ],
  [
    { kind: 'allOf', members: Array.from({ length: 7 }, () => ({ kind: 'operator' as const })) },
    'all of (an operator to resume it, an operator to resume it, an operator to resume it, an operator to resume it, an operator to resume it and 2 more)',
  ],
]

test.each(texts)('%j', (condition, text) => {
  expect(conditionText(condition)).toBe(text)
})
