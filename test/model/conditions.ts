// Random conditions and facts from small alphabets, so that they often match.
import fc from 'fast-check'
import type { ConditionInput } from '../../src/model/condition-evaluate.ts'
import type { ConditionSignal } from '../../src/model/condition-match.ts'
import type { Condition } from '../../src/model/condition.ts'
import type { ExecutionId } from '../../src/model/id.ts'
import type { Json } from '../../src/model/json.ts'
import type { Predicate } from '../../src/model/predicate.ts'

export const keys = ['approval', 'review', 'audit']
const names = ['go', 'stop']
const children: ExecutionId[] = [
  '{fp:7}:018f0000-0000-7000-8000-000000000001',
  '{fp:7}:018f0000-0000-7000-8000-000000000002',
]
const moment = fc.integer({ min: 0, max: 20 })
const key = fc.constantFrom(...keys)
const name = fc.constantFrom(...names)
const source = fc.record({ type: fc.constantFrom('link', 'system'), identity: fc.constantFrom('', 'ann', 'bob') })

const json = fc.constantFrom<Json>(
  null,
  true,
  0,
  5,
  'x',
  [1, 2],
  { ok: true },
  { ok: false, n: 7 },
  { list: [{ n: 1 }] },
)

const bound = fc.constantFrom<number | string>(0, 5, 7, 'a', 'x')
const path = fc.constantFrom<(string | number)[]>([], ['ok'], ['n'], ['list', 0, 'n'], [1])
const test: fc.Arbitrary<Predicate> = fc.oneof(
  fc.record({ path, exists: fc.boolean() }),
  fc.record({ path, equals: json }),
  fc.record({ oneOf: fc.array(json, { minLength: 1, maxLength: 3 }) }),
  fc.record({ path, above: bound }),
  fc.record({ path, atLeast: bound }),
  fc.record({ path, below: bound }),
  fc.record({ path, atMost: bound }),
)
const tests = fc.array(test, { minLength: 1, maxLength: 3 })
export const predicates: fc.Arbitrary<Predicate> = fc.oneof(
  test,
  fc.record({ allOf: tests }),
  fc.record({ anyOf: tests }),
  fc.record({ not: test }),
)

const matcher = fc.record(
  { name, source: fc.oneof(source, fc.record({ type: fc.constant('link') })), payload: predicates },
  { requiredKeys: [] },
)
const byWaitpoint = fc.tuple(matcher, key).map(([fields, waitpoint]) => ({ ...fields, waitpoint }))
const byName = fc.tuple(matcher, name).map(([fields, called]) => ({ ...fields, name: called }))
const signal = fc.oneof(byWaitpoint, byName).map((fields): Condition => ({ kind: 'signal', ...fields }))

const count = fc
  .tuple(
    fc.integer({ min: 1, max: 3 }),
    fc.constantFrom('sources', 'signals', 'waitpoints'),
    fc.uniqueArray(key, { minLength: 1, maxLength: 3 }),
    matcher,
  )
  .map(([n, distinct, waitpoints, fields]): Condition => {
    const isOneSource = fields.source !== undefined && 'identity' in fields.source
    const most = { waitpoints: waitpoints.length, sources: isOneSource ? 1 : n, signals: n }[distinct]
    const reachable = Math.min(n, most)
    return { kind: 'count', n: reachable, distinct, waitpoints, ...fields }
  })
const countByName = fc
  .tuple(fc.integer({ min: 1, max: 3 }), fc.constantFrom('sources', 'signals'), name)
  .map(([n, distinct, called]): Condition => ({ kind: 'count', n, distinct, name: called }))

const leaf = fc.oneof(
  { weight: 6, arbitrary: signal },
  fc.constantFrom<Condition>({ kind: 'operator' }, { kind: 'timeout' }),
  fc.constantFrom(...children).map((executionId): Condition => ({ kind: 'child', executionId })),
  moment.map((at): Condition => ({ kind: 'time', at })),
)

function nested(depth: number): fc.Arbitrary<Condition> {
  if (depth === 0) return leaf
  const members = fc.array(nested(depth - 1), { minLength: 1, maxLength: 3 })
  return fc.oneof(
    leaf,
    count,
    countByName,
    fc.record({ kind: fc.constant('allOf' as const), members }),
    fc.record({ kind: fc.constant('anyOf' as const), members }),
  )
}
export const conditions = nested(4)

export const signals: fc.Arbitrary<ConditionSignal[]> = fc.uniqueArray(
  fc
    .record({
      id: fc.integer({ min: 0, max: 99 }).map(String),
      name,
      source,
      acceptedAt: moment,
      waitpoint: fc.option(key, { nil: undefined }),
      payload: fc.option(json, { nil: undefined }),
    })
    .map(({ waitpoint, payload, ...fact }) => ({
      ...fact,
      ...(waitpoint !== undefined && { waitpoint }),
      ...(payload !== undefined && { payload }),
    })),
  { maxLength: 8, selector: ({ id }) => id },
)

export const facts: fc.Arbitrary<ConditionInput> = fc
  .record({
    signals,
    now: moment,
    endings: fc.array(fc.tuple(fc.constantFrom<string>(...children), moment), { maxLength: 2 }),
    timedOutAt: fc.option(moment, { nil: undefined }),
  })
  .map(({ endings, timedOutAt, ...fields }) => ({
    ...fields,
    childEndings: new Map(endings),
    ...(timedOutAt !== undefined && { timedOutAt }),
  }))
