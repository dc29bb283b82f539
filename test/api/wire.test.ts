import { expect, test } from 'vitest'
import { argsOf, fieldsOf, pathOf } from '../../src/api/call.ts'
import { routes } from '../../src/api/routes.ts'
import { fromWire, toWire } from '../../src/api/wire.ts'
import { EngineError } from '../../src/model/errors.ts'

const { executions, flows, events } = routes

test('arguments become fields, and the same fields the same arguments', () => {
  for (const [route, args] of [
    [executions.create, [{ kind: 'a', lane: 'b' }]],
    [executions.describe, ['{fp:1}:x']],
    [executions.result, ['{fp:1}:x', { wait: '5s' }]],
    [executions.setTag, ['{fp:1}:x', 'team', 'core']],
    [executions.createMany, [[{ kind: 'a' }, { kind: 'b' }]]],
    [flows.describeEdge, ['{fp:1}:x', 'e']],
  ] as const) {
    expect(argsOf(route, fieldsOf(route, args))).toEqual(args)
  }
  expect(fieldsOf(executions.list, [])).toEqual({})
})

test('a path is filled with percent-encoded fields, and the others are left for body or query', () => {
  const asked = pathOf(executions.setTag, { executionId: '{fp:7}:a/b', key: 'k', value: 'v' })
  expect(asked).toEqual({ path: '/v1/executions/%7Bfp%3A7%7D%3Aa%2Fb/tags/k', rest: { value: 'v' } })
  expect(() => pathOf(events.timeline, { executionId: '' })).toThrow(EngineError)
})

test('bytes and errors return where the route has them, and documents stay unchanged', () => {
  const payload = new Uint8Array([0, 1, 254])
  const tags = { payload: 'AAH+' }
  const answer = { claims: [{ payload, tags, resumption: { signals: [{ payload }] } }, { payload: null }], more: true }
  const text = JSON.stringify(toWire(answer))
  expect(fromWire(executions.claim, JSON.parse(text))).toEqual(answer)
  const error = new EngineError('stale_lease', 'another holds it', { leaseEpoch: 3 })
  const set = {
    items: [
      { kind: 'refused', error },
      { kind: 'completed', executionId: '{fp:1}:x' },
    ],
  }
  const back = fromWire(executions.completeMany, JSON.parse(JSON.stringify(toWire(set)))) as typeof set
  expect(back.items[0]!.error).toBeInstanceOf(EngineError)
  expect(back.items[0]!.error).toMatchObject({ code: 'stale_lease', details: { leaseEpoch: 3 } })
})

test('a refusal of a newer server, with an unknown code, becomes an internal error', () => {
  const response = { items: [{ kind: 'refused', error: { code: 'brand_new', message: 'new', details: {} } }] }
  const back = fromWire(executions.createMany, response) as { items: { error: EngineError }[] }
  expect(back.items[0]!.error).toMatchObject({ code: 'internal_error', message: 'new', details: { code: 'brand_new' } })
})
