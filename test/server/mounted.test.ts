// The app inside other servers: at the root, below a path that they strip, and below one that they keep.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { expect, onTestFinished, test } from 'vitest'
import { openClient } from '../../src/client/open.ts'
import { createApp, type AppOptions } from '../../src/server/app.ts'
import { refusal } from '../support/refusal.ts'
import { setup } from '../support/setup.ts'
import { linkTo, waitingFor } from './suspended.ts'

async function listen(handle: (request: IncomingMessage, answer: ServerResponse) => unknown): Promise<string> {
  const server = createServer(handle)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(async () => {
    const closed = once(server, 'close')
    server.close()
    server.closeAllConnections()
    await closed
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function mounted(options: AppOptions = {}) {
  const fixture = await setup()
  const app = createApp(fixture.engine, { authenticate: null, ...options })
  onTestFinished(() => app.stop())
  return { ...fixture, app }
}

test('below a path that the server strips, like Express, a client works by the URL with that path', async () => {
  const { app } = await mounted()
  const handle = getRequestListener(app.fetch)
  const url = await listen((request, answer) => {
    if (!request.url?.startsWith('/flows/')) return answer.writeHead(404).end('of another app')
    request.url = request.url.slice('/flows'.length)
    return handle(request, answer)
  })
  const client = await openClient(`${url}/flows`)
  onTestFinished(() => client.close(1000))
  const { executionId } = await client.engine.executions.create({ kind: 'a' })
  expect(await client.engine.executions.describe(executionId)).toMatchObject({ kind: 'a' })
})

test('below a path that the server keeps, like Next, the app needs the path as an option', async () => {
  const { app, engine } = await mounted({ basePath: '/api/flowfabric' })
  const url = await listen(getRequestListener(app.fetch))
  const client = await openClient(`${url}/api/flowfabric`)
  onTestFinished(() => client.close(1000))
  const { executionId } = await client.engine.executions.create({ kind: 'a', lane: 'other' })
  expect(await client.engine.executions.describe(executionId)).toMatchObject({ kind: 'a' })
  const status = async (path: string, method = 'GET') => (await fetch(url + path, { method })).status
  expect(await status('/api/flowfabric/livez')).toBe(200)
  expect(await status('/livez')).toBe(404)
  expect(await status('/api/flowfabric/v1/nothing')).toBe(404)
  expect(await status('/api/flowfabric/v1/executions', 'DELETE')).toBe(405)
  const waiting = await waitingFor(engine, 'go live')
  const { href } = await linkTo(engine, waiting, { base: `${url}/api/flowfabric/approve` })
  const [, action = ''] = /<form method="post" action="([^"]*)"/.exec(await (await fetch(href)).text()) ?? []
  expect(new URL(action, href).href).toBe(`${url}/api/flowfabric/approve`)
})

test('an invalid base path is refused', async () => {
  const { engine } = await setup()
  for (const basePath of ['api', '/api/', '/a b', 7 as unknown as string]) {
    await refusal('invalid_input', (async () => createApp(engine, { basePath }))())
  }
})
