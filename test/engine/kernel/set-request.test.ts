import { expect, test } from 'vitest'
import { setRequest } from '../../../src/engine/kernel/set-request.ts'
import { localCaller } from '../../../src/engine/kernel/caller.ts'
import { duration, listOf, text } from '../../../src/model/field-kinds.ts'
import { lane } from '../../../src/model/named-fields.ts'
import { refused } from '../../model/refused.ts'

const start = {
  fields: { name: text({ minBytes: 1, maxBytes: 10 }) },
  check: (_: unknown, { name }: { readonly name: string }) => ({ name }),
  params: { names: 'text[]' },
  input: 'name',
  isMaterialized: true,
  values: (items: readonly { readonly name: string }[]) => ({ names: items.map((item) => item.name) }),
} as const

const request = setRequest(
  start,
  'try',
  {
    keptFor: duration().optional(),
    reason: text({ maxBytes: 10 }).default('none').inColumn('given_reason'),
    lanes: listOf(lane, { each: 'lane', allowed: 'a list' }).default([]),
  },
  { served: { column: 'jsonb', from: ({ lanes }) => ({ lanes }) } },
)

test('a request for sets is checked and becomes an item, with derived values', () => {
  const item = request.check(localCaller, { name: 'a', keptFor: '1s', lanes: ['x'] })
  expect(item).toEqual({ name: 'a', keptForMs: 1000, reason: 'none', lanes: ['x'], served: { lanes: ['x'] } })
  const { message } = refused('invalid_input', () => request.check(localCaller, { name: 'a', lane: 'x' }))
  expect(message).toBe('try has an unknown field "lane"; did you mean lanes?')
})

test('the arrays of a set are the columns of its items, in the order of the parameters', () => {
  const items = [
    request.check(localCaller, { name: 'a' }),
    request.check(localCaller, { name: 'b', keptFor: 5, reason: 'late' }),
  ]
  expect(request.params).toEqual({
    names: 'text[]',
    kept_for_ms: 'int8?[]',
    given_reason: 'text[]',
    served: 'jsonb[]',
  })
  expect(request.values(items)).toEqual({
    names: ['a', 'b'],
    kept_for_ms: [null, 5],
    given_reason: ['none', 'late'],
    served: [{ lanes: [] }, { lanes: [] }],
  })
  expect(request.columns).toEqual(['kept_for_ms', 'given_reason', 'served'])
  expect(request.input).toBe(`
with input as materialized (
  select *
  from unnest($1::text[], $2::int8[], $3::text[], $4::jsonb[])
    with ordinality as i (name, kept_for_ms, given_reason, served, ordinal)
)`)
})
