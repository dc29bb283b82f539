import { expect, onTestFinished, test } from 'vitest'
import { openEngine } from '../../src/engine/engine.ts'
import { createApp } from '../../src/server/app.ts'
import { setup } from '../support/setup.ts'

test('a server that drains reports it, continues to serve, and keeps no connection for a next request', async () => {
  const { sql } = await setup()
  const opened = openEngine(sql)
  onTestFinished(() => opened.close())
  const app = createApp(opened.engine, { authenticate: null })
  const get = async (path: string): Promise<Response> => app.fetch(new Request(`http://localhost${path}`))
  const before = await get('/readyz')
  expect([before.status, before.headers.get('connection')]).toEqual([200, null])

  app.drain()
  const ready = await get('/readyz')
  expect([ready.status, await ready.json()]).toEqual([503, { status: 'stopping' }])
  expect((await get('/livez')).status).toBe(200)
  const served = await get('/v1/executions')
  expect([served.status, served.headers.get('connection')]).toEqual([200, 'close'])

  app.stop()
  expect((await get('/v1/executions')).status).toBe(503)
})
