// Answers that do not come from the server: of proxies, other servers, other versions, or none.
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/connect/connect.ts'
import { openIdentity } from '../../src/server/identity.ts'
import { refusal } from '../support/refusal.ts'
import { badGateway, front } from './front.ts'

async function nobodysPort(): Promise<number> {
  const server = createTcpServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

test('an error page of a proxy is reported with its status, and never taken for an answer', async () => {
  const { engine, next } = await front({ patienceMs: 0 })
  next.push(badGateway)
  const error = await refusal('server_unreachable', engine.serverTime())
  expect(error.message).toContain('502 with text/html: "502 Bad Gateway 502 Bad Gateway nginx"')
  expect(error.details).toEqual({ status: 502, contentType: 'text/html' })
})

test('connect reports that no server listens', async () => {
  const port = await nobodysPort()
  const error = await refusal('server_unreachable', connect(`http://127.0.0.1:${port}`, { retryFor: 0 }))
  expect(error.message).toMatch(
    new RegExp(
      `^cannot reach the server at http://127\\.0\\.0\\.1:${port}: .*ECONNREFUSED.*; check the URL, and that the server is running$`,
    ),
  )
})

test('connect refuses a server that is not FlowFabric, and quotes its answer', async () => {
  const server = createServer((_, answer) =>
    answer.writeHead(404, { 'content-type': 'text/html' }).end('<b>Nothing here</b>'),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  const error = await refusal('invalid_url', connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`))
  expect(error.message).toMatch(/404 .*Nothing here.*no FlowFabric server/)
})

test.each([
  ['http://user:secret@localhost:1', /as the option token/],
  ['http://localhost:1?schema=a', /nothing after its path/],
  ['http://', /http:\/\/host:port/],
])('a URL that no server has is refused: %s', async (url, message) => {
  const error = await refusal('invalid_url', connect(url))
  expect(error.message).toMatch(message)
  expect(error.message).not.toContain('secret')
})

test('connect reports a wrong key, and never shows it', async () => {
  const authenticate = async (key: string) => (key === 'right' ? openIdentity : null)
  const { url } = await front({ token: 'right' }, { authenticate })
  const error = await refusal('unauthenticated', connect(url, { token: 'wrong-key' }))
  expect(JSON.stringify([error, error.message])).not.toContain('wrong-key')
  await refusal('unauthenticated', connect(url))
  await refusal('invalid_input', connect(url, { token: 'two words' }))
  const ff = await connect(url, { token: 'right' })
  expect(await ff.engine.serverTime()).toBeGreaterThan(0)
  await ff.close()
})

test('a server of another version: an operation that it does not know, and an answer that the client does not know', async () => {
  const { engine, next } = await front()
  const problem = (code: string, status: number) => async () =>
    Response.json(
      { code, detail: `says ${code}`, details: { a: 1 }, status },
      { status, headers: { 'content-type': 'application/problem+json' } },
    )
  next.push(problem('route_not_found', 404))
  const older = await refusal('unsupported', engine.lanes.list())
  expect(older.message).toContain('listLanes')
  next.push(problem('moon_in_the_way', 409))
  const later = await refusal('internal_error', engine.lanes.list())
  expect(later).toMatchObject({ message: 'says moon_in_the_way', details: { a: 1, code: 'moon_in_the_way' } })
  next.push(async () => Response.json({ lanes: [], nextCursor: null, news: 7 }))
  expect(await engine.lanes.list()).toMatchObject({ lanes: [] })
})

test.each([
  ['no JSON', '{"serverTime": 1', /no JSON/],
  ['no object', '[1]', /no object/],
  ['without its field', '{"time":1}', /no serverTime/],
])('an answer that is damaged is an error that quotes it: %s', async (_, text, message) => {
  const { engine, next } = await front()
  next.push(async () => new Response(text, { headers: { 'content-type': 'application/json' } }))
  const error = await refusal('internal_error', engine.serverTime())
  expect(error.message).toMatch(message)
  expect(error.message).toContain(JSON.stringify(text))
})

test('an answer with fewer items than were sent refuses all of them', async () => {
  const { engine, next } = await front()
  next.push(async () => Response.json({ items: [] }))
  await refusal(
    'internal_error',
    engine.executions.cancel({ executionId: '{fp:1}:0190a0b0-0000-7000-8000-000000000001' }),
  )
})

test('a request whose answer breaks off is sent again', async () => {
  const { engine, next, asked } = await front()
  next.push(async () => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        controller.enqueue(new TextEncoder().encode('{"serverTime":'))
        setTimeout(() => controller.error(new Error('broken off')), 10)
      },
    })
    return new Response(body, { headers: { 'content-type': 'application/json' } })
  })
  expect(await engine.serverTime()).toBeGreaterThan(0)
  expect(asked).toHaveLength(2)
})

test('a server that does not answer before the timeout is unreachable; a waiting call has its wait in addition', async () => {
  const { engine, next } = await front({ timeoutMs: 100, patienceMs: 0 })
  const never = () => new Promise<Response>(() => {})
  next.push(never)
  const error = await refusal('server_unreachable', engine.serverTime())
  expect(error.message).toContain('no answer within 100 ms')
  const worker = { workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'] }
  expect(await engine.executions.claim({ ...worker, wait: 300 })).toEqual({ claims: [], more: false })
})

test('a name that is invalid in a path, and a value that JSON cannot hold, are refused before they are sent', async () => {
  const { engine, asked } = await front()
  await refusal('invalid_input', engine.schedules.describe({ scheduleId: '..' }))
  await refusal('invalid_input', engine.schedules.describe({ scheduleId: '\ud800' }))
  await refusal('invalid_input', engine.executions.create({ kind: 'a', priority: 5n as never }))
  expect(asked).toEqual([])
})
