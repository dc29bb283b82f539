import { expect, test } from 'vitest'
import { createApp } from '../../src/server/app.ts'
import { appSetup, asking } from './app-setup.ts'
import { waitingFor } from './suspended.ts'

async function scrape(app: { fetch: (request: Request) => Response | Promise<Response> }, headers = {}) {
  const response = await app.fetch(new Request('http://localhost/metrics', { headers }))
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}

test('HTTP-03, FAULT-06 metrics tell of requests, lanes, waits, leases and signals', async () => {
  const { app, ask, engine } = await appSetup()
  // What ends before the first scrape is history.
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

test('lanes are measured: what is ready, delayed, suspended, and how long what ended took', async () => {
  const { engine, clock, ask } = await appSetup()
  const { now } = await engine.lanes.measure()
  await engine.executions.create({ kind: 'a', lane: 'other', delay: '1h' })
  const { executionId } = await engine.executions.create({ kind: 'a' })
  await clock.advance('10s')
  const { claims } = await engine.executions.claim({ workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'] })
  await clock.advance('5s')
  const { leaseId, leaseEpoch } = claims[0]!
  await engine.executions.complete({ executionId, leaseId, leaseEpoch })
  await engine.executions.create({ kind: 'a' })
  const { body } = await ask('GET', `/v1/lanes/measure?endedAfter=${now}`)
  expect(body.lanes).toMatchObject([
    { lane: 'default', ready: { count: 1, orMore: false }, delayed: { count: 0 }, suspended: { count: 0 } },
    { lane: 'other', ready: { count: 0 }, oldestReadyAt: null, delayed: { count: 1 } },
  ])
  expect(body.endings).toHaveLength(1)
  const { outcome, waitMs, runMs } = body.endings[0]
  expect(outcome).toBe('success')
  expect([Math.round(waitMs / 1000), Math.round(runMs / 1000)]).toEqual([10, 5])
  expect((await engine.lanes.measure()).endings).toEqual([])
})

test('where keys are asked for, metrics need one of all namespaces; they can be opened, or left out', async () => {
  const { engine } = await appSetup()
  const bearer = async (traits: object) => {
    const { key } = await engine.apiKeys.create({ name: 'p', scopes: ['read'], ...traits })
    return { authorization: `Bearer ${key}` }
  }
  const app = createApp(engine)
  expect((await scrape(app)).status).toBe(401)
  expect((await scrape(app, await bearer({ namespace: 'a' }))).status).toBe(403)
  expect((await scrape(app, await bearer({}))).status).toBe(200)
  expect((await scrape(createApp(engine, { metrics: 'open' }))).status).toBe(200)
  expect((await asking(createApp(engine, { metrics: false }))('GET', '/metrics')).status).toBe(404)
})
