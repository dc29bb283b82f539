// A key of one namespace never reads, signals or infers objects of another: every route is called with the ids of
// another namespace.
import { expect, test } from 'vitest'
import { operations, type Operation } from '../../src/api/routes.ts'
import type { Engine } from '../../src/engine/contract.ts'
import { createApp, type App } from '../../src/server/app.ts'
import { openApiDocument } from '../../src/server/openapi.ts'
import { setup } from '../support/setup.ts'
import { listen } from './event-stream.ts'
import { sampleOf, type Schema } from './sample.ts'
import { patience } from '../support/patience.ts'

const document = openApiDocument('1.0.0') as {
  paths: Record<string, Record<string, Described>>
  components: { schemas: Record<string, Schema> }
}
const { schemas } = document.components

interface Described {
  readonly parameters?: readonly { name: string; in: string; required: boolean; schema: Schema }[]
  readonly requestBody?: { readonly content: { readonly 'application/json': { readonly schema: Schema } } }
}

/** Every value that reveals their objects contains "hidden"; their ids do not. */
const hidden = { kind: 'hidden-kind', lane: 'hidden-lane', tags: { note: 'hidden-tag' }, creator: 'hidden-creator' }
const payload = Buffer.from('"hidden"')

type Things = Readonly<Record<string, unknown>>

async function thingsOf(engine: Engine): Promise<Things> {
  const worker = { workerId: 'hidden-worker', workerInstanceId: 'their-worker', lanes: ['hidden-lane'] }
  const { executionId } = await engine.executions.create({ ...hidden, payload })
  const { claims } = await engine.executions.claim(worker)
  const { leaseId, leaseEpoch } = claims[0]!
  const held = { executionId, leaseId, leaseEpoch }
  const { waitpointId } = await engine.waitpoints.create({ ...held, key: 'hidden-door' })
  await engine.steps.record({ ...held, name: 'hidden-step', kind: 'step', state: 'succeeded', result: payload })
  await engine.executions.progress({ ...held, message: 'hidden-progress' })
  await engine.signals.send({ executionId, name: 'hidden-signal', payload })
  const { lane, kind } = hidden
  const flow = await engine.flows.submitGraph({ kind: 'hidden-flow', members: [{ name: 'hidden-member', lane, kind }] })
  await engine.schedules.put({ scheduleId: 'their-schedule', kind, every: '1h' })
  await engine.workers.register(worker)
  const { keyId } = await engine.apiKeys.create({ name: 'hidden-name', scopes: ['read'] })
  const fields = { ...held, waitpointId, keyId, flowId: flow.flowId, scheduleId: 'their-schedule' }
  return {
    ...fields,
    workerInstanceId: 'their-worker',
    key: 'note',
    namespace: undefined,
    grantId: leaseId,
    timeout: 1,
  }
}

async function asked(app: App, key: string, operation: Operation, things: Things): Promise<string> {
  const { method, path } = operation.route
  const { parameters = [], requestBody } = document.paths[path]![method.toLowerCase()]!
  const query = new URLSearchParams()
  let filled = path
  for (const { name, in: place, required, schema } of parameters) {
    const value = String(things[name] ?? sampleOf(schema, schemas))
    if (place === 'path') filled = filled.replace(`{${name}}`, encodeURIComponent(value))
    else if (place === 'query' && (required || (name in things && things[name] !== undefined))) query.set(name, value)
  }
  const schema = requestBody?.content['application/json'].schema
  const body = schema === undefined ? undefined : withThings(sampleOf(schema, schemas), things)
  const response = await app.fetch(
    new Request(`http://localhost${filled}?${query.toString()}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }),
  )
  if (operation.route.streams === 'only') {
    await response.body!.cancel()
    return ''
  }
  const text = await response.text()
  expect(response.status, `${operation.route.operationId}: ${text}`).not.toBe(500)
  return text
}

/** Replaces every field that has the name of one of their ids. */
function withThings(sample: unknown, things: Things): unknown {
  if (Array.isArray(sample)) return sample.map((item) => withThings(item, things))
  if (typeof sample !== 'object' || sample === null) return sample
  const fields = Object.entries(sample).map(([name, value]) => [
    name,
    name in things ? things[name] : withThings(value, things),
  ])
  return Object.fromEntries(fields)
}

async function look(engine: Engine, things: Things): Promise<string> {
  const id = things['executionId'] as never
  const found = await Promise.all([
    engine.executions.list(),
    engine.flows.list(),
    engine.schedules.list(),
    engine.workers.list(),
    engine.suspensions.list(),
    engine.signals.list(id),
    engine.steps.list(id),
    engine.waitpoints.list(id),
    engine.events.timeline(id),
    engine.apiKeys.list().then(({ apiKeys }) => apiKeys.map((key) => ({ ...key, lastUsedAt: null }))),
  ])
  return JSON.stringify(found)
}

test(
  'no request with a key of another namespace reads or changes their objects',
  { timeout: patience(120_000) },
  async () => {
    const { engine } = await setup()
    const theirs = engine.as({ namespace: 'theirs' })
    const things = await thingsOf(theirs)
    const app = createApp(engine, { rateLimit: false })
    const { key } = await engine.apiKeys.create({ name: 'ours', scopes: ['admin'], namespace: 'ours' })
    const before = await look(theirs, things)
    for (const operation of operations) {
      expect(await asked(app, key, operation, things), operation.route.operationId).not.toContain('hidden')
      expect(await look(theirs, things), operation.route.operationId).toBe(before)
    }
  },
)

test('the same requests with a key of their own namespace read the objects', async () => {
  const { engine } = await setup()
  const theirs = engine.as({ namespace: 'theirs' })
  const things = await thingsOf(theirs)
  const app = createApp(engine, { rateLimit: false })
  const { key } = await engine.apiKeys.create({ name: 'theirs', scopes: ['read'], namespace: 'theirs' })
  const received: string[] = []
  for (const operation of operations.filter(({ route }) => route.method === 'GET')) {
    if ((await asked(app, key, operation, things)).includes('hidden')) received.push(operation.route.operationId)
  }
  expect(received.length).toBeGreaterThan(12)
})

test('a stream of one namespace contains no events of another', async () => {
  const { engine } = await setup()
  const app = createApp(engine)
  const { key } = await engine.apiKeys.create({ name: 'ours', scopes: ['read'], namespace: 'ours' })
  const stream = await listen(app, '/v1/events?kinds=ended', { authorization: `Bearer ${key}` })
  for (const namespace of ['theirs', 'ours']) {
    const { executionId } = await engine.executions.create({ kind: 'a', namespace })
    await engine.executions.cancel({ executionId })
  }
  expect((await stream.next()).data).toMatchObject({ namespace: 'ours' })
})
