// Children of a parent that is retried: a new attempt creates a new child only where the last one failed.
import { expect, test } from 'vitest'
import type { Engine } from '../../src/engine/contract.ts'
import { EngineError } from '../../src/model/errors.ts'
import type { ExecutionId } from '../../src/model/id.ts'
import { task } from '../../src/worker/task.ts'
import { Worker } from '../../src/worker/worker.ts'
import { working } from './working.ts'

const atOnce = (attempts: number) => ({ attempts, backoff: { type: 'fixed', delayMs: 0 } }) as const
const once = { attempts: 1 } as const

/** Runs all ready executions until the parent has ended; a child's ending wakes it after the commit. */
async function untilEnded(engine: Engine, worker: Worker, id: ExecutionId): Promise<void> {
  const hasEnded = async (): Promise<boolean> => {
    await worker.tick()
    return (await engine.executions.result(id))?.kind !== 'pending'
  }
  await expect.poll(hasEnded, { interval: 10 }).toBe(true)
}

test('a parent that is retried after its child failed gets another child', async () => {
  let runs = 0
  const flaky = task('flaky', { retry: once }, (_, parentAttempt: number) => {
    runs += 1
    if (runs < 3) throw new Error('not yet')
    return parentAttempt
  })
  const parent = task('parent', { retry: atOnce(5) }, async (ctx) => ctx.run(flaky, ctx.attemptIndex))
  const { submit, worker, engine } = await working([parent, flaky])
  const run = await submit(parent)
  await untilEnded(engine, worker, run.id)
  expect(await run.result()).toBe(2)
  expect((await engine.executions.list({ parentId: run.id })).executions).toHaveLength(3)
})

test('later attempts keep a child that succeeded, beside one that is created again', async () => {
  let runs = 0
  const good = task('good', () => (runs += 1))
  const bad = task('bad', { retry: once }, (_, isFirst: boolean) => {
    if (isFirst) throw new Error('not yet')
  })
  const parent = task('parent', { retry: atOnce(2) }, async (ctx) => {
    const value = await ctx.run(good)
    await ctx.run(bad, ctx.attemptIndex === 0)
    return value
  })
  const { submit, worker, engine } = await working([parent, good, bad])
  const run = await submit(parent)
  await untilEnded(engine, worker, run.id)
  expect([await run.result(), runs]).toEqual([1, 1])
})

test('a retried parent finds a child that was created but not recorded, also when the code gives it another input', async () => {
  const given: number[] = []
  const child = task('child', (_, value: number) => void given.push(value))
  let value = 0
  const parent = task('parent', { retry: atOnce(3) }, async (ctx) => ctx.run(child, (value += 1)))
  const { submit, engine, worker } = await working([parent, child])
  const record: Engine['steps']['record'] = (request) =>
    request.kind === 'child' ? Promise.reject(new EngineError('database_error', 'gone')) : engine.steps.record(request)
  const cut = new Worker(
    { tasks: [parent], handleSignals: false },
    { engine: { ...engine, steps: { ...engine.steps, record } } },
  )
  const run = await submit(parent)
  await cut.tick()
  await cut.stop({ grace: 0 })
  await untilEnded(engine, worker, run.id)
  await run.result()
  expect(value).toBeGreaterThan(1)
  expect(given).toEqual([1])
})

test('an attempt finds the child that the attempt before created after a failure and did not record', async () => {
  let runs = 0
  const flaky = task('flaky', { retry: once }, () => {
    runs += 1
    if (runs === 1) throw new Error('not yet')
  })
  const parent = task('parent', { retry: atOnce(5) }, async (ctx) => ctx.run(flaky))
  const { submit, engine } = await working([parent, flaky])
  let madeCount = 0
  const record: Engine['steps']['record'] = (request) => {
    if (request.state === 'pending') madeCount += 1
    return request.state === 'pending' && madeCount === 2
      ? Promise.reject(new EngineError('database_error', 'gone'))
      : engine.steps.record(request)
  }
  const cut = new Worker(
    { tasks: [parent, flaky], handleSignals: false },
    { engine: { ...engine, steps: { ...engine.steps, record } } },
  )
  const run = await submit(parent)
  await untilEnded(engine, cut, run.id)
  await cut.stop({ grace: 0 })
  await run.result()
  expect([madeCount, runs]).toEqual([3, 2])
  expect((await engine.executions.list({ parentId: run.id })).executions).toHaveLength(2)
})
