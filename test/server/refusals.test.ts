import { expect, test } from 'vitest'
import { operations } from '../../src/api/routes.ts'
import { appSetup } from './app-setup.ts'

test('HTTP-13 a body that is no JSON is a 400 that names the position', async () => {
  const { ask } = await appSetup()
  const broken = await ask('POST', '/v1/executions', '{"kind": ')
  expect(broken).toMatchObject({ status: 400, body: { code: 'invalid_input', details: { field: 'body' } } })
  expect(broken.body.detail).toContain('not JSON')
  for (const body of ['[]', 'null', '7', '"text"']) {
    expect(await ask('POST', '/v1/executions', body)).toMatchObject({ status: 400, body: { code: 'invalid_input' } })
  }
})

test('HTTP-05 an unknown field is refused, and the error names the one that was probably meant', async () => {
  const { ask } = await appSetup()
  const { status, body } = await ask('POST', '/v1/executions', { kind: 'a', priorty: 3 })
  expect(status).toBe(400)
  expect(body).toMatchObject({
    type: 'urn:flowfabric:error:invalid_input',
    code: 'invalid_input',
    retryable: false,
    details: { unknown: 'priorty', meant: 'priority' },
  })
  expect((await ask('GET', '/v1/executions?stat=waiting')).body.details).toMatchObject({ unknown: 'stat' })
})

test('HTTP-14 a body over its limit is a 413, announced or not', async () => {
  const { app, ask } = await appSetup()
  const path = '/v1/executions/claim'
  const announced = await ask('POST', path, { workerId: 'w'.repeat(70_000) })
  expect(announced).toMatchObject({ status: 413, body: { code: 'payload_too_large', details: { limit: 65_536 } } })
  const endless = new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(8192).fill(32)) })
  const init = { method: 'POST', body: endless, headers: { 'content-type': 'application/json' }, duplex: 'half' }
  const chunked = await app.fetch(new Request(`http://localhost${path}`, init as RequestInit))
  expect(chunked.status).toBe(413)
  expect(await chunked.json()).toMatchObject({ code: 'payload_too_large' })
})

test('another content type is a 415', async () => {
  const { ask } = await appSetup()
  const asked = await ask('POST', '/v1/executions', '{"kind":"a"}', { 'content-type': 'text/plain' })
  expect(asked).toMatchObject({ status: 415, body: { code: 'unsupported_media_type' } })
})

test('HTTP-04 an unknown path is a 404, an unknown method a 405 that lists the known ones', async () => {
  const { ask } = await appSetup()
  expect(await ask('GET', '/v1/nothing')).toMatchObject({ status: 404, body: { code: 'route_not_found' } })
  const wrong = await ask('DELETE', '/v1/executions')
  expect(wrong).toMatchObject({ status: 405, body: { code: 'method_not_allowed' } })
  expect(wrong.headers.get('allow')).toBe('GET, HEAD, POST')
  expect(wrong.body.detail).toBe('/v1/executions takes GET, HEAD, POST, and not DELETE; ask by one of those')
  const unknown = encodeURIComponent('{fp:7}:0190a000-0000-7000-8000-000000000000')
  for (const path of ['', '/explain', '/result']) {
    const asked = await ask('GET', `/v1/executions/${unknown}${path}`)
    expect(asked).toMatchObject({ status: 404, body: { code: 'execution_not_found' } })
  }
  expect((await ask('GET', '/v1/executions/seven')).body.code).toBe('invalid_id')
})

test('HTTP-15 ids in path and body must agree', async () => {
  const { ask } = await appSetup()
  const id = (digit: number): string => `{fp:7}:0190a000-0000-7000-8000-00000000000${digit}`
  const path = `/v1/executions/${encodeURIComponent(id(1))}/cancel`
  expect((await ask('POST', path, { executionId: id(2) })).body).toMatchObject({
    status: 400,
    details: { field: 'executionId' },
  })
  expect((await ask('POST', path, { executionId: id(1) })).body.code).toBe('execution_not_found')
})

test('every answer has a request id: that of the request, if it can be printed safely', async () => {
  const { ask } = await appSetup()
  const given = await ask('GET', '/v1/time', undefined, { 'x-request-id': 'abc-1' })
  expect(given.headers.get('x-request-id')).toBe('abc-1')
  const odd = await ask('GET', '/v1/nothing', undefined, { 'x-request-id': 'a b\tc' })
  expect(odd.headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/)
  expect(odd.body.requestId).toBe(odd.headers.get('x-request-id'))
})

test('an answer for a missing object names its path only, and never a value of the query', async () => {
  const { ask } = await appSetup()
  const executionId = '{fp:7}:0190a000-0000-7000-8000-000000000000'
  const { status, body } = await ask('GET', `/v1/executions/${encodeURIComponent(executionId)}/result?wait=20000`)
  expect({ status, code: body.code, details: body.details }).toEqual({
    status: 404,
    code: 'execution_not_found',
    details: { executionId },
  })
  expect(body.detail).toContain(`getExecutionResult found nothing for executionId "${executionId}"; check the id`)
  expect(body.detail).not.toContain('20000')
  const [flowId, edgeId] = [executionId, '0190a000-0000-7000-8000-000000000000']
  const edge = await ask('GET', `/v1/flows/${encodeURIComponent(flowId)}/edges/${edgeId}`)
  expect(edge).toMatchObject({ status: 404, body: { code: 'edge_not_found' } })
  expect(edge.body.details).toEqual({ flowId, edgeId })
})

test('no part of an answer repeats an unknown key', async () => {
  const { app, engine } = await appSetup()
  const { key, keyId } = await engine.apiKeys.create({ name: 'gone', scopes: ['read'] })
  await engine.apiKeys.revoke({ keyId })
  const asked = await app.fetch(
    new Request('http://localhost/v1/api-keys/authenticate', {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ key }),
    }),
  )
  const text = await asked.text()
  expect(JSON.parse(text)).toMatchObject({ status: 404, code: 'api_key_not_found', details: {} })
  expect(JSON.parse(text).detail).toContain('authenticateApiKey found nothing')
  const whole = JSON.stringify([...asked.headers]) + text
  for (const part of key.split(/_(?=[\w-]{43}$)/)) expect(whole).not.toContain(part)
})

test.each(['constructor', 'toString', '__proto__', 'hasOwnProperty', '__proto__[a]', 'constructor[name]'])(
  'a query field named like a built-in object property, %s, is an unknown field',
  async (name) => {
    const { ask } = await appSetup()
    for (const [method, path] of [
      ['GET', '/v1/executions'],
      ['GET', '/v1/lanes'],
      ['DELETE', '/v1/schedules/s'],
    ] as const) {
      const asked = await ask(method, `${path}?${encodeURIComponent(name)}=1`)
      expect(asked).toMatchObject({ status: 400, body: { code: 'invalid_input' } })
    }
  },
)

test('a word of the API is never read as an id: other methods on it are a 405 that lists the permitted ones', async () => {
  const { ask } = await appSetup()
  const words = operations.map(({ route }) => route.path).filter((path) => !path.includes('{'))
  for (const path of new Set(words)) {
    const methods = operations.filter(({ route }) => route.path === path).map(({ route }) => route.method as string)
    const allow = [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].toSorted().join(', ')
    for (const method of ['GET', 'PUT', 'OPTIONS'].filter((other) => !methods.includes(other))) {
      const asked = await ask(method, path)
      expect([method, path, asked.status, asked.headers.get('allow')]).toEqual([method, path, 405, allow])
    }
  }
  expect((await ask('OPTIONS', '/v1/executions/cancel')).headers.get('allow')).toBe('POST')
})
