// Requests that the current state does not permit: their answers over HTTP, and whether a retry may help.
import pg from 'pg'
import { expect, inject, test } from 'vitest'
import { openEngine } from '../../src/engine/engine.ts'
import type { Engine } from '../../src/engine/contract.ts'
import { leaseExpiry } from '../../src/engine/duties/lease-expiry.ts'
import { createApp } from '../../src/server/app.ts'
import { silent } from '../../src/sql/logger.ts'
import { appSetup, asking, type Asked } from './app-setup.ts'
import * as stored from '../support/stored.ts'

const worker = { workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'] }
const at = (id: string, rest = ''): string => `/v1/executions/${encodeURIComponent(id)}${rest}`
const refusalOf = ({ status, body: { code, retryable } }: Asked) => ({ status, code, retryable })
const final = (code: string) => ({ status: 409, code, retryable: false })

test('HTTP-06 a conflict is a 409 with its own code, and is not retryable', async () => {
  const { ask } = await appSetup()
  const { body: flow } = await ask('POST', '/v1/flows/submit-graph', {
    kind: 'f',
    stayOpen: true,
    members: ['a', 'b', 'c'].map((name) => ({ name, kind: 'x' })),
    edges: [{ upstream: 'a', downstream: 'b' }],
  })
  const path = `/v1/flows/${encodeURIComponent(flow.flowId)}`
  const { a, b } = flow.members
  const back = await ask('POST', `${path}/edges`, { upstream: b, downstream: a })
  expect(refusalOf(back)).toEqual(final('cycle_detected'))
  const other = await ask('POST', `${path}/edges`, { upstream: a, downstream: b, kind: 'on_failure' })
  expect(refusalOf(other)).toEqual(final('edge_exists'))
  const stale = await ask('POST', `${path}/members`, { name: 'd', execution: { kind: 'x' }, expectedRevision: 99 })
  expect(refusalOf(stale)).toEqual(final('stale_graph_revision'))
  const key = { kid: 'k', secret: 'ab'.repeat(32) }
  await ask('POST', '/v1/signing-keys/rotate', key)
  const clash = await ask('POST', '/v1/signing-keys/rotate', { ...key, secret: 'cd'.repeat(32) })
  expect(refusalOf(clash)).toEqual(final('rotation_conflict'))
  const { body } = await ask('POST', '/v1/executions/claim', worker)
  const { workerId, workerInstanceId } = worker
  const held = await ask('POST', at(body.claims[0].executionId, '/grant'), { workerId, workerInstanceId })
  expect(refusalOf(held)).toEqual(final('execution_not_runnable'))
})

test.runIf(inject('backend') === 'postgres')(
  'HTTP-07 contention is a retryable 409, and the retry succeeds',
  async () => {
    const { ask, engine, url } = await appSetup()
    const { executionId } = await engine.executions.create({ kind: 'a' })
    const other = new pg.Client(url)
    await other.connect()
    await other.query('begin')
    await other.query(stored.executions.lockingRows('update'))
    const held = await ask('POST', at(executionId, '/cancel'), {})
    await other.end()
    expect(refusalOf(held)).toEqual({ status: 409, code: 'contended', retryable: true })
    expect((await ask('POST', at(executionId, '/cancel'), {})).body.kind).toBe('cancelled')
  },
)

test('HTTP-10 a state that does not permit the operation is a 409 that names the state', async () => {
  const { ask, engine } = await appSetup()
  const { executionId } = await engine.executions.create({ kind: 'a', policy: { maxReplayCount: 0 } })
  expect(refusalOf(await ask('POST', at(executionId, '/replay'), {}))).toEqual(final('execution_not_terminal'))
  const { claims } = await engine.executions.claim(worker)
  const { leaseId, leaseEpoch } = claims[0]!
  await engine.leases.revoke({ executionId })
  const late = await ask('POST', at(executionId, '/complete'), { leaseId, leaseEpoch })
  expect(refusalOf(late)).toEqual(final('lease_revoked'))
  await engine.executions.cancel({ executionId })
  expect(refusalOf(await ask('POST', at(executionId, '/replay'), {}))).toEqual(final('replay_limit'))
  const ended = await ask('POST', at(executionId, '/signals'), { name: 'n' })
  expect(refusalOf(ended)).toEqual(final('target_not_signalable'))
  const { flowId } = await engine.flows.create({ kind: 'f' })
  await engine.flows.cancel({ flowId })
  const grown = await ask('POST', `/v1/flows/${encodeURIComponent(flowId)}/members`, { execution: { kind: 'a' } })
  expect(refusalOf(grown)).toEqual(final('flow_terminal'))
})

test('HTTP-11 a server whose engine is closed answers 503 to every operation, and is not ready', async () => {
  const { sql } = await appSetup()
  const opened = openEngine(sql)
  await opened.close()
  const ask = asking(createApp(opened.engine, { authenticate: null }))
  for (const [method, path, body] of [
    ['GET', '/v1/executions', undefined],
    ['POST', '/v1/executions', { kind: 'a' }],
  ] as const) {
    const refused = await ask(method, path, body)
    expect(refusalOf(refused)).toEqual({ status: 503, code: 'engine_closed', retryable: false })
  }
  const app = createApp(opened.engine, { authenticate: null })
  expect((await app.fetch(new Request('http://localhost/readyz'))).status).toBe(503)
  expect((await app.fetch(new Request('http://localhost/livez'))).status).toBe(200)
})

test('HTTP-12 a fault of the server is a 500 without internal details; the log has them, with the request id', async () => {
  const { engine } = await appSetup()
  const fault = new TypeError('secret of the house')
  const broken = { ...engine, serverTime: () => Promise.reject(fault), as: () => broken } as Engine
  const lines: string[] = []
  const logger = { ...silent, error: (line: string) => void lines.push(line) }
  const ask = asking(createApp(broken, { authenticate: null, logger }))
  const refused = await ask('GET', '/v1/time', undefined, { 'x-request-id': 'r-1' })
  expect(refusalOf(refused)).toEqual({ status: 500, code: 'internal_error', retryable: false })
  expect(JSON.stringify(refused.body)).not.toContain('secret of the house')
  expect(lines).toHaveLength(1)
  expect(lines[0]).toMatch(/r-1[\s\S]*secret of the house/)
})

test('HTTP-22 an execution with an expired lease is claimed again as a reclaim, one with a live lease is not, and too many expiries end it', async () => {
  const { ask, clock, sql } = await appSetup()
  const policy = { maxReclaimCount: 1 }
  const { body: created } = await ask('POST', '/v1/executions', { kind: 'a', policy })
  const claim = async () => (await ask('POST', '/v1/executions/claim', { ...worker, leaseTtl: '10s' })).body.claims
  const expire = async () => {
    await clock.advance('11s')
    await leaseExpiry.runOnce(sql)
  }
  expect(await claim()).toMatchObject([{ reason: 'first', attemptIndex: 0, leaseEpoch: 1 }])
  expect(await claim()).toEqual([])
  await expire()
  expect(await claim()).toMatchObject([{ reason: 'reclaim', attemptIndex: 0, leaseEpoch: 2 }])
  await expire()
  expect(await claim()).toEqual([])
  const { body } = await ask('GET', at(created.executionId))
  expect(body).toMatchObject({ publicState: 'failed', failureReason: 'reclaim_limit' })
})
