// A handler that never yields, on the real clock: the event loop is blocked, and with it every renewal of the process.
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { leaseExpiry } from '../../src/engine/duties/lease-expiry.ts'
import type { Logger } from '../../src/sql/logger.ts'
import { task } from '../../src/worker/task.ts'
import { Worker } from '../../src/worker/worker.ts'
import { setup } from '../support/setup.ts'

const fast = { interval: 10 }

function block(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

test('a worker warns of a handler that never yields, counts its late lease as lost and drops its result', async () => {
  const { engine, sql } = await setup()
  const warnings: string[] = []
  const logger: Logger = { debug() {}, info() {}, error() {}, warn: (message) => void warnings.push(message) }
  const seen: { isAborted: boolean; runs: number } = { isAborted: false, runs: 0 }
  const greedy = task('greedy', { retry: { attempts: 1 } }, async (ctx) => {
    seen.runs += 1
    if (seen.runs > 1) return 'the second one'
    block(700)
    // When the handler first yields, its run is aborted because the lease is over.
    await sleep(1)
    await new Promise<void>((resolve) => {
      if (ctx.abort.aborted) resolve()
      else ctx.abort.addEventListener('abort', () => resolve())
    })
    seen.isAborted = true
    return 'the first one'
  })
  const worker = new Worker({ tasks: [greedy], leaseTtl: 300, handleSignals: false, logger }, { engine })
  onTestFinished(() => worker.stop({ grace: 0 }))
  const { executionId } = await engine.executions.create({ kind: 'greedy' })
  await worker.tick()
  await expect.poll(() => seen.isAborted, fast).toBe(true)
  expect(warnings).toContainEqual(expect.stringMatching(/^the event loop was blocked for \d+ ms; leases last 300 ms/))
  expect(await engine.executions.result(executionId)).toMatchObject({ kind: 'pending' })
  // On a busy machine a run that does not block may lose such a short lease too.
  const runAgain = async (): Promise<unknown> => {
    await leaseExpiry.runOnce(sql)
    await worker.tick()
    return (await engine.executions.result(executionId))?.kind
  }
  await expect.poll(runAgain, fast).toBe('completed')
  const result = await engine.executions.result(executionId)
  expect(new TextDecoder().decode((result as { result: Uint8Array }).result)).toBe('"the second one"')
})

test('a worker gives back a run that it claimed ahead and has no slot for, and other workers can claim it', async () => {
  const { engine } = await setup()
  const gates: (() => void)[] = []
  let isQuick = true
  const turning = task('turning', () => {
    if (isQuick) return
    return new Promise<void>((resolve) => gates.push(resolve))
  })
  const worker = new Worker({ tasks: [turning], concurrency: 1, leaseTtl: 1500, handleSignals: false }, { engine })
  onTestFinished(() => worker.stop({ grace: 0 }))
  onTestFinished(() => gates.forEach((open) => open()))
  for (let each = 1; each <= 20; each += 1) await engine.executions.create({ kind: 'turning' })
  await worker.start()
  const count = async () => {
    const states = await engine.executions.countByState()
    return { active: states.active.count, completed: states.completed.count }
  }
  await expect.poll(count, fast).toEqual({ active: 0, completed: 20 })
  isQuick = false
  await engine.executions.createMany(Array.from({ length: 5 }, () => ({ kind: 'turning' })))
  await expect.poll(() => gates.length, fast).toBe(1)
  await expect.poll(count, fast).toEqual({ active: 1, completed: 20 })
  expect(worker.running).toBe(1)
})
