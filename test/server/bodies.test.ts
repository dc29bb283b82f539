// The cost of request bodies: bytes, items and depth are counted before anything is parsed, and bodies that do not end have a
// budget.
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test, vi } from 'vitest'
import { operations } from '../../src/api/routes.ts'
import { limits } from '../../src/model/limits.ts'
import { BodyBudgets } from '../../src/server/body-budget.ts'
import { openIdentity, strangerIdentity } from '../../src/server/identity.ts'
import { serve } from '../../src/server/serve.ts'
import { refusal } from '../support/refusal.ts'
import { setup } from '../support/setup.ts'
import { appSetup, base64 } from './app-setup.ts'

const bomb = (items: number): string => `{"items":[${'{},'.repeat(items - 1)}{}]}`

/** How often a text was parsed. */
function parses(): (text: string) => number {
  const parse = vi.spyOn(JSON, 'parse')
  onTestFinished(() => parse.mockRestore())
  return (text) => parse.mock.calls.filter(([parsed]) => parsed === text).length
}

test('a set of millions of empty items is refused without being parsed', async () => {
  const { app } = await appSetup()
  const body = bomb(5_500_000)
  expect(body.length).toBeLessThan(limits.batchBodyBytes)
  const parsed = parses()
  for (const { route } of operations.filter(({ verb }) => verb.endsWith('Many'))) {
    const init = { method: 'POST', body, headers: { 'content-type': 'application/json' } }
    const answer = await app.fetch(new Request(`http://localhost${route.path}`, init))
    const isPublic = route.scopes.length === 0
    expect([route.operationId, answer.status]).toEqual([route.operationId, isPublic ? 413 : 400])
    expect(await answer.text()).toContain(isPublic ? 'payload_too_large' : 'too_many_items')
  }
  expect(parsed(body)).toBe(0)
})

test('500 items are accepted, and 501 are refused as a whole', async () => {
  const { ask, engine } = await appSetup()
  const items = Array.from({ length: 500 }, () => ({ kind: 'k' }))
  expect((await ask('POST', '/v1/executions/create', { items })).status).toBe(200)
  const refused = await ask('POST', '/v1/executions/create', { items: [...items, { kind: 'k' }] })
  expect(refused).toMatchObject({ status: 400, body: { code: 'too_many_items', details: { limit: 500 } } })
  expect((await engine.executions.countByState()).waiting.count).toBe(500)
})

test('a route that needs no key accepts no more than one signal and 64 KiB', () => {
  const open = operations.filter(({ route }) => route.scopes.length === 0 && route.body !== 'none')
  expect(open.map(({ route }) => route.operationId).toSorted()).toEqual([
    'deliverSignal',
    'deliverSignals',
    'describeLink',
    'redeemLink',
  ])
  for (const { route } of open) expect(['control', 'signal']).toContain(route.body)
  expect(limits.signalBodyBytes - Math.ceil(limits.signalBytes / 3) * 4).toBeLessThanOrEqual(65_540)
})

test('the largest signal fits, in base64 and beside its other fields', async () => {
  const { ask } = await appSetup()
  const payload = Buffer.alloc(limits.signalBytes, 7).toString('base64')
  const token = 'x'.repeat(2000)
  const item = { waitpointId: '{fp:7}:0190a000-0000-7000-8000-000000000000', token, name: 'n', payload }
  const asked = await ask('POST', '/v1/signals/deliver', { items: [item] })
  expect(asked).toMatchObject({ status: 200, body: { items: [{ kind: 'refused', error: { code: 'invalid_token' } }] } })
})

test.each([
  ['a create', '/v1/executions', (deep: string) => `{"kind":"k","tags":${deep}}`],
  ['a graph of flows', '/v1/flows/submit-graph', (deep: string) => `{"kind":"k","members":${deep}}`],
  ['a set', '/v1/executions/create', (deep: string) => `{"items":[{"kind":"k","policy":${deep}}]}`],
  ['a condition', '/v1/executions/suspend', (deep: string) => `{"items":[{"condition":${deep}}]}`],
])('%s that is nested thousands of levels deep is refused before it is parsed', async (_, path, bodyWith) => {
  const { ask } = await appSetup()
  const parsed = parses()
  for (const levels of [101, 3000, 50_000]) {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const body = bodyWith(`${open.repeat(levels)}0${close.repeat(levels)}`)
      const asked = await ask('POST', path, body, { 'x-request-id': 'once' })
      expect([asked.status, asked.body.code].join(' ')).toMatch(/^(400 invalid_input|413 payload_too_large)$/)
      expect(parsed(body)).toBe(0)
    }
  }
})

test('brackets inside texts do not count as depth, and commas inside texts not as items', async () => {
  const { ask } = await appSetup()
  const creator = '[{,"\\'.repeat(40)
  const items = Array.from({ length: 500 }, () => ({ kind: 'k', creator, payload: base64({ a: '['.repeat(200) }) }))
  const { status, body } = await ask('POST', '/v1/executions/create', { items })
  expect(status).toBe(200)
  expect(body.items[499]).toMatchObject({ kind: 'created' })
})

test('bytes of bodies in progress are bounded for each caller and for all, and are released afterwards', async () => {
  const budgets = new BodyBudgets()
  const { bodiesPerAddressBytes: each, bodiesOfAddressesBytes: all, bodiesPerKeyBytes } = limits
  const first = budgets.open(strangerIdentity, '203.0.113.1')
  first.add(each)
  const again = budgets.open(strangerIdentity, '203.0.113.1')
  await refusal('concurrency_limited', (async () => again.add(1))())
  for (let number = 1; number < all / each; number++) budgets.open(strangerIdentity, `198.51.100.${number}`).add(each)
  await refusal('concurrency_limited', (async () => budgets.open(strangerIdentity, '192.0.2.1').add(1))())
  // Callers with a key do not share the budget of those without.
  budgets.open(openIdentity, '192.0.2.1').add(bodiesPerKeyBytes)
  first.release()
  first.release()
  again.add(each)
  expect(budgets.usedBytes).toBe(all + bodiesPerKeyBytes)
})

test('bodies that never end use up the budget of their address, and no more memory', async () => {
  const { engine } = await setup()
  await engine.apiKeys.create({ name: 'ops', scopes: ['admin'] })
  const ff = { engine, supervise: () => expect.unreachable(), close: async () => {} }
  const server = await serve({ ff, port: 0, duties: false, keys: true })
  onTestFinished(async () => void (await server.stop(0)))
  const count = Math.floor(limits.bodiesPerAddressBytes / limits.signalBodyBytes)
  const sockets: Socket[] = []
  onTestFinished(() => sockets.forEach((socket) => socket.destroy()))
  for (let number = 0; number < count; number++) sockets.push(await unfinished(server.port))
  const send = () =>
    fetch(`${server.url}/v1/signals/deliver`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ items: [], padding: 'x'.repeat(limits.signalBodyBytes - 1000) }),
    })
  await expect.poll(async () => (await send()).status).toBe(429)
  const refused = await send()
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(await refused.json()).toMatchObject({ code: 'concurrency_limited', retryable: true })
  for (const socket of sockets) socket.destroy()
  // The body is read again, and refused for its unknown field.
  await expect.poll(async () => (await send()).status).toBe(400)
})

test.each([`content-length: ${limits.signalBodyBytes}`, 'transfer-encoding: chunked'])(
  'a client that hangs up while it sends a body is no fault of the server: %s',
  async (length) => {
    const { engine } = await setup()
    const ff = { engine, supervise: () => expect.unreachable(), close: async () => {} }
    const errors: string[] = []
    const logger = { debug: () => {}, info: () => {}, warn: () => {}, error: (line: string) => void errors.push(line) }
    const server = await serve({ ff, port: 0, duties: false, logger, metrics: 'open' })
    onTestFinished(async () => void (await server.stop(0)))
    const socket = await unfinished(server.port, length)
    socket.destroy()
    const refused = /requests_total\{[^}]*path="\/v1\/signals\/deliver"[^}]*status="(\d+)"/
    const metrics = async () => (await fetch(`${server.url}/metrics`)).text()
    await expect.poll(async () => refused.exec(await metrics())?.[1]).toBe('400')
    expect(errors).toEqual([])
  },
)

async function unfinished(port: number, length = `content-length: ${limits.signalBodyBytes}`): Promise<Socket> {
  const socket = connect(port, '127.0.0.1')
  await once(socket, 'connect')
  socket.on('error', () => {})
  const head = ['POST /v1/signals/deliver HTTP/1.1', 'host: 127.0.0.1', 'content-type: application/json', length]
  const begin = length.startsWith('content') ? '{"items":[' : 'a\r\n{"items":[\r\n'
  socket.write(`${head.join('\r\n')}\r\n\r\n${begin}`)
  return socket
}
