import { connect as connectSocket } from 'node:net'
import { expect, inject, onTestFinished, test } from 'vitest'
import { openEngine } from '../../src/engine/engine.ts'
import type { Engine } from '../../src/engine/contract.ts'
import type { ClaimResult } from '../../src/engine/execution/claimer.ts'
import { EngineError } from '../../src/model/errors.ts'
import { claimOrGiveBack } from '../../src/server/claim.ts'
import { serve, type RunningServer, type ServedFlowFabric, type ServeOptions } from '../../src/server/serve.ts'
import { refusal } from '../support/refusal.ts'
import { setup, type Fixture } from '../support/setup.ts'
import { patience } from '../support/patience.ts'
import * as stored from '../support/stored.ts'

interface Serving extends Fixture {
  readonly server: RunningServer
  readonly ff: ServedFlowFabric
  /** Resolves when a claim waits, with the answer of that claim. */
  readonly claimed: Promise<{ readonly answer: Promise<ClaimResult> }>
}

async function serving(options: Partial<ServeOptions> = {}): Promise<Serving> {
  const fixture = await setup()
  const opened = openEngine(fixture.sql)
  const claims = watchedClaims(opened.engine)
  const ff = {
    engine: claims.engine,
    supervise: (options = {}) => {
      const supervisor = opened.supervisor(options)
      supervisor.start()
      return supervisor
    },
    close: () => opened.close(),
  }
  const server = await serve({ ff, port: 0, ...options })
  onTestFinished(async () => {
    await server.stop(1000)
    await opened.dispatched()
  })
  return { ...fixture, server, ff, claimed: claims.claimed }
}

function watchedClaims(engine: Engine): { engine: Engine; claimed: Serving['claimed'] } {
  let tell: (claim: { answer: Promise<ClaimResult> }) => void = () => {}
  const claimed = new Promise<{ answer: Promise<ClaimResult> }>((resolve) => (tell = resolve))
  const watch = (bound: Engine): Engine => ({
    ...bound,
    as: (caller) => watch(bound.as(caller)),
    executions: {
      ...bound.executions,
      claim: (request) => {
        const answer = bound.executions.claim(request)
        tell({ answer })
        return answer
      },
    },
  })
  return { engine: watch(engine), claimed }
}

function claimThatWaits(server: RunningServer, signal?: AbortSignal): Promise<Response> {
  return fetch(`${server.url}/v1/executions/claim`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'], wait: '50s' }),
    ...(signal !== undefined && { signal }),
  })
}

test('a server listens on loopback, works without a key until one exists, and stops', async () => {
  const { server } = await serving()
  expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
  expect(server.asksForKeys).toBe(false)
  const created = await fetch(`${server.url}/v1/executions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ kind: 'a' }),
  })
  expect(created.status).toBe(201)
  expect(await server.stop()).toEqual({ cut: 0 })
  await expect(fetch(`${server.url}/livez`)).rejects.toThrow()
})

test('HTTP-02 beyond loopback a server listens only when it can require a key', async () => {
  const { engine, ff } = await serving()
  const open = { ff, host: '0.0.0.0', port: 0, duties: false } as const
  await refusal('forbidden', serve(open))
  await engine.apiKeys.create({ name: 'a', scopes: ['admin'] })
  await refusal('forbidden', serve({ ...open, keys: false }))
  const server = await serve(open)
  onTestFinished(async () => void (await server.stop()))
  expect(server.asksForKeys).toBe(true)
  expect((await fetch(`http://127.0.0.1:${server.port}/v1/lanes`)).status).toBe(401)
})

test('a server that cannot start its duties does not serve: nothing listens when serve has thrown', async () => {
  const { ff } = await serving({ duties: false })
  const free = await serve({ ff, port: 0, duties: false })
  await free.stop()
  await refusal('invalid_input', serve({ ff, port: free.port, duties: { intervals: { none: 1 } } }))
  await expect(fetch(`${free.url}/livez`)).rejects.toThrow('fetch failed')
})

test('on loopback a server answers to its own names only, and accepts no request from other pages', async () => {
  const { server } = await serving()
  const ask = (headers: Record<string, string>) => rawRequest(server.port, headers)
  expect(await ask({ host: `127.0.0.1:${server.port}` })).toContain('HTTP/1.1 200')
  expect(await ask({ host: 'evil.example.com' })).toContain('HTTP/1.1 403')
  const foreign = { host: `localhost:${server.port}`, origin: 'https://evil.example.com' }
  expect(await ask(foreign)).toContain('HTTP/1.1 403')
  expect(await ask({ ...foreign, origin: `http://localhost:${server.port}` })).toContain('HTTP/1.1 200')
  expect(await ask({ host: 'evil.example.com' })).toContain(
    "answers to localhost, 127.0.0.1, [::1], and was called 'evil",
  )
  expect(await ask(foreign)).toContain('name that in the option cors')
})

test('on loopback a server accepts requests from the listed pages, and from no others', async () => {
  const { server } = await serving({ cors: ['https://console.example.com'] })
  const from = (origin: string) => rawRequest(server.port, { host: `localhost:${server.port}`, origin })
  expect(await from('https://console.example.com')).toContain('HTTP/1.1 200')
  expect(await from('https://evil.example.com')).toContain('HTTP/1.1 403')
})

test('FAULT-04 a stop ends streams and waiting claims, and answers both', async () => {
  const { server, claimed } = await serving()
  const stream = await fetch(`${server.url}/v1/events`)
  const claim = claimThatWaits(server)
  await claimed
  const stopped = server.stop()
  expect(await (await claim).json()).toEqual({ claims: [], more: false })
  expect(await stream.text()).toContain('event: end\ndata: {"reason":"server_stopping"}')
  expect(await stopped).toEqual({ cut: 0 })
})

test('a worker that hangs up while its claim waits claims nothing more', async () => {
  const { server, engine, claimed } = await serving()
  const gone = new AbortController()
  const claim = claimThatWaits(server, gone.signal)
  const { answer } = await claimed
  gone.abort()
  await expect(claim).rejects.toThrow()
  expect((await answer).claims).toEqual([])
  const { executionId } = await engine.executions.create({ kind: 'a' })
  expect(await engine.executions.describe(executionId)).toMatchObject({ publicState: 'waiting' })
})

test('executions that were claimed for a worker that has hung up are given back at once', async () => {
  const { engine } = await setup()
  const { executionId } = await engine.executions.create({ kind: 'a' })
  const request = { workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'] }
  expect((await claimOrGiveBack(engine, request, AbortSignal.abort())).claims).toEqual([])
  expect(await engine.executions.describe(executionId)).toMatchObject({ publicState: 'waiting', lease: null })
  expect((await claimOrGiveBack(engine, request, new AbortController().signal)).claims).toHaveLength(1)
})

test('bytes that are no HTTP request are answered with problem+json too', async () => {
  const { server } = await serving()
  const nonsense = await raw(server.port, 'NONSENSE\r\n\r\n')
  expect(nonsense).toContain('HTTP/1.1 400')
  expect(nonsense).toContain('application/problem+json')
  const endless = await raw(server.port, `GET / HTTP/1.1\r\nhost: localhost\r\nx: ${'y'.repeat(40_000)}\r\n\r\n`)
  expect(endless).toContain('HTTP/1.1 431')
  expect(endless).toMatch(/the headers are larger than \d+ bytes; send fewer or shorter ones/)
  expect(nonsense).toContain('what came is no HTTP request; send HTTP/1.1')
})

test('serve without an engine or URL, with both, or with an unknown option is refused', async () => {
  await expect(serve({})).rejects.toThrow('serve needs ff or url')
  const { ff } = await serving()
  await expect(serve({ ff, url: 'memory:' })).rejects.toThrow('serve was given both ff and url; give one of them')
  await expect(serve({ prot: 1 } as ServeOptions)).rejects.toThrow(EngineError)
})

function rawRequest(port: number, headers: Record<string, string>): Promise<string> {
  const lines = Object.entries({ ...headers, connection: 'close' }).map(([name, value]) => `${name}: ${value}`)
  return raw(port, `GET /livez HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`)
}

function raw(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let answer = ''
    const socket = connectSocket(port, '127.0.0.1', () => socket.write(text))
    socket.on('data', (data) => (answer += data.toString()))
    socket.on('close', () => resolve(answer))
    socket.on('error', reject)
  })
}

test("metrics report how often the server's duties ran, and how long they took", async () => {
  const { server } = await serving()
  const text = async (): Promise<string> => (await fetch(`${server.url}/metrics`)).text()
  await expect.poll(text).toMatch(/ff_scanner_cycle_total\{scanner="lease-expiry"\} [1-9]/)
  expect(await text()).toMatch(/ff_scanner_cycle_duration_seconds_count\{scanner="lease-expiry"\} [1-9]/)
})

test.runIf(inject('backend') === 'postgres')(
  'HTTP-32 a server does not start on a database that newer code has changed, and the error names what it needs',
  async () => {
    const { sql, url } = await setup()
    const needs = (version: string) => stored.migrations.change(sql, { oldest_code: version })
    await needs('99.0.0')
    const error = await refusal('code_too_old', serve({ url, port: 0 }))
    expect(error.message).toContain('needs flowfabric 99.0.0 or newer')
    await needs('0.0.0')
    const server = await serve({ url, port: 0 })
    expect((await fetch(`${server.url}/readyz`)).status).toBe(200)
    await server.stop()
  },
)

test('FAULT-05 the next server cancels what a stopped server had left to cancel', async () => {
  const { server, ff, engine } = await serving({ duties: false })
  const members = Array.from({ length: 250 }, (_, i) => ({ name: `m${i}`, kind: 'a' }))
  const { flowId } = await engine.flows.submitGraph({ kind: 'f', members })
  const cancelled = await fetch(`${server.url}/v1/flows/${encodeURIComponent(flowId)}/cancel`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{}',
  })
  expect(cancelled.status).toBe(200)
  await server.stop()
  const next = await serve({ ff, port: 0 })
  onTestFinished(async () => void (await next.stop()))
  expect(await engine.flows.wait(flowId, { timeout: patience(60_000) })).toMatchObject({ state: 'cancelled' })
  expect((await engine.executions.countByState({})).cancelled).toMatchObject({ count: 250 })
})
