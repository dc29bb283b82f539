import { expect, test } from 'vitest'
import type { Scope } from '../../src/model/api-key.ts'
import type { Engine } from '../../src/engine/contract.ts'
import { createApp } from '../../src/server/app.ts'
import { KnownKeys } from '../../src/server/known-keys.ts'
import { refusal } from '../support/refusal.ts'
import { setup } from '../support/setup.ts'
import { asking } from './app-setup.ts'
import { waitingFor } from './suspended.ts'

async function keyed(options: Parameters<typeof createApp>[1] = {}) {
  const { engine, clock } = await setup()
  const ask = asking(createApp(engine, options))
  return { engine, clock, ask, bearer: (...scopes: Scope[]) => bearerOf(engine, { scopes }) }
}

async function bearerOf(engine: Engine, traits: { scopes: Scope[]; namespace?: string; requestsPerSecond?: number }) {
  const { key, keyId } = await engine.apiKeys.create({ name: 'tester', ...traits })
  return { keyId, headers: { authorization: `Bearer ${key}` } }
}

test('HTTP-02 without a key, or with a wrong one, a request is a 401 that reveals nothing', async () => {
  const { ask, bearer } = await keyed()
  const { headers } = await bearer('read')
  expect((await ask('GET', '/v1/executions', undefined, headers)).status).toBe(200)
  const wrong = headers.authorization.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'))
  for (const authorization of ['', 'Bearer', 'Basic abc', 'Bearer abc', wrong]) {
    const asked = await ask('GET', '/v1/executions', undefined, { authorization })
    expect(asked).toMatchObject({ status: 401, body: { code: 'unauthenticated', details: {} } })
    expect(asked.headers.get('www-authenticate')).toContain('Bearer')
  }
  expect((await ask('GET', '/v1/executions')).status).toBe(401)
})

test('HTTP-01 health needs no key', async () => {
  const { ask } = await keyed()
  for (const path of ['/livez', '/healthz', '/readyz']) {
    expect(await ask('GET', path)).toMatchObject({ status: 200, body: { status: 'ok' } })
  }
})

test('a key may do what its scopes permit, and admin may do everything', async () => {
  const { ask, bearer } = await keyed()
  const [reader, submitter, admin] = [await bearer('read'), await bearer('submit'), await bearer('admin')]
  const create = (headers: Record<string, string>) => ask('POST', '/v1/executions', { kind: 'a' }, headers)
  expect(await create(reader.headers)).toMatchObject({
    status: 403,
    body: {
      code: 'forbidden',
      detail: 'createExecution needs a key with the scope submit or worker, and this one has read; send another key',
      details: { needs: ['submit', 'worker'], has: ['read'] },
    },
  })
  expect((await create(submitter.headers)).status).toBe(201)
  expect((await create(admin.headers)).status).toBe(201)
  expect((await ask('GET', '/v1/executions', undefined, submitter.headers)).status).toBe(403)
  expect((await ask('POST', '/v1/signing-keys/rotate', {}, reader.headers)).status).toBe(403)
})

test('WPT-14 only operators and workers can read a token or create a link, and each use writes an event with the name of the key', async () => {
  const { ask, bearer, engine } = await keyed()
  const { executionId, waitpointId, token } = await waitingFor(engine, 'door')
  const path = `/v1/waitpoints/${encodeURIComponent(waitpointId)}`
  const link = { base: 'https://example.com', action: 'yes', expiresIn: '1h' }
  const { headers: weak } = await bearer('read', 'submit', 'signal')
  for (const [verb, body] of [['token', {}] as const, ['link', link] as const]) {
    const refused = await ask('POST', `${path}/${verb}`, body, weak)
    expect(refused).toMatchObject({ status: 403, body: { code: 'forbidden' } })
    expect(JSON.stringify(refused.body)).not.toContain(token.split(':')[1])
    for (const scope of ['operate', 'worker'] as const) {
      const { headers } = await bearer(scope)
      expect((await ask('POST', `${path}/${verb}`, body, headers)).status).toBe(200)
    }
  }
  const { events } = await engine.events.timeline(executionId)
  const reads = events.filter(({ kind }) => kind === 'token_read')
  expect(reads.map(({ actor }) => actor)).toEqual(['tester', 'tester', 'tester', 'tester'])
})

test('a revoked key is refused at once by the server that revoked it', async () => {
  const { ask, bearer } = await keyed()
  const [one, admin] = [await bearer('read'), await bearer('admin')]
  expect((await ask('GET', '/v1/lanes', undefined, one.headers)).status).toBe(200)
  await ask('POST', `/v1/api-keys/${one.keyId}/revoke`, {}, admin.headers)
  expect((await ask('GET', '/v1/lanes', undefined, one.headers)).status).toBe(401)
})

test('the actor is the key, and only an admin may act in the name of another', async () => {
  const { ask, bearer, engine } = await keyed()
  const [one, admin] = [await bearer('submit', 'operate'), await bearer('admin')]
  const { executionId } = (await ask('POST', '/v1/executions', { kind: 'a' }, one.headers)).body
  expect((await engine.executions.describe(executionId))?.creator).toBe('tester')
  const asAnn = { 'flowfabric-actor': encodeURIComponent('Ann Müller') }
  const path = `/v1/executions/${encodeURIComponent(executionId)}/cancel`
  expect((await ask('POST', path, {}, { ...one.headers, ...asAnn })).status).toBe(403)
  expect((await ask('POST', path, {}, { ...admin.headers, ...asAnn })).status).toBe(200)
  const { events } = await engine.events.timeline(executionId)
  const { keyId } = admin
  expect(events.at(-1)).toMatchObject({ kind: 'ended', actor: 'tester', keyId, onBehalfOf: 'Ann Müller' })
  expect((await engine.executions.describe(executionId))?.cancelledBy).toBe('tester for Ann Müller')
  expect((await ask('GET', '/v1/time', undefined, { ...admin.headers, 'flowfabric-actor': '%' })).status).toBe(400)
})

test('events distinguish keys of the same name', async () => {
  const { ask, engine } = await keyed()
  const keys = [await bearerOf(engine, { scopes: ['operate'] }), await bearerOf(engine, { scopes: ['operate'] })]
  for (const { headers, keyId } of keys) {
    const { executionId } = await engine.executions.create({ kind: 'a' })
    await ask('POST', `/v1/executions/${encodeURIComponent(executionId)}/cancel`, {}, headers)
    const { events } = await engine.events.timeline(executionId)
    expect(events).toMatchObject([{ kind: 'ended', actor: 'tester', keyId, onBehalfOf: null }])
  }
})

test.each(['ceo%0d%0aroot', 'a%1fb', '%00'])('an admin may not act in the name of %s', async (actor) => {
  const { ask, bearer } = await keyed()
  const { headers } = await bearer('admin')
  const refused = await ask('GET', '/v1/time', undefined, { ...headers, 'flowfabric-actor': actor })
  expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_input' } })
})

test("a key is refused after its expiry, by the database's clock", async () => {
  const { engine, clock } = await keyed()
  await clock.freeze()
  const expiresAt = (await clock.now()) + 60_000
  const made = await engine.apiKeys.create({ name: 'short', scopes: ['read'], expiresAt })
  const ask = asking(createApp(engine))
  const asked = async () => (await asking(createApp(engine))('GET', '/v1/lanes', undefined, headers)).status
  const headers = { authorization: `Bearer ${made.key}` }
  expect(made.expiresAt).toBe(expiresAt)
  expect((await ask('GET', '/v1/lanes', undefined, headers)).status).toBe(200)
  await clock.advance(60_000)
  expect(await asked()).toBe(200)
  await clock.advance(1)
  expect(await asked()).toBe(401)
  expect((await engine.apiKeys.list()).apiKeys).toMatchObject([{ name: 'short', expiresAt }])
  await refusal('invalid_input', engine.apiKeys.create({ name: 'late', scopes: ['read'], expiresAt }))
  expect((await engine.apiKeys.list()).apiKeys).toHaveLength(1)
})

test('a key is one source of approvals, whatever actor it names, and two keys of one name are two', async () => {
  const { ask, engine } = await keyed()
  const [one, other] = [await bearerOf(engine, { scopes: ['admin'] }), await bearerOf(engine, { scopes: ['operate'] })]
  const condition = { kind: 'count', n: 2, distinct: 'sources', waitpoints: ['door'] } as const
  const { executionId, waitpointId } = await waitingFor(engine, 'door', {}, condition)
  const path = `/v1/waitpoints/${encodeURIComponent(waitpointId)}/approve`
  const approve = async (idempotencySuffix: string, headers: Record<string, string>) =>
    (await ask('POST', path, { name: 'approved', idempotencySuffix }, headers)).body.effect
  expect(await approve('1', one.headers)).toBe('appended_to_waitpoint')
  expect(await approve('2', { ...one.headers, 'flowfabric-actor': 'ceo' })).toBe('appended_to_waitpoint_duplicate')
  expect(await approve('3', other.headers)).toBe('resume_condition_satisfied')
  const { signals } = await engine.signals.list(executionId)
  expect(signals.map(({ source }) => source)).toEqual(
    [one, one, other].map(({ keyId }) => ({ type: 'operator', identity: keyId })),
  )
})

test('a key of one namespace cannot be widened, and a key of all can be narrowed', async () => {
  const { ask, engine } = await keyed()
  const bound = await bearerOf(engine, { scopes: ['admin'], namespace: 'shop' })
  const all = await bearerOf(engine, { scopes: ['admin'] })
  const widened = await ask('GET', '/v1/lanes', undefined, { ...bound.headers, 'flowfabric-namespace': 'other' })
  expect(widened).toMatchObject({ status: 403, body: { code: 'namespace_mismatch' } })
  const narrowed = { ...all.headers, 'flowfabric-namespace': 'shop' }
  const { executionId } = (await ask('POST', '/v1/executions', { kind: 'a' }, narrowed)).body
  expect((await engine.executions.describe(executionId))?.namespace).toBe('shop')
})

test('HTTP-08 a key that exceeds its rate receives the time of its next try', async () => {
  const { ask, engine } = await keyed()
  const { headers, keyId } = await bearerOf(engine, { scopes: ['read'], requestsPerSecond: 3 })
  const asked = await Promise.all(Array.from({ length: 10 }, () => ask('GET', '/v1/lanes', undefined, headers)))
  const refused = asked.filter(({ status }) => status === 429)
  expect(refused.length).toBeGreaterThanOrEqual(6)
  expect(refused[0]).toMatchObject({ body: { code: 'rate_limited', retryable: true, details: { perSecond: 3 } } })
  expect(refused[0]!.body.detail).toContain(`key ${keyId} sent more than 3 requests in a second; try again in`)
  expect(refused[0]!.headers.get('retry-after')).toBe('1')
})

test("HTTP-23, WPT-02 only a waitpoint's token can answer it, and a wrong token reveals nothing", async () => {
  const { ask, engine } = await keyed()
  await engine.executions.create({ kind: 'a' })
  const { claims } = await engine.executions.claim({ workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'] })
  const { executionId, leaseId, leaseEpoch } = claims[0]!
  const condition = { kind: 'signal', waitpoint: 'door' } as const
  const parked = await engine.executions.suspend({ executionId, leaseId, leaseEpoch, condition })
  if (parked.kind !== 'suspended') return expect.unreachable(parked.kind)
  const { waitpointId, token } = parked.waitpoints[0]!
  const path = `/v1/waitpoints/${encodeURIComponent(waitpointId)}/signals`
  const refused = [
    [undefined, 'missing_token'],
    ['', 'missing_token'],
    ['k:00', 'invalid_token'],
    [`other:${token!.split(':')[1]}`, 'invalid_token'],
  ] as const
  for (const [wrong, code] of refused) {
    expect(await ask('POST', path, { name: 'go', token: wrong })).toMatchObject({ status: 400, body: { code } })
  }
  expect(await ask('POST', path, { name: 'go', token })).toMatchObject({
    status: 200,
    body: { kind: 'accepted', executionId, effect: 'resume_condition_satisfied' },
  })
  expect((await ask('GET', `/v1/executions/${encodeURIComponent(executionId)}`)).status).toBe(401)
})

test('HTTP-30 pages of other origins can read nothing unless they are listed, and a value that is no origin is refused', async () => {
  const { ask, bearer, engine } = await keyed({ cors: ['https://console.example.com'] })
  const { headers } = await bearer('read')
  const from = (origin: string) => ask('GET', '/v1/lanes', undefined, { ...headers, origin })
  const allowed = await from('https://console.example.com')
  expect(allowed.headers.get('access-control-allow-origin')).toBe('https://console.example.com')
  const other = await from('https://evil.example.com')
  expect(other.headers.get('access-control-allow-origin')).toBeNull()
  expect(() => createApp(engine, { cors: ['example.com/path'] })).toThrow('which is no origin')
  const open = await asking(createApp(engine, { cors: ['*'] }))('GET', '/livez', undefined, { origin: 'https://a.b' })
  expect(open.headers.get('access-control-allow-origin')).toBe('*')
  const closed = await asking(createApp(engine))('GET', '/livez', undefined, { origin: 'https://a.example.com' })
  expect(closed.headers.get('access-control-allow-origin')).toBeNull()
})

test('the rate of unknown keys is counted by address before a lookup, and they delay no valid key', async () => {
  const { engine } = await setup()
  let lookups = 0
  const authenticate: Engine['apiKeys']['authenticate'] = (request) => {
    lookups += 1
    return engine.apiKeys.authenticate(request)
  }
  const watched = { ...engine, apiKeys: { ...engine.apiKeys, authenticate } }
  const ask = asking(createApp(watched, { rateLimit: { perAddress: 5 } }))
  const { headers } = await bearerOf(engine, { scopes: ['read'] })
  expect((await ask('GET', '/v1/lanes', undefined, headers)).status).toBe(200)
  const { authorization } = headers
  const wrong = (number: number) => authorization.slice(0, -4) + `${number}`.padStart(4, 'x')
  const statuses: number[] = []
  for (let number = 0; number < 300; number++) {
    statuses.push((await ask('GET', '/v1/lanes', undefined, { authorization: wrong(number) })).status)
  }
  expect(new Set(statuses)).toEqual(new Set([401, 429]))
  const refused = statuses.filter((status) => status === 401).length
  expect(refused).toBeLessThan(150)
  expect(lookups).toBe(1 + refused)
  // The address has used up its share, and the valid key is still accepted.
  expect((await ask('GET', '/v1/lanes', undefined, headers)).status).toBe(200)
  expect(lookups).toBe(1 + refused)
})

test('thousands of unknown keys push no valid one out of memory', async () => {
  const lookups: string[] = []
  const identity = {
    keyId: 'k',
    namespace: null,
    name: 'n',
    scopes: ['read'],
    requestsPerSecond: null,
    expiresAt: null,
  }
  const authenticate = async ({ key }: { key: string }) => {
    lookups.push(key)
    return key === 'valid' ? identity : null
  }
  const keys = new KnownKeys({ apiKeys: { authenticate } } as unknown as Engine)
  await keys.authenticate('valid')
  for (let number = 0; number < 20_000; number++) await keys.authenticate(`unknown ${number}`)
  expect(await keys.authenticate('valid')).toMatchObject({ keyId: 'k', namespace: '*' })
  expect(lookups.filter((key) => key === 'valid')).toHaveLength(1)
})

test('a key used many times at once is looked up once', async () => {
  let lookups = 0
  const authenticate = async () => {
    lookups += 1
    return null
  }
  const keys = new KnownKeys({ apiKeys: { authenticate } } as unknown as Engine)
  await Promise.all(Array.from({ length: 50 }, () => keys.authenticate('the same')))
  expect(lookups).toBe(1)
})

test('a key that expires is looked up again at its expiry, not ten seconds later', async () => {
  const { engine } = await setup()
  const { key } = await engine.apiKeys.create({
    name: 'short',
    scopes: ['read'],
    expiresAt: (await engine.serverTime()) + 8000,
  })
  let [now, lookups] = [0, 0]
  const authenticate: Engine['apiKeys']['authenticate'] = (request) => {
    lookups += 1
    return engine.apiKeys.authenticate(request)
  }
  const keys = new KnownKeys({ ...engine, apiKeys: { ...engine.apiKeys, authenticate } }, () => now)
  expect(await keys.authenticate(key)).toMatchObject({ actor: 'short' })
  now = 1000
  await keys.authenticate(key)
  expect(lookups).toBe(1)
  now = 8000
  await keys.authenticate(key)
  expect(lookups).toBe(2)
})

test('a lookup that began before a key was revoked is not cached, also when another began meanwhile', async () => {
  const answers: ((found: unknown) => void)[] = []
  const authenticate = () => new Promise((resolve) => answers.push(resolve))
  const keys = new KnownKeys({ apiKeys: { authenticate } } as unknown as Engine)
  const before = keys.authenticate('key')
  keys.forget()
  const after = keys.authenticate('key')
  answers[0]!({ keyId: 'k', namespace: null, name: 'n', scopes: ['read'], requestsPerSecond: null, expiresAt: null })
  expect(await before).toMatchObject({ keyId: 'k' })
  answers[1]!(null)
  expect(await after).toBeNull()
  expect(await keys.authenticate('key')).toBeNull()
  expect(answers).toHaveLength(2)
})
