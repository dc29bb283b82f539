import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { task } from '../../src/worker/task.ts'
import { working } from './working.ts'

test('a grace can be longer than a timer allows, and a second stop with an earlier end replaces the first', async () => {
  let isRunning = false
  const hangs = task('hangs', () => {
    isRunning = true
    return new Promise<void>(() => {})
  })
  const { submit, worker } = await working([hangs])
  const run = await submit(hangs)
  await worker.start()
  await expect.poll(() => isRunning, { interval: 10 }).toBe(true)
  const stopped = worker.stop({ grace: '30d' })
  for (let turn = 0; turn < 20; turn += 1) await sleep(5)
  expect(await run.state()).toBe('active')
  await worker.stop({ grace: 0 })
  await stopped
  expect(await run.state()).toBe('waiting')
})

test('a worker of ten thousand slots requests no more than a claim can take, however short its runs are', async () => {
  const quick = task('quick', () => 'done')
  const warnings: string[] = []
  const logger = { debug() {}, info() {}, error() {}, warn: (message: string) => void warnings.push(message) }
  const { submit, worker } = await working([quick], { concurrency: 10_000, prefetch: 10_000, logger })
  await worker.start()
  // The number of runs to claim ahead is derived from runs that have ended.
  for (let count = 0; count < 20; count += 1) expect(await (await submit(quick)).result()).toBe('done')
  expect(warnings).toEqual([])
})
