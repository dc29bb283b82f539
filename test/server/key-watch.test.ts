import { expect, onTestFinished, test } from 'vitest'
import type { Engine } from '../../src/engine/contract.ts'
import type { Scope } from '../../src/model/api-key.ts'
import { createApp, type AppOptions } from '../../src/server/app.ts'
import type { Identity } from '../../src/server/identity.ts'
import { setup } from '../support/setup.ts'
import { asking } from './app-setup.ts'
import { listen } from './event-stream.ts'

async function keyed(options: (engine: Engine) => AppOptions = () => ({})) {
  const { engine } = await setup()
  let [subscribed, waiting] = [0, 0]
  const counting = (one: Engine): Engine => ({
    ...one,
    as: (caller) => counting(one.as(caller)),
    executions: {
      ...one.executions,
      claim: (request) => {
        waiting += 1
        return one.executions.claim(request)
      },
      result: (executionId, request) => {
        waiting += 1
        return one.executions.result(executionId, request)
      },
    },
    events: {
      ...one.events,
      subscribe: (request) => {
        subscribed += 1
        return one.events.subscribe(request)
      },
    },
  })
  const app = createApp(counting(engine), options(engine))
  onTestFinished(() => app.stop())
  const keyOf = async (...scopes: Scope[]) => {
    const { key, keyId } = await engine.apiKeys.create({ name: 'tester', scopes })
    return { keyId, headers: { authorization: `Bearer ${key}` } }
  }
  return { engine, app, ask: asking(app), keyOf, subscriptions: () => subscribed, waits: () => waiting }
}

/** Queries the database each time, like a server whose cached key has expired. */
const uncached = (engine: Engine): AppOptions => ({
  heartbeatMs: 20,
  authenticate: async (key): Promise<Identity | null> => {
    const found = await engine.apiKeys.authenticate({ key })
    if (found === null) return null
    const { keyId, scopes, name: actor } = found
    return { keyId, scopes, actor, namespace: '*', requestsPerSecond: null }
  },
})

const worker = { workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'] }

test('HEAD on streams and waits subscribes to nothing and waits for nothing', async () => {
  const { app, engine, keyOf, subscriptions } = await keyed()
  const { headers } = await keyOf('read')
  const { executionId } = await engine.executions.create({ kind: 'a' })
  const one = `/v1/executions/${encodeURIComponent(executionId)}`
  const head = (path: string, accept = 'text/event-stream') =>
    app.fetch(new Request(`http://localhost${path}`, { method: 'HEAD', headers: { ...headers, accept } }))
  for (const path of ['/v1/events', '/v1/events?kinds=ended', `${one}/timeline`]) {
    const response = await head(path)
    expect([response.status, response.headers.get('content-type'), response.body]).toEqual([
      200,
      'text/event-stream; charset=utf-8',
      null,
    ])
  }
  expect((await head(`${one}/result?wait=1m`, 'application/json')).status).toBe(200)
  expect((await head('/v1/events?after=xyz&nonsense=1')).status).toBe(400)
  expect(subscriptions()).toBe(0)
  const stream = await listen(app, '/v1/events', headers)
  expect(subscriptions()).toBe(1)
  await stream.end()
})

test('a stream ends with a reason when its own server revokes the key, and others stay open', async () => {
  const { app, ask, engine, keyOf } = await keyed()
  const [one, other, admin] = [await keyOf('read'), await keyOf('read'), await keyOf('admin')]
  const { executionId } = await engine.executions.create({ kind: 'a' })
  const timeline = `/v1/executions/${encodeURIComponent(executionId)}/timeline`
  const [events, followed] = [await listen(app, '/v1/events', one.headers), await listen(app, timeline, one.headers)]
  const unharmed = await listen(app, '/v1/events?kinds=ended', other.headers)
  await ask('POST', `/v1/api-keys/${one.keyId}/revoke`, {}, admin.headers)
  await engine.executions.cancel({ executionId })
  for (const stream of [events, followed]) {
    expect(await stream.next()).toEqual({ event: 'end', data: { reason: 'unauthenticated' } })
    expect(await stream.any()).toBeNull()
  }
  expect((await unharmed.next()).data).toMatchObject({ executionId, kind: 'ended' })
})

test('a stream whose key was revoked elsewhere ends at the next heartbeat', async () => {
  const { app, engine, keyOf } = await keyed(uncached)
  const { headers, keyId } = await keyOf('read')
  const stream = await listen(app, '/v1/events?kinds=ended', headers)
  await engine.apiKeys.revoke({ keyId })
  expect(await stream.next()).toEqual({ event: 'end', data: { reason: 'unauthenticated' } })
})

test('while the database does not answer, streams stay open', async () => {
  let isAway = false
  let asked = 0
  const { app, engine, keyOf } = await keyed((engine) => ({
    ...uncached(engine),
    authenticate: async (key) => {
      asked += 1
      if (isAway) throw new Error('away')
      return uncached(engine).authenticate!(key)
    },
  }))
  const { headers } = await keyOf('read')
  const stream = await listen(app, '/v1/events?kinds=ended', headers)
  isAway = true
  await expect.poll(() => asked).toBeGreaterThan(2)
  isAway = false
  const { executionId } = await engine.executions.create({ kind: 'a' })
  await engine.executions.cancel({ executionId })
  expect((await stream.next()).data).toMatchObject({ executionId })
})

test('a wait whose key is revoked is refused at once, and a claim takes nothing', async () => {
  const { ask, engine, keyOf, waits } = await keyed()
  const [one, admin] = [await keyOf('read', 'worker'), await keyOf('admin')]
  const { executionId } = await engine.executions.create({ kind: 'a', lane: 'elsewhere' })
  const result = `/v1/executions/${encodeURIComponent(executionId)}/result?wait=1m`
  const asked = [
    ask('GET', result, undefined, one.headers),
    ask('POST', '/v1/executions/claim', { ...worker, wait: '1m' }, one.headers),
  ]
  await expect.poll(() => waits()).toBe(2)
  await ask('POST', `/v1/api-keys/${one.keyId}/revoke`, {}, admin.headers)
  for (const answer of asked) expect(await answer).toMatchObject({ status: 401, body: { code: 'unauthenticated' } })
})
