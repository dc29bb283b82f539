// JSON as people send and read it: without base64, and tasks read it like an input from ff.submit.
import { expect, test } from 'vitest'
import { jsonCodec } from '../../src/index.ts'
import { appSetup, base64 } from './app-setup.ts'

const at = (id: string, rest = ''): string => `/v1/executions/${encodeURIComponent(id)}${rest}`
const worker = { workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'] }
const order = { id: 7, lines: [{ sku: 'ä', count: 2 }], note: null }

test('an input of JSON is stored as the default codec stores it, and input and result are returned as JSON', async () => {
  const { ask, engine } = await appSetup()
  const { status, body } = await ask('POST', '/v1/executions', { kind: 'ship', input: order })
  expect(status).toBe(201)
  const stored = await engine.executions.input(body.executionId)
  expect(stored).toEqual({ payload: jsonCodec.encode(order).bytes, encoding: 'json' })
  const given = { payload: base64(order), encoding: 'json', input: order }
  expect((await ask('GET', at(body.executionId, '/input'))).body).toEqual(given)

  const { claims } = (await ask('POST', '/v1/executions/claim', worker)).body
  expect(claims[0]).toMatchObject({ payload: base64(order), payloadEncoding: 'json' })
  const { leaseId, leaseEpoch } = claims[0]
  const fence = { leaseId, leaseEpoch }
  const step = { name: 's', kind: 'step', state: 'succeeded', result: base64([1]), resultEncoding: 'json' }
  await ask('POST', at(body.executionId, '/steps'), { ...fence, ...step })
  expect((await ask('GET', at(body.executionId, '/steps'))).body.steps).toMatchObject([{ name: 's', output: [1] }])
  await ask('POST', at(body.executionId, '/complete'), { ...fence, result: base64(false), resultEncoding: 'json' })
  const result = { kind: 'completed', result: base64(false), encoding: 'json', output: false }
  expect((await ask('GET', at(body.executionId, '/result'))).body).toEqual(result)
  const { output: _, ...bytesOnly } = result
  const omitted = await ask('GET', at(body.executionId, '/result'), undefined, { 'flowfabric-plain': 'omit' })
  expect(omitted.body).toEqual(bytesOnly)
})

test.each([
  ['another encoding', base64('sealed'), 'sealed'],
  ['a text that is not JSON', Buffer.from('{').toString('base64'), 'json'],
  ['a text that is not UTF-8', Buffer.from([0x22, 0xff, 0x22]).toString('base64'), 'json'],
  ['JSON that is too deep', Buffer.from('['.repeat(5000) + ']'.repeat(5000)).toString('base64'), 'json'],
])('bytes of %s are returned as bytes only', async (_, payload, payloadEncoding) => {
  const { ask } = await appSetup()
  const { body } = await ask('POST', '/v1/executions', { kind: 'ship', payload, payloadEncoding })
  expect((await ask('GET', at(body.executionId, '/input'))).body).toEqual({ payload, encoding: payloadEncoding })
})

test('members, schedules and signals accept JSON, too', async () => {
  const { ask, engine } = await appSetup()
  const schedule = { kind: 'ship', input: order, cron: '@daily' }
  expect((await ask('PUT', '/v1/schedules/nightly', schedule)).status).toBe(201)
  expect((await ask('GET', '/v1/schedules/nightly')).body).toMatchObject({ payload: base64(order), input: order })

  const members = [{ name: 'first', kind: 'ship', input: order }]
  const flow = (await ask('POST', '/v1/flows/submit-graph', { kind: 'f', members })).body
  const member = Object.values(flow.members)[0] as string
  expect(await engine.executions.input(member)).toEqual({ payload: jsonCodec.encode(order).bytes, encoding: 'json' })

  const many = await ask('POST', '/v1/executions/create', {
    items: [
      { kind: 'a', input: 0 },
      { kind: 'a', input: null },
    ],
  })
  const [zero, none] = many.body.items as { executionId: string }[]
  expect((await ask('GET', at(zero!.executionId, '/input'))).body).toMatchObject({ input: 0 })
  expect((await ask('GET', at(none!.executionId, '/input'))).body).toMatchObject({ input: null, encoding: 'json' })

  const sent = await ask('POST', at(zero!.executionId, '/signals'), { name: 'approved', value: { by: 'ada' } })
  expect(sent.body).toMatchObject({ kind: 'accepted' })
  const { signals } = (await ask('GET', at(zero!.executionId, '/signals'))).body
  expect(signals).toMatchObject([{ payload: base64({ by: 'ada' }), payloadEncoding: 'json', value: { by: 'ada' } }])
})

test('a payload that is no base64 is refused, and the error names the field for JSON in the words of HTTP', async () => {
  const { ask } = await appSetup()
  const { executionId } = (await ask('POST', '/v1/executions', { kind: 'a' })).body
  const detailOf = async (path: string, body: object) => {
    const asked = await ask('POST', path, body)
    const [item] = asked.body.items ?? []
    expect(item?.error ?? asked.body).toMatchObject({ code: 'invalid_input', status: 400 })
    const detail: string = item?.error.message ?? asked.body.detail
    expect(detail).not.toContain('Uint8Array')
    return detail
  }
  const wrong = 'payload is an object; it must be bytes (base64 over HTTP). To send JSON, use input'
  expect(await detailOf('/v1/executions', { kind: 'a', payload: { a: 1 } })).toBe(wrong)
  expect(await detailOf('/v1/executions/create', { items: [{ kind: 'a', payload: { a: 1 } }] })).toBe(wrong)
  const text = await detailOf('/v1/executions', { kind: 'a', payload: 'hello' })
  expect(text).toBe('payload is not base64; send bytes in base64, padded, or JSON as input')
  const signal = await detailOf(at(executionId, '/signals'), { name: 'n', payload: { a: 1 } })
  expect(signal).toBe('payload is an object; it must be bytes (base64 over HTTP). To send JSON, use value')
  const both = await detailOf('/v1/executions', { kind: 'a', payload: base64(1), input: 1 })
  expect(both).toBe('input and payload are both given; give one of them')
  const encoded = await detailOf('/v1/executions', { kind: 'a', payloadEncoding: 'sealed', input: 1 })
  expect(encoded).toBe('payloadEncoding is given with input, which is always JSON; leave it out')
})

test('the root describes the server, as a page for browsers and as JSON, without a key', async () => {
  const { app, ask } = await appSetup({ authenticate: async () => null })
  expect((await ask('GET', '/v1/executions')).status).toBe(401)
  const { status, body, headers } = await ask('GET', '/')
  expect(status).toBe(200)
  expect(headers.get('vary')).toBe('accept')
  expect(body).toEqual({
    name: 'FlowFabric',
    about: expect.stringContaining('durable executions'),
    docs: expect.stringContaining('README'),
    openapi: '/openapi.json',
    health: '/livez',
    readiness: '/readyz',
    executions: '/v1/executions',
  })
  const browser = { accept: 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8' }
  const page = await app.fetch(new Request('http://localhost/', { headers: browser }))
  expect(page.headers.get('content-type')).toContain('text/html')
  expect(await page.text()).toContain('href="/openapi.json"')

  const mounted = await appSetup({ basePath: '/api/flowfabric' })
  expect((await mounted.ask('GET', '/api/flowfabric')).body).toMatchObject({ openapi: '/api/flowfabric/openapi.json' })
})
