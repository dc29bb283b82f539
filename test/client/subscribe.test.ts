import { expect, onTestFinished, test } from 'vitest'
import { openClient } from '../../src/client/open.ts'
import type { Engine } from '../../src/engine/contract.ts'
import type { Subscription } from '../../src/engine/event/subscription.ts'
import type { ExecutionId } from '../../src/model/id.ts'
import { createApp, type App } from '../../src/server/app.ts'
import { openIdentity } from '../../src/server/identity.ts'
import { refusal } from '../support/refusal.ts'
import { listenWith, type Listening } from '../support/serve-http.ts'
import { setup } from '../support/setup.ts'
import { front } from './front.ts'

async function end(engine: Engine): Promise<ExecutionId> {
  const { executionId } = await engine.executions.create({ kind: 'a' })
  await engine.executions.cancel({ executionId })
  return executionId
}

async function take(subscription: Subscription, count: number): Promise<unknown[]> {
  const taken = []
  while (taken.length < count) {
    const { value } = await subscription.next()
    taken.push(value !== undefined && 'executionId' in value ? value.executionId : value)
  }
  return taken
}

/** A server that can be stopped or killed, and started again on its port. */
async function restartable(engine: Engine) {
  const begin = async (port: number): Promise<{ readonly app: App; readonly listening: Listening }> => {
    const app = createApp(engine, { authenticate: null })
    return { app, listening: await listenWith(app.fetch, port) }
  }
  let running = await begin(0)
  const { url, port } = running.listening
  const stop = async (isGraceful: boolean): Promise<void> => {
    const { app, listening } = running
    if (isGraceful) {
      app.stop()
      // Its last answers are on their way.
      await new Promise((resolve) => setImmediate(resolve))
    }
    await listening.close()
    app.stop()
  }
  onTestFinished(() => stop(false))
  return { url, stop, start: async () => void (running = await begin(port)) }
}

test.each([
  ['stops and says so', true],
  ['is cut off', false],
])('a subscription continues at its position when the server %s, without loss or repeat', async (_, isGraceful) => {
  const { engine: local } = await setup()
  const server = await restartable(local)
  const client = await openClient(server.url)
  onTestFinished(() => client.close(0))
  const subscription = await client.engine.events.subscribe({ kinds: ['ended'] })
  const first = [await end(local), await end(local), await end(local)]
  expect(await take(subscription, 2)).toEqual(first.slice(0, 2))
  await server.stop(isGraceful)
  const meanwhile = await end(local)
  const rest = take(subscription, 3)
  await server.start()
  const last = await end(local)
  expect(await rest).toEqual([first[2], meanwhile, last])
  expect(await subscription.return()).toEqual({ done: true, value: undefined })
})

test('a new subscription starts at `after`, and the cursor moves with the events that were taken', async () => {
  const { engine } = await front()
  const subscription = await engine.events.subscribe({ kinds: ['ended'] })
  const before = subscription.cursor
  const ids = [await end(engine), await end(engine)]
  expect(await take(subscription, 1)).toEqual(ids.slice(0, 1))
  const again = await engine.events.subscribe({ kinds: ['ended'], after: subscription.cursor })
  expect(await take(again, 1)).toEqual(ids.slice(1))
  const all = await engine.events.subscribe({ kinds: ['ended'], after: before })
  expect(await take(all, 2)).toEqual(ids)
  await Promise.all([subscription.return(), again.return(), all.return()])
})

test('a subscription ends with its signal or its loop, and throws its refusals', async () => {
  const { engine } = await front()
  const stop = new AbortController()
  const ended = await engine.events.subscribe({ signal: stop.signal })
  const waits = ended.next()
  stop.abort()
  expect(await waits).toEqual({ done: true, value: undefined })
  const looped = await engine.events.subscribe({ kinds: ['ended'] })
  await end(engine)
  for await (const event of looped) {
    expect(event.kind).toBe('ended')
    break
  }
  expect(await looped.next()).toEqual({ done: true, value: undefined })
  await refusal('invalid_cursor', engine.events.subscribe({ after: 'nonsense' }))
  await refusal('invalid_input', engine.events.subscribe({ kinds: ['nothing' as never] }))
})

test('a revoked key ends a subscription that reconnects, with the reason', async () => {
  let isValid = true
  const authenticate = async () => (isValid ? openIdentity : null)
  const { engine, app } = await front({ token: 'key' }, { authenticate })
  const subscription = await engine.events.subscribe()
  isValid = false
  app.stop()
  await refusal('unauthenticated', subscription.next())
})
