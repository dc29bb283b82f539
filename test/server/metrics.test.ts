import { Registry } from 'prom-client'
import { expect, test, vi } from 'vitest'
import type { Engine } from '../../src/engine/contract.ts'
import { delayedPromoter } from '../../src/engine/duties/delayed-promoter.ts'
import { createApp, type App } from '../../src/server/app.ts'
import { LaneMetrics } from '../../src/server/lane-metrics.ts'
import { appSetup, asking } from './app-setup.ts'
import { waitingFor } from './suspended.ts'

async function scrape(app: App, headers = {}) {
  const response = await app.fetch(new Request('http://localhost/metrics', { headers }))
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}

test('HTTP-03, FAULT-06 metrics report requests, lanes, waits, leases and signals', async () => {
  const { app, ask, engine } = await appSetup()
  // Executions that end before the first scrape are not counted.
  await scrape(app)
  const { executionId, waitpointId, token } = await waitingFor(engine, 'door')
  await ask('POST', `/v1/waitpoints/${encodeURIComponent(waitpointId)}/signals`, { name: 'go', token })
  await engine.executions.create({ kind: 'a', lane: 'slow' })
  const lease = { executionId, leaseId: '0190a000-0000-7000-8000-000000000000', leaseEpoch: 1 }
  await ask('POST', '/v1/executions/renew', { workerInstanceId: 'w-1', leases: [lease] })
  const retry = { attempts: 2, backoff: { type: 'fixed', delayMs: 1000 } } as const
  await engine.executions.create({ kind: 'a', lane: 'retried', policy: { retry } })
  const { claims } = await engine.executions.claim({ workerId: 'w', workerInstanceId: 'w-1', lanes: ['retried'] })
  const { leaseId, leaseEpoch } = claims[0]!
  const failed = { executionId: claims[0]!.executionId, leaseId, leaseEpoch, reason: 'no' }
  expect((await ask('POST', '/v1/executions/fail', { items: [failed, {}] })).status).toBe(200)
  await ask('GET', '/v1/nothing')
  const other = createApp(engine, { authenticate: null })
  const [fresh, same] = [await scrape(other), await scrape(app)]
  expect(fresh.type).toContain('text/plain')
  expect(fresh.text).toContain('ff_queue_depth{lane="slow",state="ready"} 1')
  expect(fresh.text).toMatch(/ff_queue_oldest_age_seconds\{lane="slow"\} \d/)
  for (const line of [
    'ff_signals_total{effect="resume_condition_satisfied"} 1',
    'ff_lease_renewal_total{outcome="error"} 1',
    'ff_attempt_retry_total 1',
    'ff_http_requests_total{method="GET",path="unknown",status="404"} 1',
    'ff_http_requests_total{method="POST",path="/v1/executions/renew",status="200"} 1',
  ]) {
    expect(same.text).toContain(line)
  }
})

test('metrics measure lanes: ready, delayed and active executions, and how long the ended ones took', async () => {
  const { engine, clock, ask } = await appSetup()
  const { endedUntil } = await engine.lanes.measure()
  await engine.executions.create({ kind: 'a', lane: 'other', delay: '1h' })
  const { executionId } = await engine.executions.create({ kind: 'a' })
  await clock.advance('10s')
  const { claims } = await engine.executions.claim({ workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'] })
  await clock.advance('5s')
  const { leaseId, leaseEpoch } = claims[0]!
  await engine.executions.complete({ executionId, leaseId, leaseEpoch })
  await engine.executions.create({ kind: 'a' })
  const { body: early } = await ask('GET', `/v1/lanes/measure?endedAfter=${endedUntil}`)
  expect(early.endings).toEqual([])
  await clock.advance('2s')
  await engine.executions.create({ kind: 'a', lane: 'held' })
  await engine.executions.claim({ workerId: 'w', workerInstanceId: 'w-1', lanes: ['held'] })
  const { body } = await ask('GET', `/v1/lanes/measure?endedAfter=${early.endedUntil}`)
  expect(body.lanes).toMatchObject([
    { lane: 'default', ready: { count: 1, orMore: false }, delayed: { count: 0 }, suspended: { count: 0 } },
    { lane: 'held', ready: { count: 0 }, active: { count: 1, orMore: false } },
    { lane: 'other', ready: { count: 0 }, oldestReadyAt: null, delayed: { count: 1 }, active: { count: 0 } },
  ])
  expect(body.endings).toHaveLength(1)
  const { outcome, count, wait, run } = body.endings[0]
  expect([outcome, count, wait.count, run.count]).toEqual(['success', 1, 1, 1])
  expect([Math.round(wait.totalMs / 1000), Math.round(run.totalMs / 1000)]).toEqual([10, 5])
  // More than ten seconds and less than a minute; more than five and less than ten.
  expect(wait.atMost).toEqual([0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1])
  expect(run.atMost).toEqual([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1])
  expect((await engine.lanes.measure()).endings).toEqual([])
})

test('a fault is counted by its route and code', async () => {
  const { engine } = await appSetup()
  const broken = { ...engine, serverTime: () => Promise.reject(new TypeError('no')), as: () => broken } as Engine
  const app = createApp(broken, { authenticate: null })
  expect((await asking(app)('GET', '/v1/time')).status).toBe(500)
  const { text } = await scrape(app)
  expect(text).toContain('# HELP ff_backend_errors_total Faults, by route and code.')
  expect(text).toContain('ff_backend_errors_total{op="/v1/time",kind="internal_error"} 1')
})

test('on a server with keys, metrics need one of all namespaces; they can be opened, or switched off', async () => {
  const { engine } = await appSetup()
  const bearer = async (traits: object) => {
    const { key } = await engine.apiKeys.create({ name: 'p', scopes: ['read'], ...traits })
    return { authorization: `Bearer ${key}` }
  }
  const app = createApp(engine)
  expect((await scrape(app)).status).toBe(401)
  const bound = await scrape(app, await bearer({ namespace: 'a' }))
  expect(bound).toMatchObject({ status: 403, text: expect.stringContaining('this key is of a alone') })
  expect((await scrape(app, await bearer({}))).status).toBe(200)
  expect((await scrape(createApp(engine, { metrics: 'open' }))).status).toBe(200)
  expect((await asking(createApp(engine, { metrics: false }))('GET', '/metrics')).status).toBe(404)
})

test('endings anywhere are counted by lane and outcome, with their retries, wait time and run time', async () => {
  const { engine, clock, app, sql } = await appSetup()
  await scrape(app)
  const retry = { attempts: 2, backoff: { type: 'fixed', delayMs: 0 } } as const
  await engine.executions.create({ kind: 'a', lane: 'l', policy: { retry } })
  await engine.executions.create({ kind: 'b', lane: 'l' })
  await clock.advance('3s')
  await failAll(engine, 'l')
  await clock.advance('30s')
  await delayedPromoter.runOnce(sql)
  await failAll(engine, 'l')
  await clock.advance('3s')
  const text = await scrapeLater(app)
  for (const line of [
    'ff_attempt_outcome_total{lane="l",outcome="error"} 2',
    'ff_attempt_outcome_total{lane="l",outcome="retry"} 1',
    'ff_execution_wait_seconds_bucket{lane="l",le="1"} 0',
    'ff_execution_wait_seconds_bucket{lane="l",le="5"} 2',
    'ff_execution_wait_seconds_bucket{lane="l",le="+Inf"} 2',
    'ff_execution_wait_seconds_count{lane="l"} 2',
    'ff_execution_duration_seconds_bucket{lane="l",outcome="error",le="10"} 1',
    'ff_execution_duration_seconds_bucket{lane="l",outcome="error",le="60"} 2',
  ]) {
    expect(text).toContain(line)
  }
})

test('FAULT-06 metrics report grants, rules over edges, and cancelled siblings', async () => {
  const { engine, clock, app, ask, dispatched } = await appSetup()
  await scrape(app)
  const { body } = await ask('POST', '/v1/flows/submit-graph', {
    kind: 'f',
    members: [
      { name: 'a', kind: 'a' },
      { name: 'b', kind: 'b' },
      { name: 'c', kind: 'c' },
    ],
    edges: [
      { upstream: 'a', downstream: 'c' },
      { upstream: 'b', downstream: 'c' },
    ],
    groups: [{ downstream: 'c', policy: { kind: 'any_of' } }],
  })
  const executionId = body.members.a
  const holder = { executionId, workerId: 'w', workerInstanceId: 'w-1' }
  const one = `/v1/executions/${encodeURIComponent(executionId)}`
  const { body: granted } = await ask('POST', `${one}/grant`, holder)
  const { body: claim } = await ask('POST', `${one}/claim`, { ...holder, grantId: granted.grantId })
  const { leaseId, leaseEpoch } = claim
  await engine.executions.complete({ executionId, leaseId, leaseEpoch })
  await dispatched()
  await clock.advance('3s')
  const text = await scrapeLater(app)
  for (const line of [
    'ff_edge_group_policy_total{policy="any_of"} 1',
    'ff_claim_from_grant_duration_seconds_count{lane="default"} 1',
    'ff_sibling_cancel_dispatched_total{reason="sibling_quorum_satisfied"} 1',
    'ff_attempt_outcome_total{lane="default",outcome="cancelled"} 1',
    'ff_cancel_backlog_depth 0',
    'ff_queue_depth{lane="default",state="ready"} 1',
  ]) {
    expect(text).toContain(line)
  }
})

test('a lane beyond the limit is reported as "other"', async () => {
  const { engine } = await appSetup()
  const lanes = new LaneMetrics(engine, new Registry())
  for (let i = 0; i < 200; i++) expect(lanes.known({ lane: `l-${i}` })).toBe(`l-${i}`)
  expect(lanes.known({ lane: 'one-more' })).toBe('other')
  expect(lanes.known({ lane: 'l-7' })).toBe('l-7')
})

/** Scrapes as if the last measures had expired. */
async function scrapeLater(app: App): Promise<string> {
  const now = performance.now.bind(performance)
  const later = vi.spyOn(performance, 'now').mockImplementation(() => now() + 11_000)
  const { text } = await scrape(app)
  later.mockRestore()
  return text
}

async function failAll(engine: Engine, lane: string): Promise<void> {
  const { claims } = await engine.executions.claim({ workerId: 'w', workerInstanceId: 'w-1', lanes: [lane], max: 10 })
  await engine.executions.failMany(
    claims.map(({ executionId, leaseId, leaseEpoch }) => ({ executionId, leaseId, leaseEpoch, reason: 'no' })),
  )
}
