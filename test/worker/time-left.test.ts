// Code that blocked the timers of its process beyond its lease, on the real clock: the worker does not start what comes
// after.
import { readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import type { CreateRequest } from '../../src/engine/execution/create-request.ts'
import { jsonCodec } from '../../src/model/codec.ts'
import type { Logger } from '../../src/sql/logger.ts'
import { task } from '../../src/worker/task.ts'
import { Worker } from '../../src/worker/worker.ts'
import { setup } from '../support/setup.ts'
import { makeFolder } from '../support/temporary-folder.ts'
import { leavesFile } from './threaded.ts'

const silent: Logger = { debug() {}, info() {}, warn() {}, error() {} }

function block(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

const leaseTtl = 1000
const tooLongMs = 1500
const once = { retry: { attempts: 1 } } as const

test('a step does not start when the lease ran out while the code blocked the event loop', async () => {
  const { engine } = await setup()
  const begun: string[] = []
  const greedy = task('greedy', once, async (ctx) => {
    begun.push('handler')
    block(tooLongMs)
    await ctx.step('charge', () => void begun.push('step'))
  })
  const worker = new Worker({ tasks: [greedy], leaseTtl, handleSignals: false, logger: silent }, { engine })
  onTestFinished(() => worker.stop({ grace: 0 }))
  await engine.executions.create({ kind: 'greedy' })
  await worker.tick()
  expect(begun).toEqual(['handler'])
})

test('a handler that waited for a slot does not start when its lease ran out meanwhile', async () => {
  const { engine } = await setup()
  const begun: string[] = []
  const greedy = task('greedy', once, async (ctx) => {
    begun.push(ctx.executionId)
    block(tooLongMs)
  })
  const options = { tasks: [greedy], leaseTtl, concurrency: 2, handleSignals: false, logger: silent }
  const worker = new Worker(options, { engine })
  onTestFinished(() => worker.stop({ grace: 0 }))
  await engine.executions.createMany([{ kind: 'greedy' }, { kind: 'greedy' }])
  await worker.tick()
  expect(begun).toHaveLength(1)
})

test('a handler in a thread does not start when the lease ran out before the thread reached it', async () => {
  const { engine } = await setup()
  const folder = await makeFolder('time-left-', { inMemory: true })
  onTestFinished(() => rm(folder, { recursive: true }))
  const greedy = task('greedy', once, async () => block(tooLongMs))
  const worker = new Worker({ tasks: [leavesFile, greedy], leaseTtl, handleSignals: false, logger: silent }, { engine })
  onTestFinished(() => worker.stop({ grace: 0 }))
  const leave = (name: string): CreateRequest => {
    const { bytes, encoding } = jsonCodec.encode(path.join(folder, name))
    return { kind: 'leaves-file', payload: bytes, payloadEncoding: encoding, priority: 9 }
  }
  // The thread is running before the event loop is blocked.
  await engine.executions.create(leave('first'))
  await worker.tick()
  await engine.executions.createMany([leave('second'), { kind: 'greedy' }])
  await worker.tick()
  expect(await readdir(folder)).toEqual(['first'])
})
