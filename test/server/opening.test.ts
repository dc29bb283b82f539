// When a server on loopback accepts requests without a key, and when it stops.
import { connect as connectSocket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { KeyRequirement } from '../../src/server/key-requirement.ts'
import { serve, type RunningServer, type ServeOptions } from '../../src/server/serve.ts'
import { refusal } from '../support/refusal.ts'
import { setup, type Fixture } from '../support/setup.ts'
import { linkTo, waitingFor } from './suspended.ts'
import * as stored from '../support/stored.ts'

async function serving(options: Partial<ServeOptions> = {}): Promise<Fixture & { readonly server: RunningServer }> {
  const fixture = await setup()
  const ff = { engine: fixture.engine, supervise: () => expect.unreachable(), close: async () => {} }
  const server = await serve({ ff, port: 0, duties: false, ...options })
  onTestFinished(async () => void (await server.stop(1000)))
  return { ...fixture, server }
}

async function status(server: RunningServer, headers: Record<string, string> = {}): Promise<number> {
  return (await fetch(`${server.url}/v1/executions`, { headers })).status
}

const admin = { name: 'ops', scopes: ['admin'] } as const

test('a key that this process creates is required at once, and an open server has then no other access', async () => {
  const { server, engine } = await serving()
  expect([server.asksForKeys, await status(server)]).toEqual([false, 200])
  const { key } = await engine.apiKeys.create(admin)
  expect(await status(server)).toBe(401)
  expect(server.asksForKeys).toBe(true)
  expect(await status(server, { authorization: `Bearer ${key}` })).toBe(200)
  const create = await fetch(`${server.url}/v1/api-keys`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'evil', scopes: ['admin'] }),
  })
  expect(create.status).toBe(401)
})

test('the first key may be made over HTTP without one, and the next may not', async () => {
  const { server } = await serving()
  const create = () =>
    fetch(`${server.url}/v1/api-keys`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(admin),
    })
  expect((await create()).status).toBe(201)
  expect((await create()).status).toBe(401)
})

test('a key that another process creates is required within ten seconds, and for good', async () => {
  const { engine, sql } = await setup()
  await engine.apiKeys.create(admin)
  const createElsewhere = await stored.apiKeys.takeAway(sql)
  let now = 0
  const requirement = new KeyRequirement(engine, false, () => now)
  expect(await requirement.check()).toBe(false)
  await createElsewhere()
  now = 9_999
  expect(await requirement.check()).toBe(false)
  now = 10_000
  expect(await Promise.all([requirement.check(), requirement.check()])).toEqual([true, true])
  await stored.apiKeys.remove(sql)
  now = 60_000
  expect(await requirement.check()).toBe(true)
})

test('a check that began before a key was created does not admit a request that arrived after it', async () => {
  const { engine } = await setup()
  const checks: (() => void)[] = []
  const list: typeof engine.apiKeys.list = async (request) => {
    const page = await engine.apiKeys.list(request)
    if (checks.length < 1) await new Promise<void>((resolve) => checks.push(resolve))
    return page
  }
  const requirement = new KeyRequirement({ ...engine, apiKeys: { ...engine.apiKeys, list } }, false)
  const before = requirement.check()
  await expect.poll(() => checks.length).toBe(1)
  await engine.apiKeys.create(admin)
  const after = requirement.check()
  checks[0]!()
  expect(await after).toBe(true)
  await before
})

test('an expired key still means that requests need one', async () => {
  const { engine, clock } = await setup()
  await engine.apiKeys.create({ ...admin, expiresAt: (await engine.serverTime()) + 1000 })
  await clock.advance(2000)
  expect(await new KeyRequirement(engine, false).check()).toBe(true)
})

test('streams and waits without a key end with a reason once a key exists', async () => {
  const { server, engine } = await serving({ heartbeatMs: 20 })
  const stream = await fetch(`${server.url}/v1/events`)
  const claim = fetch(`${server.url}/v1/executions/claim`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'], wait: '1m' }),
  })
  const reader = stream.body!.getReader()
  await reader.read()
  await engine.apiKeys.create(admin)
  let text = ''
  for (let part = await reader.read(); !part.done; part = await reader.read())
    text += Buffer.from(part.value).toString()
  expect(text).toContain('event: end\ndata: {"reason":"unauthenticated"}')
  const refused = await claim
  expect([refused.status, await refused.json()]).toMatchObject([401, { code: 'unauthenticated' }])
})

test('streams without a key stay open on a server that needs none', async () => {
  const { server, engine } = await serving({ heartbeatMs: 20, keys: false })
  const reader = (await fetch(`${server.url}/v1/events`)).body!.getReader()
  await engine.apiKeys.create(admin)
  let text = ''
  while (text.split('\n\n').length < 8) {
    const part = await reader.read()
    text += new TextDecoder().decode(part.value)
  }
  expect(text).not.toContain('event: end')
  await reader.cancel()
})

test('with keys: true a server needs a key although none exists, and with keys: false none although one exists', async () => {
  const { server: closed, engine } = await serving({ keys: true })
  expect([closed.asksForKeys, await status(closed)]).toEqual([true, 401])
  const ff = { engine, supervise: () => expect.unreachable(), close: async () => {} }
  const open = await serve({ ff, port: 0, duties: false, keys: false })
  onTestFinished(async () => void (await open.stop(1000)))
  await engine.apiKeys.create(admin)
  expect([open.asksForKeys, await status(open)]).toEqual([false, 200])
})

test.each([{}, { keys: false }])('a request through a proxy needs a key on an open server %j', async (options) => {
  const { server, engine } = await serving(options)
  const forwarded = { 'x-forwarded-for': '203.0.113.9' }
  expect(await status(server)).toBe(200)
  for (const headers of [
    forwarded,
    { forwarded: 'for=1.2.3.4' },
    { via: '1.1 nginx' },
    { 'x-forwarded-proto': 'https' },
  ]) {
    expect([headers, await status(server, headers as Record<string, string>)]).toEqual([headers, 401])
  }
  const refused = await fetch(`${server.url}/v1/executions`, { headers: forwarded })
  expect(((await refused.json()) as { detail: string }).detail).toContain('came through a proxy (x-forwarded-for)')
  expect(await spokenAs(server.port, 'HTTP/1.0')).toContain('401')
  expect(await spokenAs(server.port, 'HTTP/1.1')).toContain('200')
  expect((await fetch(`${server.url}/livez`, { headers: forwarded })).status).toBe(200)
  const { waitpointId } = await waitingFor(engine, 'door')
  const answered = await fetch(`${server.url}/v1/waitpoints/${encodeURIComponent(waitpointId)}/signals`, {
    method: 'POST',
    headers: { ...forwarded, 'content-type': 'application/json' },
    body: JSON.stringify({ token: 'wrong', name: 'yes' }),
  })
  expect(answered.status).toBe(400)
  const { key } = await engine.apiKeys.create(admin)
  expect(await status(server, { ...forwarded, authorization: `Bearer ${key}` })).toBe(200)
})

test('it accepts the listed host names and that of its public URL, in upper and lower case', async () => {
  const { server } = await serving({ hosts: ['a.example'], publicUrl: 'https://ff.example.com/' })
  for (const host of ['a.example', 'A.Example:80', 'ff.example.com', 'LOCALHOST', `127.0.0.1:${server.port}`]) {
    expect([host, await spokenAs(server.port, 'HTTP/1.1', { host })]).toEqual([host, expect.stringContaining('200')])
  }
  expect(await spokenAs(server.port, 'HTTP/1.1', { host: 'evil.example' })).toContain('403')
})

test('it accepts an answer from the page at the public URL, whatever Host the proxy sends, and refuses one from elsewhere', async () => {
  const { server, engine } = await serving({ keys: true, publicUrl: 'https://ff.example.com' })
  const waiting = await waitingFor(engine, 'door')
  const { searchParams } = await linkTo(engine, waiting, { base: 'https://ff.example.com/approve' })
  const link = searchParams.get('link')!
  const answer = (origin: string) =>
    fetch(`${server.url}/approve`, {
      method: 'POST',
      headers: { origin, 'x-forwarded-for': '203.0.113.9', 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ link }),
    })
  expect((await answer('https://evil.example')).status).toBe(403)
  expect((await answer('http://ff.example.com')).status).toBe(403)
  const taken = await answer('https://ff.example.com')
  expect([taken.status, await taken.text()]).toEqual([200, expect.stringContaining('Thank you')])
})

test('a link without a base leads to the public URL', async () => {
  const { server, engine } = await serving({ publicUrl: 'https://ff.example.com/flows/' })
  const { waitpointId } = await waitingFor(engine, 'door')
  const asked = await fetch(`${server.url}/v1/waitpoints/${encodeURIComponent(waitpointId)}/link`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ action: 'approved', expiresIn: '1h' }),
  })
  expect(((await asked.json()) as { url: string }).url).toMatch(/^https:\/\/ff\.example\.com\/flows\/approve\?link=/)
  const missing = engine.waitpoints.link({ waitpointId, action: 'approved', expiresIn: '1h' })
  expect((await refusal('invalid_input', missing)).message).toContain('the link needs base')
})

test.each(['ff.example.com', 'ftp://a', 'https://u@a', 'https://a/?b', 'https://a/#b', 7])(
  'the public URL %j is refused',
  async (publicUrl) => {
    await refusal('invalid_input', serving({ publicUrl: publicUrl as string }))
  },
)

test('clients behind a trusted proxy have limits of their own', async () => {
  const { server } = await serving({ keys: true, trustProxy: ['127.0.0.1'], rateLimit: { perAddress: 2 } })
  const as = (client: string) => status(server, { 'x-forwarded-for': client })
  const flood = await Promise.all(Array.from({ length: 20 }, () => as('203.0.113.9')))
  expect(flood).toContain(429)
  expect(await as('198.51.100.7')).toBe(401)
})

function spokenAs(port: number, version: string, headers: Record<string, string> = {}): Promise<string> {
  const lines = Object.entries({ host: `127.0.0.1:${port}`, connection: 'close', ...headers })
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connectSocket(port, '127.0.0.1', () => socket.write(`GET /v1/executions ${version}\r\n${head}\r\n`))
    socket.on('data', (data) => (answer += data.toString()))
    socket.on('close', () => resolve(answer.split('\r\n')[0]!))
    socket.on('error', reject)
  })
}
