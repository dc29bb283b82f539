// Limits on the concurrent requests of one key and one namespace, and the cost of requests without a key.
import { expect, onTestFinished, test } from 'vitest'
import type { Engine } from '../../src/engine/contract.ts'
import { createApp, type AppOptions } from '../../src/server/app.ts'
import { Readiness } from '../../src/server/health.ts'
import { Turns } from '../../src/server/turns.ts'
import { refusal } from '../support/refusal.ts'
import { setup } from '../support/setup.ts'
import { appSetup, asking } from './app-setup.ts'

/** An app whose lists of executions wait until the test releases them. */
async function heldLists(options: Partial<AppOptions> = {}) {
  const { engine } = await setup()
  const running: string[] = []
  const waiting: (() => void)[] = []
  let isHeld = true
  let [most, ran] = [0, 0]
  const held = (bound: Engine, namespace = '*'): Engine => ({
    ...bound,
    as: (caller) => held(bound.as(caller), caller.namespace ?? namespace),
    executions: {
      ...bound.executions,
      list: async (request) => {
        running.push(namespace)
        ran += 1
        most = Math.max(most, running.length)
        if (isHeld) await new Promise<void>((resolve) => waiting.push(resolve))
        running.splice(running.indexOf(namespace), 1)
        return bound.executions.list(request)
      },
    },
  })
  const app = createApp(held(engine), options)
  onTestFinished(() => app.stop())
  const ask = asking(app)
  const keyOf = async (namespace: string) => {
    const { key } = await engine.apiKeys.create({ name: namespace, scopes: ['read', 'submit'], namespace })
    return { authorization: `Bearer ${key}` }
  }
  const letGo = (): void => {
    isHeld = false
    for (const resolve of waiting.splice(0)) resolve()
  }
  return { app, ask, keyOf, running, letGo, most: () => most, ran: () => ran }
}

test('lists of one key run a few at a time; its other requests, and lists of other keys, do not wait', async () => {
  const { ask, keyOf, running, letGo, most } = await heldLists()
  const [alpha, beta] = [await keyOf('alpha'), await keyOf('beta')]
  const reads = Array.from({ length: 16 }, () => ask('GET', '/v1/executions', undefined, alpha))
  await expect.poll(() => running).toEqual(['alpha', 'alpha'])
  // Writes and short reads of the same key, and lists of another, are not delayed.
  const created = await ask('POST', '/v1/executions', { kind: 'k' }, alpha)
  expect(created.status).toBe(201)
  const { executionId } = created.body as { executionId: string }
  const path = `/v1/executions/${encodeURIComponent(executionId)}`
  expect((await ask('GET', path, undefined, alpha)).status).toBe(200)
  const other = ask('GET', '/v1/executions', undefined, beta)
  await expect.poll(() => running.length).toBe(3)
  expect(most()).toBe(3)
  letGo()
  expect((await Promise.all([...reads, other])).map(({ status }) => status)).toEqual(
    Array.from({ length: 17 }, () => 200),
  )
})

test('reads of all keys in one namespace have a common limit', async () => {
  const { ask, keyOf, running, letGo } = await heldLists({ readsAtOnce: { perKey: 2, perNamespace: 3 } })
  const keys = [await keyOf('alpha'), await keyOf('alpha'), await keyOf('alpha')]
  const reads = keys.flatMap((key) => [0, 1].map(() => ask('GET', '/v1/executions', undefined, key)))
  await expect.poll(() => running.length).toBe(3)
  const other = ask('GET', '/v1/executions', undefined, await keyOf('beta'))
  await expect.poll(() => running).toEqual(['alpha', 'alpha', 'alpha', 'beta'])
  letGo()
  await Promise.all([...reads, other])
})

test('a read whose client hangs up while it waits does not run, and its turn goes to others', async () => {
  const { app, keyOf, running, ran, letGo } = await heldLists()
  const headers = await keyOf('alpha')
  const read = (signal?: AbortSignal) =>
    app.fetch(new Request('http://localhost/v1/executions', { headers, ...(signal !== undefined && { signal }) }))
  const first = [read(), read()]
  await expect.poll(() => running.length).toBe(2)
  const hangUp = new AbortController()
  const left = read(hangUp.signal)
  const last = read()
  hangUp.abort()
  expect((await left).status).toBe(429)
  letGo()
  expect((await Promise.all([...first, last])).map(({ status }) => status)).toEqual([200, 200, 200])
  expect(ran()).toBe(3)
})

test('turns are taken in order, and requests beyond the limit of waiting ones are refused', async () => {
  const turns = new Turns(1, 2)
  const order: string[] = []
  const take = (name: string): Promise<void> => turns.take('key a', 'reads').then(() => void order.push(name))
  await take('first')
  const [second, third] = [take('second'), take('third')]
  await refusal('concurrency_limited', turns.take('key a', 'reads'))
  await turns.take('key b', 'reads')
  turns.release('key a')
  await second
  expect(order).toEqual(['first', 'second'])
  turns.release('key a')
  await third
  turns.release('key a')
  await take('fourth')
  expect(order).toEqual(['first', 'second', 'third', 'fourth'])
})

test.each([{ perKey: 0 }, { perKey: 1.5 }, { perNamespace: 'a' }, { perkey: 2 }])(
  'readsAtOnce %j is refused',
  async (given) => {
    const { engine } = await setup()
    await refusal('invalid_input', (async () => createApp(engine, { readsAtOnce: given as never }))())
  },
)

test('any number of readiness requests cost one query a second', async () => {
  const { engine } = await setup()
  let [now, asked] = [0, 0]
  const serverTime = (): Promise<number> => {
    asked += 1
    return engine.serverTime()
  }
  const readiness = new Readiness({ ...engine, serverTime }, () => now)
  expect(new Set(await Promise.all(Array.from({ length: 500 }, () => readiness.status())))).toEqual(new Set(['ok']))
  now = 999
  await readiness.status()
  expect(asked).toBe(1)
  now = 1000
  await readiness.status()
  expect(asked).toBe(2)
})

test('the document of the API has a tag, and is not sent again to a client that has it', async () => {
  const { app } = await appSetup()
  const get = (headers: Record<string, string> = {}) =>
    app.fetch(new Request('http://localhost/openapi.json', { headers }))
  const first = await get()
  const tag = first.headers.get('etag')!
  expect(await first.json()).toMatchObject({ openapi: '3.1.1' })
  for (const known of [tag, `W/${tag}`, `"other", ${tag}`]) {
    const again = await get({ 'if-none-match': known })
    expect([again.status, await again.text(), again.headers.get('etag')]).toEqual([304, '', tag])
  }
  expect((await get({ 'if-none-match': '"other"' })).status).toBe(200)
})
