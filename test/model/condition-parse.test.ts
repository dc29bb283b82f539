import { describe, expect, test } from 'vitest'
import { checkBinding } from '../../src/model/condition-binding.ts'
import { conditionText } from '../../src/model/condition-text.ts'
import { parseCondition } from '../../src/model/condition-parse.ts'
import type { Condition } from '../../src/model/condition.ts'
import { refused } from './refused.ts'

const go: Condition = { kind: 'signal', name: 'go' }

/** So many composites around each other, the innermost first. */
function nest(depth: number, innermost: Condition): Condition {
  let condition = innermost
  for (let level = 0; level < depth; level += 1) {
    condition = { kind: level % 2 === 0 ? 'allOf' : 'anyOf', members: [go, condition] }
  }
  return condition
}

describe('a condition', () => {
  test('is returned as written, without undefined fields', () => {
    const condition = parseCondition({
      kind: 'count',
      n: 2,
      distinct: 'sources',
      waitpoints: ['review'],
      name: undefined,
      source: { type: 'link', identity: undefined },
    })
    expect(condition).toStrictEqual({
      kind: 'count',
      n: 2,
      distinct: 'sources',
      waitpoints: ['review'],
      source: { type: 'link' },
    })
  })

  test('names a child by the one spelling of its id', () => {
    const executionId = '{fp:7}:018F0000-0000-7000-8000-00000000000A'
    expect(parseCondition({ kind: 'child', executionId })).toEqual({
      kind: 'child',
      executionId: executionId.toLowerCase(),
    })
    refused('invalid_id', () => parseCondition({ kind: 'child', executionId: 'seven' }))
  })

  test('is a copy of the object that it was read from', () => {
    const payload = { equals: { list: [1] } }
    const condition = parseCondition({ kind: 'signal', name: 'go', payload })
    payload.equals.list.push(2)
    expect(condition).toEqual({ kind: 'signal', name: 'go', payload: { equals: { list: [1] } } })
  })

  test.each([
    [nest(4, go), true],
    [nest(5, go), false],
    [nest(3, { kind: 'count', n: 1, distinct: 'signals', name: 'go' }), true],
    [nest(4, { kind: 'count', n: 1, distinct: 'signals', name: 'go' }), false],
  ])('COMP-05 may be four composites deep, a count being one (%#)', (condition, accepted) => {
    if (accepted) return expect(parseCondition(condition)).toEqual(condition)
    const error = refused('invalid_condition', () => parseCondition(condition))
    expect(error.message).toMatch(
      /^depth 5 exceeds cap 4 at path members\[1\]\.members\[1\]\.members\[1\]\.members\[1\]:/,
    )
    expect(error.details).toEqual({
      why: 'depth_exceeded',
      path: 'members[1].members[1].members[1].members[1]',
    })
  })

  test('that contains itself is refused', () => {
    const members: unknown[] = []
    members.push({ kind: 'allOf', members })
    refused('invalid_condition', () => parseCondition({ kind: 'allOf', members }))
  })

  test.each([
    [{ kind: 'allOf', members: [] }, 'allof_empty_members at path <root>'],
    [{ kind: 'anyOf', members: [] }, 'anyof_empty_members at path <root>'],
    [{ kind: 'anyOf', members: [go, { kind: 'allOf', members: [] }] }, 'allof_empty_members at path members[1]'],
    [{ kind: 'count', n: 0, distinct: 'signals', waitpoints: ['a'] }, 'count_n_zero at path <root>'],
    [{ kind: 'count', n: 1, distinct: 'signals', waitpoints: [] }, 'count_waitpoints_empty at path <root>'],
    [{ kind: 'count', n: 1, distinct: 'signals' }, 'count_waitpoints_empty at path <root>'],
    [
      { kind: 'allOf', members: [{ kind: 'count', n: 3, distinct: 'waitpoints', waitpoints: ['a', 'b'] }] },
      'count_exceeds_waitpoint_set at path members[0]: n=3, waitpoints.len()=2',
    ],
    [{ kind: 'count', n: 1, distinct: 'waitpoints', name: 'go' }, 'count_exceeds_waitpoint_set at path <root>'],
    [{ kind: 'count', n: 10_001, distinct: 'signals', name: 'go' }, 'count_exceeds_signal_limit at path <root>'],
    [
      { kind: 'count', n: 1001, distinct: 'signals', waitpoints: ['a'] },
      'count_exceeds_signal_limit at path <root>: n=1001; each waitpoint takes at most 1000 signals',
    ],
    [
      { kind: 'count', n: 2001, distinct: 'sources', waitpoints: ['a', 'b'] },
      'count_exceeds_signal_limit at path <root>',
    ],
    [
      { kind: 'count', n: 2, distinct: 'sources', name: 'go', source: { type: 'link', identity: 'ada' } },
      'count_exceeds_sources at path <root>: n=2, but only 1 can match',
    ],
    [
      { kind: 'count', n: 2, distinct: 'sources', waitpoints: ['a'], source: { type: 'token' } },
      'count_exceeds_sources at path <root>: n=2, but only 1 can match',
    ],
    [{ kind: 'signal' }, 'waitpoints_empty at path <root>'],
  ])('COMP-05 that can never be satisfied, or always is, is refused with its place: %j', (condition, message) => {
    const error = refused('invalid_condition', () => parseCondition(condition))
    expect(error.message).toContain(message)
    expect(message).toContain(String(error.details['why']))
  })

  test.each([
    [{ kind: 'count', n: 3, distinct: 'signals', waitpoints: ['a'] }],
    [{ kind: 'count', n: 3, distinct: 'sources', waitpoints: ['a'] }],
    [{ kind: 'count', n: 2000, distinct: 'signals', waitpoints: ['a', 'b'] }],
    [{ kind: 'count', n: 2, distinct: 'sources', name: 'go', source: { type: 'link' } }],
    [{ kind: 'count', n: 2, distinct: 'signals', name: 'go', source: { type: 'link', identity: 'ada' } }],
    [{ kind: 'count', n: 2, distinct: 'waitpoints', waitpoints: ['a', 'b'] }],
  ])('with a count that can be reached is accepted: %j', (condition) => {
    expect(parseCondition(condition)).toEqual(condition)
  })

  test.each([
    [null, 'condition is null'],
    [undefined, 'condition is undefined'],
    ['go', 'condition is "go"'],
    [[go], 'condition is an array'],
    [{}, 'condition.kind is undefined'],
    [{ kind: 'sginal', name: 'go' }, 'did you mean signal?'],
    [{ kind: 'operator', name: 'go' }, 'condition has an unknown field "name"'],
    [{ kind: 'signal', nane: 'go' }, 'did you mean name?'],
    [{ kind: 'signal', name: '' }, 'condition.name is empty'],
    [{ kind: 'signal', waitpoint: '' }, 'condition.waitpoint is empty'],
    [{ kind: 'signal', name: 'a\nb' }, 'with a control character'],
    [{ kind: 'signal', name: 'x'.repeat(257) }, 'condition.name is at least 257 bytes long'],
    [{ kind: 'signal', name: 'go', source: {} }, 'condition.source is empty'],
    [{ kind: 'signal', name: 'go', source: { type: 'webhook' } }, 'conditions do not match claimed sources'],
    [{ kind: 'signal', name: 'go', source: { kind: 'user' } }, 'condition.source has an unknown field "kind"'],
    [{ kind: 'count', n: 1.5, distinct: 'signals', name: 'go' }, 'condition.n is 1.5'],
    [{ kind: 'count', n: -1, distinct: 'signals', name: 'go' }, 'condition.n is -1'],
    [{ kind: 'count', n: '2', distinct: 'signals', name: 'go' }, 'condition.n is "2"'],
    [{ kind: 'count', distinct: 'signals', name: 'go' }, 'a count without n or distinct'],
    [{ kind: 'count', n: 1, distinct: 'source', name: 'go' }, 'did you mean sources?'],
    [
      { kind: 'count', n: 1, distinct: 'signals', waitpoints: ['a', 'a'] },
      'condition.waitpoints is 2 keys of which 1 differ',
    ],
    [{ kind: 'count', n: 1, distinct: 'signals', waitpoints: 'a' }, 'condition.waitpoints is "a"'],
    [{ kind: 'child' }, 'condition.executionId is undefined'],
    [{ kind: 'time' }, 'condition.at is undefined'],
    [{ kind: 'time', at: 1.5 }, 'condition.at is 1.5'],
    [{ kind: 'time', at: -1 }, 'condition.at is -1'],
    [{ kind: 'time', at: new Date(0) }, 'condition.at is an object'],
    [{ kind: 'time', at: Date.UTC(10_000, 0) }, 'it must be a point in time before the year 10000'],
    [{ kind: 'anyOf', members: [{ kind: 'time', at: 9_000_000_000_000_000 }] }, 'condition.members[0].at is 9000'],
    [{ kind: 'allOf', members: go }, 'condition.members is an object'],
    [{ kind: 'allOf', members: [go, { kind: 'anyOf', members: [go, 7] }] }, 'condition.members[1].members[1] is 7'],
    [{ kind: 'signal', name: 'go', payload: { equals: 'x'.repeat(1024 * 1024) } }, 'bytes of JSON'],
  ])('of a wrong form is refused with its place: %j', (value, message) => {
    expect(refused('invalid_condition', () => parseCondition(value)).message).toContain(message)
  })
})

test('a condition may wait until the end of the year 9999, and its text says so', () => {
  const condition = parseCondition({ kind: 'time', at: Date.UTC(10_000, 0) - 1 })
  expect(conditionText(condition)).toBe('the time 9999-12-31T23:59:59.999Z')
})

describe('a predicate', () => {
  const payload = (predicate: unknown) => () => parseCondition({ kind: 'signal', name: 'go', payload: predicate })

  test.each([
    [null, 'the test of condition.payload is null'],
    [{}, 'the test of condition.payload is an object'],
    [{ equals: undefined }, 'the test of condition.payload is an object'],
    [{ path: ['a'] }, 'it must be one of exists, equals'],
    [{ equal: 1 }, 'did you mean equals?'],
    [{ above: 1, below: 5 }, 'two tests, above and below; it must be one test; combine several with allOf'],
    [{ equals: 1, pat: [] }, 'did you mean path?'],
    [{ path: ['a'], not: { exists: true } }, 'condition.payload has an unknown field "path"'],
    [{ path: 'a.b', exists: true }, 'condition.payload.path is "a.b"'],
    [{ path: [-1], exists: true }, 'condition.payload.path[0] is -1'],
    [{ exists: 1 }, 'condition.payload.exists is 1'],
    [{ oneOf: [] }, 'condition.payload.oneOf is empty'],
    [{ oneOf: 1 }, 'condition.payload.oneOf is 1'],
    [{ allOf: [] }, 'condition.payload.allOf is empty'],
    [{ above: null }, 'condition.payload.above is null'],
    [{ above: NaN }, 'condition.payload.above is NaN'],
    [{ equals: Infinity }, 'condition.payload.equals is Infinity'],
    [{ equals: { a: undefined } }, 'condition.payload.equals.a is undefined'],
    [{ equals: [1, new Date(0)] }, 'condition.payload.equals[1] is an object'],
    [{ equals: 'a\0' }, 'with a NUL character'],
    [{ not: { not: { not: { not: { exists: true } } } } }, 'nested deeper than 4'],
  ])('of a wrong form is refused with its place: %j', (predicate, message) => {
    expect(refused('invalid_condition', payload(predicate)).message).toContain(message)
  })

  test('whose value is nested without end is refused', () => {
    const cycle: Record<string, unknown> = {}
    cycle['self'] = cycle
    expect(refused('invalid_condition', payload({ equals: cycle })).message).toContain('nested too deep')
  })
})

describe('a condition and its suspension', () => {
  const approval: Condition = { kind: 'signal', waitpoint: 'approval' }
  const both: Condition = { kind: 'allOf', members: [approval, { kind: 'signal', waitpoint: 'review' }] }
  const why = (condition: Condition, waitpoints: string[], hasDeadline = false) =>
    refused('invalid_condition', () => checkBinding(condition, { waitpoints, hasDeadline })).details

  test('fit when every waitpoint that is named is bound and every one of several is named', () => {
    checkBinding(approval, { waitpoints: ['approval'], hasDeadline: false })
    checkBinding(both, { waitpoints: ['review', 'approval'], hasDeadline: false })
    checkBinding(go, { waitpoints: [], hasDeadline: false })
    checkBinding({ kind: 'operator' }, { waitpoints: ['approval'], hasDeadline: false })
    checkBinding({ kind: 'timeout' }, { waitpoints: ['approval'], hasDeadline: true })
  })

  test('SUSP-08 do not fit when the condition names another waitpoint', () => {
    expect(why(approval, ['aproval'])).toEqual({ why: 'waitpoint_key_mismatch', path: '<root>' })
    expect(why(approval, [])).toEqual({ why: 'waitpoint_key_mismatch', path: '<root>' })
    expect(why(both, ['approval'])).toEqual({
      why: 'referenced_waitpoint_key_missing_binding',
      path: 'members[1]',
    })
    expect(why({ kind: 'count', n: 1, distinct: 'signals', waitpoints: ['a', 'b'] }, ['a'])).toEqual({
      why: 'referenced_waitpoint_key_missing_binding',
      path: '<root>',
    })
  })

  test('do not fit when one of several waitpoints has no use', () => {
    expect(why(approval, ['approval', 'review'])).toEqual({
      why: 'extra_binding_not_referenced_by_condition',
      path: '<root>',
    })
  })

  test('SUSP-08 do not fit when the condition waits for a timeout that is not set', () => {
    expect(why({ kind: 'timeout' }, ['a'])).toEqual({ why: 'timeout_only_without_deadline', path: '<root>' })
    expect(why({ kind: 'anyOf', members: [go, { kind: 'timeout' }] }, [])).toEqual({
      why: 'timeout_only_without_deadline',
      path: 'members[1]',
    })
  })
})
