// A namespace whose callers encrypt refuses plain JSON on every route.
import { expect, test } from 'vitest'
import { createApp } from '../../src/server/app.ts'
import { factory } from '../support/factory.ts'
import { setup } from '../support/setup.ts'
import { appSetup, base64 } from './app-setup.ts'

const sealed = { payload: Buffer.from('sealed').toString('base64'), payloadEncoding: 'sealed' }
const vault = { 'flowfabric-namespace': 'vault' }
const open = { 'flowfabric-namespace': 'open' }
const refusal = { status: 400, body: { code: 'plain_input_refused' } }

const plainRequests: readonly [string, string, string, object][] = [
  ['a create', 'POST', '/v1/executions', { kind: 'k', input: 1 }],
  ['a create with an input of null', 'POST', '/v1/executions', { kind: 'k', input: null }],
  ['bytes that are JSON', 'POST', '/v1/executions', { kind: 'k', payload: base64(1), payloadEncoding: 'json' }],
  ['bytes without an encoding', 'POST', '/v1/executions', { kind: 'k', payload: base64(1) }],
  [
    'a set',
    'POST',
    '/v1/executions/create',
    {
      items: [
        { kind: 'k', ...sealed },
        { kind: 'k', input: 1 },
      ],
    },
  ],
  ['a flow', 'POST', '/v1/flows/submit-graph', { kind: 'f', members: [{ name: 'm', kind: 'k', input: 1 }] }],
  ['a schedule', 'PUT', '/v1/schedules/nightly', { kind: 'k', input: 1, cron: '@daily' }],
]

test.each(plainRequests)('%s with plain JSON is refused, and nothing is stored', async (_, method, path, body) => {
  const { ask, engine } = await appSetup({ refusePlainInput: ['vault'] })
  const { status, body: answer } = await ask(method, path, body, vault)
  expect({ status, body: answer }).toMatchObject(refusal)
  expect(answer.detail).toBe(
    'namespace "vault" refuses plain JSON; send payload as bytes of your codec, with its payloadEncoding',
  )
  expect((await engine.executions.list({})).executions).toEqual([])
  expect((await ask(method, path, body, open)).status).toBeLessThan(300)
})

test('bytes of a codec are accepted, and so is a create without an input', async () => {
  const { ask } = await appSetup({ refusePlainInput: ['vault'] })
  expect((await ask('POST', '/v1/executions', { kind: 'k', ...sealed }, vault)).status).toBe(201)
  expect((await ask('POST', '/v1/executions', { kind: 'k' }, vault)).status).toBe(201)
})

test('the namespace may be a field of the request, of an item, or the default', async () => {
  const { ask } = await appSetup({ refusePlainInput: ['vault', 'default'] })
  const create = async (body: object): Promise<number> => (await ask('POST', '/v1/executions', body)).status
  expect(await create({ kind: 'k', input: 1, namespace: 'vault' })).toBe(400)
  expect(await create({ kind: 'k', input: 1 })).toBe(400)
  expect(await create({ kind: 'k', input: 1, namespace: 'open' })).toBe(201)
  const items = [{ kind: 'k', input: 1, namespace: 'open' }]
  expect((await ask('POST', '/v1/executions/create', { items })).status).toBe(200)
  items.push({ kind: 'k', input: 1, namespace: 'vault' })
  expect((await ask('POST', '/v1/executions/create', { items })).status).toBe(400)
})

test('a signal is refused unless the caller acts in a namespace that takes plain JSON', async () => {
  const { ask, sql } = await appSetup({ refusePlainInput: ['vault'] })
  const id = await factory(sql).waiting({ namespace: 'open' })
  const path = `/v1/executions/${encodeURIComponent(id)}/signals`
  const signal = { name: 'go', value: true }
  const unknown = await ask('POST', path, signal)
  expect(unknown).toMatchObject(refusal)
  expect(unknown.body.detail).toContain('name the namespace in the header flowfabric-namespace')
  expect(await ask('POST', path, signal, vault)).toMatchObject(refusal)
  expect((await ask('POST', path, signal, open)).status).toBe(200)
  expect((await ask('POST', path, { name: 'go', ...sealed })).status).toBe(200)
})

test('* is every namespace, and a bad list is refused', async () => {
  const { ask } = await appSetup({ refusePlainInput: ['*'] })
  expect(await ask('POST', '/v1/executions', { kind: 'k', input: 1 }, open)).toMatchObject(refusal)
  const { engine } = await setup()
  for (const refusePlainInput of ['vault', true, [7], ['a\0b']]) {
    expect(() => createApp(engine, { authenticate: null, refusePlainInput: refusePlainInput as never })).toThrow()
  }
})
