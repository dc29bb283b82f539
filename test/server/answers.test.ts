// Operations as a user calls them over HTTP; `ask` checks each answer against the documented shape.
import { expect, test } from 'vitest'
import { formatWaitpointId } from '../../src/model/id.ts'
import { mintUuid } from '../../src/model/uuid.ts'
import { appSetup, base64 } from './app-setup.ts'
import { waitingFor } from './suspended.ts'

const worker = { workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'] }
const at = (id: string, rest = ''): string => `/v1/executions/${encodeURIComponent(id)}${rest}`

async function holding() {
  const fixture = await appSetup()
  const { ask } = fixture
  const claim = async () => {
    const { body } = await ask('POST', '/v1/executions/claim', worker)
    const { executionId, leaseId, leaseEpoch } = body.claims[0]
    return { path: at(executionId), executionId, fence: { leaseId, leaseEpoch }, claim: body.claims[0] }
  }
  const create = async (traits: object = {}) =>
    (await ask('POST', '/v1/executions', { kind: 'a', ...traits })).body.executionId as string
  return { ...fixture, claim, create }
}

test('HTTP-24 operations of a holder on its execution, and of an operator', async () => {
  const { ask, claim, create } = await holding()
  await create({ policy: { retry: { attempts: 3, backoff: { type: 'fixed', delayMs: 0 } } }, tags: { team: 'core' } })
  const { path, fence, executionId } = await claim()
  const said = async (verb: string, body: object = {}) =>
    (await ask('POST', `${path}/${verb}`, { ...fence, ...body })).body
  expect(await said('progress', { percent: 50, message: 'half' })).toMatchObject({ kind: 'progress_recorded' })
  expect(await said('warn', { reason: 'slow', details: { ms: 7 } })).toMatchObject({ kind: 'warned' })
  const step = { name: 's', kind: 'step', state: 'succeeded', result: base64(1) }
  expect(await said('steps', step)).toMatchObject({ kind: 'step_recorded' })
  expect((await ask('GET', `${path}/steps`)).body.steps).toMatchObject([{ name: 's', result: base64(1) }])
  const lease = { executionId, ...fence }
  expect((await ask('POST', '/v1/leases/check', { leases: [lease] })).body.leases).toMatchObject([{ kind: 'renewed' }])
  expect(await said('fail', { reason: 'no', error: base64('e') })).toMatchObject({ kind: 'retry_scheduled' })
  expect((await ask('GET', `${path}/attempts`)).body.attempts[0]).toMatchObject({ error: base64('e') })
  expect((await ask('PUT', `${path}/priority`, { priority: 10 })).body).toMatchObject({
    kind: 'priority_changed',
    to: 10,
  })
  expect((await ask('GET', `${path}/explain`)).body.sentence).toEqual(expect.any(String))
  const again = await claim()
  expect((await ask('POST', `${path}/lease/revoke`, {})).body).toMatchObject({ kind: 'revoked' })
  const late = await ask('POST', `${path}/complete`, again.fence)
  expect(late).toMatchObject({ status: 409, body: { code: 'lease_revoked' } })
  expect((await ask('POST', `${path}/cancel`, { reason: 'enough' })).body.kind).toBe('cancelled')
  expect((await ask('POST', `${path}/replay`, {})).body).toMatchObject({ kind: 'replayed', generation: 1 })
  const { events } = (await ask('GET', `${path}/timeline?limit=100`)).body
  expect(events.map((event: { kind: string }) => event.kind)).toContain('replayed')
})

test('giving back, grants, restarts', async () => {
  const { ask, claim, create } = await holding()
  const id = await create()
  for (const [verb, body, kind] of [
    ['release', {}, 'released'],
    ['delay', { for: 0 }, 'delayed'],
    ['restart', { payload: base64(2) }, 'restarted'],
  ] as const) {
    const { path, fence } = await claim()
    expect((await ask('POST', `${path}/${verb}`, { ...fence, ...body })).body.kind).toBe(kind)
  }
  const { workerId, workerInstanceId } = worker
  const { grantId } = (await ask('POST', at(id, '/grant'), { workerId, workerInstanceId })).body
  const taken = await ask('POST', at(id, '/claim'), { workerId, workerInstanceId, grantId })
  expect(taken.body).toMatchObject({ executionId: id, payload: base64(2), generation: 1 })
})

test('waits, tokens, links and signals', async () => {
  const { ask, claim, create } = await holding()
  await create()
  const { path, fence } = await claim()
  const made = await ask('POST', `${path}/waitpoints`, { ...fence, key: 'door' })
  expect(made.status).toBe(201)
  const { waitpointId } = made.body
  const door = `/v1/waitpoints/${encodeURIComponent(waitpointId)}`
  expect((await ask('GET', `${path}/waitpoints`)).body.waitpoints).toHaveLength(1)
  expect((await ask('POST', `${door}/token`, {})).body).toMatchObject({ token: made.body.token })
  const condition = { kind: 'signal', waitpoint: 'door' }
  const parked = await ask('POST', `${path}/suspend`, {
    ...fence,
    condition,
    waitpoints: [{ waitpointId }],
    timeout: '1h',
  })
  expect(parked.body.kind).toBe('suspended')
  expect((await ask('GET', '/v1/suspensions')).body.suspensions).toHaveLength(1)
  expect((await ask('GET', `${path}/suspension`)).body).toMatchObject({ condition, closedAt: null })
  const link = { base: 'https://example.com/approve', action: 'yes', refusal: 'no', expiresIn: '1h' }
  const { url } = (await ask('POST', `${door}/link`, link)).body
  const signed = new URL(url).searchParams.get('link')
  expect((await ask('POST', '/v1/waitpoints/describe-link', { link: signed })).body.actions).toEqual(['yes', 'no'])
  expect((await ask('POST', `${path}/signals`, { name: 'early', payload: base64(1) })).body.kind).toBe('accepted')
  const answered = await ask('POST', '/v1/signals/redeem', { link: signed, action: 'no', payload: base64({ why: 1 }) })
  expect(answered.body.effect).toBe('resume_condition_satisfied')
  expect((await ask('GET', `${path}/signals`)).body.signals).toHaveLength(2)
  const { claim: resumed } = await claim()
  expect(resumed).toMatchObject({
    reason: 'resume',
    resumption: { signals: [{ name: 'no', payload: base64({ why: 1 }) }] },
  })
})

test('WPT-11, WPT-14 a list has no token; no cache keeps the token, nor the answer that none exists', async () => {
  const { ask, engine } = await appSetup()
  const { executionId, waitpointId, token } = await waitingFor(engine, 'door')
  const listed = await ask('GET', at(executionId, '/waitpoints'))
  expect(listed.body.waitpoints).toMatchObject([{ waitpointId, tokenKid: token.split(':')[0] }])
  expect(JSON.stringify(listed.body)).not.toContain(token.split(':')[1])
  const tokenOf = (id: string) => ask('POST', `/v1/waitpoints/${encodeURIComponent(id)}/token`, {})
  const found = await tokenOf(waitpointId)
  expect(found).toMatchObject({ status: 200, body: { waitpointId, waitpointKey: 'door', token } })
  const unknown = await tokenOf(formatWaitpointId(7, mintUuid()))
  expect(unknown).toMatchObject({ status: 404, body: { code: 'waitpoint_not_found' } })
  for (const { headers } of [found, unknown]) expect(headers.get('cache-control')).toBe('no-store')
})

test('HTTP-25, HTTP-26 a flow is submitted, extended, read, awaited and cancelled', async () => {
  const { ask } = await appSetup()
  const graph = {
    kind: 'etl',
    stayOpen: true,
    members: [
      { name: 'a', kind: 'x', payload: base64(1) },
      { name: 'b', kind: 'x' },
      { name: 'inner', flow: { kind: 'sub', members: [{ name: 'c', kind: 'x' }] } },
    ],
    edges: [{ upstream: 'a', downstream: 'b' }],
  }
  const { status, body: flow } = await ask('POST', '/v1/flows/submit-graph', graph)
  expect(status).toBe(201)
  const path = `/v1/flows/${encodeURIComponent(flow.flowId)}`
  expect((await ask('GET', path)).body).toMatchObject({ state: 'open', memberCount: 3 })
  expect((await ask('GET', `${path}/graph`)).body.members).toHaveLength(3)
  const { edges } = (await ask('GET', `${path}/edges?to=${encodeURIComponent(flow.members.b)}`)).body
  expect((await ask('GET', `${path}/edges/${edges[0].edgeId}`)).body).toMatchObject({ state: 'pending' })
  expect((await ask('GET', at(flow.members.b, '/eligibility'))).body.kind).toBe('blocked_by_dependencies')
  expect((await ask('GET', at(flow.members.b, '/upstream-results'))).body.results).toMatchObject([{ name: 'a' }])
  expect((await ask('GET', at(flow.members.b, '/flow'))).body).toEqual({ flowId: flow.flowId })
  const added = await ask('POST', `${path}/members`, {
    name: 'd',
    execution: { kind: 'x', lane: 'later', delay: '1h' },
  })
  expect(added).toMatchObject({ status: 201, body: { kind: 'added', memberCount: 4 } })
  const join = { upstream: flow.members.a, downstream: added.body.executionId }
  expect((await ask('POST', `${path}/edges`, join)).status).toBe(201)
  expect((await ask('POST', `${path}/seal`, { downstream: join.downstream })).body.kind).toBe('sealed')
  expect((await ask('PUT', `${path}/tags/team`, { value: 'core' })).status).toBe(204)
  expect((await ask('GET', `${path}/tags/team`)).body).toEqual({ value: 'core' })
  expect((await ask('POST', `${path}/close`, {})).body.kind).toBe('closed')
  expect(await ask('GET', `${path}/wait?timeout=1`)).toMatchObject({ status: 504, body: { code: 'wait_timed_out' } })
  expect((await ask('POST', `${path}/cancel`, { wait: '1m' })).body).toMatchObject({ kind: 'cancelled' })
  expect((await ask('GET', `${path}/wait?timeout=10s`)).body.state).toBe('cancelled')
  expect((await ask('GET', `${path}/timeline`)).body.events.length).toBeGreaterThan(1)
  expect((await ask('GET', '/v1/flows?state=cancelled')).body.flows.length).toBeGreaterThan(0)
})

test('schedules, workers, lanes and keys', async () => {
  const { ask } = await appSetup()
  const path = '/v1/schedules/nightly%20report'
  const put = await ask('PUT', path, { kind: 'report', cron: '0 3 * * *', payload: base64({ day: 1 }) })
  expect(put).toMatchObject({ status: 201, body: { kind: 'created', scheduleId: 'nightly report' } })
  expect((await ask('GET', path)).body).toMatchObject({ payload: base64({ day: 1 }), state: 'active' })
  expect((await ask('POST', `${path}/pause`, {})).body.kind).toBe('paused')
  expect((await ask('POST', `${path}/resume`, {})).body.kind).toBe('resumed')
  expect((await ask('POST', `${path}/trigger`, {})).body.kind).toBe('fired')
  expect((await ask('GET', '/v1/schedules')).body.schedules).toHaveLength(1)
  expect((await ask('DELETE', `${path}?namespace=default`)).body.kind).toBe('deleted')
  expect((await ask('GET', path)).status).toBe(404)
  const { workerInstanceId: _, ...traits } = worker
  expect((await ask('PUT', '/v1/workers/w-1', traits)).body.kind).toBe('registered')
  expect((await ask('POST', '/v1/workers/w-1/heartbeat', {})).body.kind).toBe('refreshed')
  expect((await ask('GET', '/v1/workers')).body.workers).toHaveLength(1)
  expect((await ask('POST', '/v1/workers/w-1/mark-dead', { reason: 'gone' })).body.kind).toBe('marked')
  expect((await ask('GET', '/v1/lanes')).body.lanes).toMatchObject([{ lane: 'default' }])
  expect((await ask('GET', '/v1/time')).body.serverTime).toEqual(expect.any(Number))
  expect((await ask('GET', '/v1/leases/expired')).body.leases).toEqual([])
})

test('HTTP-28 signing keys are rotated and listed, and a bad one is refused', async () => {
  const { ask } = await appSetup()
  const rotated = await ask('POST', '/v1/signing-keys/rotate', { kid: 'new', secret: 'ab'.repeat(32) })
  expect(rotated.body).toMatchObject({ kind: 'rotated', kid: 'new' })
  expect((await ask('GET', '/v1/signing-keys')).body.signingKeys[0]).toMatchObject({ kid: 'new', isActive: true })
  const bad = await ask('POST', '/v1/signing-keys/rotate', { kid: 'a:b', secret: 'ab' })
  expect(bad).toMatchObject({ status: 400, body: { code: 'invalid_kid' } })
})

test('HTTP-21 a claim without any useful field is a 400', async () => {
  const { ask } = await appSetup()
  for (const wrong of [{ workerId: '' }, { lanes: ['x'.repeat(65)] }, { leaseTtl: 0 }, { wait: '2m' }, { max: 0 }]) {
    expect((await ask('POST', '/v1/executions/claim', { ...worker, ...wrong })).status).toBe(400)
  }
})
