// A worker that runs by itself, on the real clock, with leases of some hundred milliseconds. Every test waits for a fact.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import type { Engine } from '../../src/engine/contract.ts'
import { leaseExpiry } from '../../src/engine/duties/lease-expiry.ts'
import { EngineError } from '../../src/model/errors.ts'
import { task } from '../../src/worker/task.ts'
import { Worker } from '../../src/worker/worker.ts'
import { setup } from '../support/setup.ts'
import { working } from './working.ts'

/** Handlers that wait until the test releases them, and what they observe of their end. */
function gated() {
  const gates: (() => void)[] = []
  const aborted: unknown[] = []
  const gate = task('gate', { retry: { attempts: 1 } }, async (ctx) => {
    ctx.abort.addEventListener('abort', () => aborted.push(ctx.abort.reason))
    await new Promise<void>((resolve) => gates.push(resolve))
    return 'done'
  })
  return { gate, gates, aborted }
}

const fast = { interval: 10 }

test('SDK-03 a worker never exceeds its concurrency', async () => {
  const { gate, gates } = gated()
  const { submit, worker } = await working([gate], { concurrency: 2 })
  const runs = [await submit(gate), await submit(gate), await submit(gate)]
  await worker.start()
  await expect.poll(() => gates.length, fast).toBe(2)
  expect(worker.running).toBe(2)
  expect(await runs[2]!.state()).toBe('waiting')
  gates[0]!()
  await expect.poll(() => gates.length, fast).toBe(3)
  gates.forEach((open) => open())
  expect(await Promise.all(runs.map((run) => run.result()))).toEqual(['done', 'done', 'done'])
})

test('a worker claims short runs ahead of its slots and gives them back when it stops; it never claims long ones ahead', async () => {
  const { gate, gates } = gated()
  const quick = task('quick', async () => {})
  const { submit, worker, engine } = await working([gate, quick], { concurrency: 2, prefetch: 3 })
  await Promise.all(Array.from({ length: 20 }, () => submit(quick).then((run) => run.id)))
  await worker.start()
  await expect.poll(async () => (await engine.executions.countByState()).completed.count, fast).toBe(20)
  await Promise.all(Array.from({ length: 10 }, () => submit(gate)))
  await expect.poll(async () => (await engine.executions.countByState()).active.count, fast).toBe(5)
  expect(worker.running).toBe(2)
  const stopped = worker.stop({ grace: '1m' })
  await expect.poll(async () => (await engine.executions.countByState()).active.count, fast).toBe(2)
  gates.forEach((open) => open())
  await stopped
  expect(await engine.executions.countByState()).toMatchObject({ completed: { count: 22 }, waiting: { count: 8 } })
})

test('SDK-01 a worker renews the leases of its runs several times, and loses none', async () => {
  const { gate, gates, aborted } = gated()
  const { submit, worker, engine } = await working([gate], { leaseTtl: 1500 })
  const runs = [await submit(gate), await submit(gate)]
  await worker.start()
  await expect.poll(() => gates.length, fast).toBe(2)
  const renewals = async (): Promise<number> => {
    const { events } = await engine.events.timeline(runs[0]!.id)
    return events.filter((event) => event.kind === 'renewed').length
  }
  await expect.poll(renewals, fast).toBeGreaterThan(4)
  expect(aborted).toEqual([])
  expect(worker.leaseHealth).toEqual({ isHealthy: true, failureCount: 0 })
  gates.forEach((open) => open())
  expect(await runs[0]!.result()).toBe('done')
  const { events } = await engine.events.timeline(runs[0]!.id)
  expect(events.filter((event) => event.kind === 'acquired')).toHaveLength(1)
})

test('SDK-02 a worker reports unhealthy while renewals fail in a row, and healthy after one that succeeds', async () => {
  const { gate, gates } = gated()
  const { engine } = await setup()
  let isBroken = false
  const renewing: Engine = {
    ...engine,
    executions: {
      ...engine.executions,
      renew: (request) =>
        isBroken ? Promise.reject(new EngineError('database_unreachable', 'gone')) : engine.executions.renew(request),
    },
  }
  // Long enough that the lease is not lost meanwhile on any machine: a lost lease would leave nothing to renew.
  const worker = new Worker({ tasks: [gate], leaseTtl: 9000, handleSignals: false }, { engine: renewing })
  onTestFinished(() => worker.stop({ grace: 0 }))
  await engine.executions.create({ kind: 'gate' })
  await worker.start()
  await expect.poll(() => gates.length, fast).toBe(1)
  isBroken = true
  await expect.poll(() => worker.leaseHealth.failureCount, fast).toBeGreaterThanOrEqual(1)
  isBroken = false
  await expect.poll(() => worker.leaseHealth, fast).toEqual({ isHealthy: true, failureCount: 0 })
  gates[0]!()
})

test('a lease that cannot be renewed before it expires is lost: the run is aborted, and its result is dropped', async () => {
  const { gate, gates, aborted } = gated()
  const { engine, sql } = await setup()
  let isBroken = true
  const unlessBroken = <T>(ask: () => Promise<T>): Promise<T> =>
    isBroken ? Promise.reject(new EngineError('database_unreachable', 'gone')) : ask()
  const renewing: Engine = {
    ...engine,
    executions: { ...engine.executions, renew: (request) => unlessBroken(() => engine.executions.renew(request)) },
    leases: { ...engine.leases, check: (request) => unlessBroken(() => engine.leases.check(request)) },
  }
  const worker = new Worker({ tasks: [gate], leaseTtl: 1500, handleSignals: false }, { engine: renewing })
  onTestFinished(() => worker.stop({ grace: 0 }))
  const { executionId } = await engine.executions.create({ kind: 'gate' })
  await worker.tick()
  expect(aborted).toMatchObject([{ code: 'lease_expired' }])
  expect(worker.leaseHealth.isHealthy).toBe(false)
  expect(worker.running).toBe(0)
  gates[0]!()
  await expect.poll(async () => (await leaseExpiry.runOnce(sql)).processed, fast).toBe(1)
  expect(await engine.executions.describe(executionId)).toMatchObject({ publicState: 'waiting' })
  // The failed run is gone: the worker is healthy again at its next claim, not only at its next renewal.
  isBroken = false
  const again = worker.tick()
  await expect.poll(() => gates.length, fast).toBe(2)
  expect(worker.leaseHealth).toEqual({ isHealthy: true, failureCount: 0 })
  gates[1]!()
  await again
})

test('a cancel reaches running code within about a second, and its result is dropped', async () => {
  const { gate, gates, aborted } = gated()
  const { submit, worker, engine } = await working([gate])
  const run = await submit(gate)
  await worker.start()
  await expect.poll(() => gates.length, fast).toBe(1)
  await run.cancel({ reason: 'no longer needed' })
  await expect.poll(() => aborted, fast).toMatchObject([{ code: 'execution_not_active' }])
  await expect.poll(() => worker.running, fast).toBe(0)
  gates[0]!()
  await expect(run.result()).rejects.toMatchObject({ code: 'execution_cancelled' })
  expect(await engine.executions.result(run.id)).toMatchObject({ kind: 'cancelled' })
})

test('a cancel with grace aborts the code first, and the code may finish', async () => {
  const { gate, gates, aborted } = gated()
  const { submit, worker } = await working([gate])
  const run = await submit(gate)
  await worker.start()
  await expect.poll(() => gates.length, fast).toBe(1)
  await run.cancel({ grace: '1m' })
  await expect.poll(() => aborted, fast).toMatchObject([{ code: 'execution_cancelled' }])
  gates[0]!()
  expect(await run.result()).toBe('done')
})

test('SDK-15 a run whose lease was revoked is aborted and frees its slot, and another worker claims it', async () => {
  const { gate, gates, aborted } = gated()
  const { submit, worker, another, engine } = await working([gate], { concurrency: 1 })
  const run = await submit(gate)
  await worker.start()
  await expect.poll(() => gates.length, fast).toBe(1)
  await worker.stop({ grace: 0 })
  expect(aborted).toHaveLength(1)
  expect(worker.running).toBe(0)
  expect(await run.state()).toBe('waiting')
  const next = another({})
  await next.start()
  await expect.poll(() => gates.length, fast).toBe(2)
  gates[1]!()
  expect(await run.result()).toBe('done')
  const { events } = await engine.events.timeline(run.id)
  expect(events.map((event) => event.kind)).toEqual(['acquired', 'released', 'acquired', 'ended'])
})

test('a stop lets running work finish, claims nothing more, and returns when it is done', async () => {
  const { gate, gates } = gated()
  const { submit, worker } = await working([gate])
  const run = await submit(gate)
  await worker.start()
  await expect.poll(() => gates.length, fast).toBe(1)
  const stopped = worker.stop({ grace: '1m' })
  const late = await submit(gate)
  await sleep(50)
  gates[0]!()
  await stopped
  expect(await run.result()).toBe('done')
  expect(await late.state()).toBe('waiting')
  await expect(worker.start()).rejects.toMatchObject({ code: 'engine_closed' })
  await worker.stop()
})

test('a worker continues after a claim that fails', async () => {
  const plain = task('plain', () => 'done')
  const { engine } = await setup()
  let failures = 3
  const flaky: Engine = {
    ...engine,
    executions: {
      ...engine.executions,
      claim: (request) =>
        failures-- > 0
          ? Promise.reject(new EngineError('database_unavailable', 'gone'))
          : engine.executions.claim(request),
    },
  }
  const warnings: string[] = []
  const logger = { debug() {}, info() {}, error() {}, warn: (message: string) => void warnings.push(message) }
  const worker = new Worker({ tasks: [plain], handleSignals: false, logger }, { engine: flaky })
  onTestFinished(() => worker.stop({ grace: 0 }))
  const { executionId } = await engine.executions.create({ kind: 'plain' })
  await worker.start()
  expect(await engine.executions.result(executionId, { wait: '1m' })).toMatchObject({ kind: 'completed' })
  expect(warnings).toEqual(['the worker cannot claim work and retries: gone', 'the worker claims work again'])
})

test('runs that were claimed by a call whose answer was lost are given back', async () => {
  const { gate, gates } = gated()
  const { submit, worker, engine } = await working([gate], { leaseTtl: 3000 })
  const run = await submit(gate)
  await worker.start()
  await expect.poll(() => gates.length, fast).toBe(1)
  const lost = await submit(gate, undefined, { lane: 'elsewhere' })
  await engine.executions.claim({
    workerId: 'w',
    workerInstanceId: worker.instanceId,
    lanes: ['elsewhere'],
    leaseTtl: '1h',
  })
  expect(await lost.state()).toBe('active')
  // Nothing is given back while a claim is under way, and an idle worker always has one; so it is stopped in the middle.
  const stopped = worker.stop({ grace: '1m' })
  await expect.poll(() => lost.state(), fast).toBe('waiting')
  gates[0]!()
  await stopped
  expect(await run.result()).toBe('done')
})
