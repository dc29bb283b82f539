// Middleware around a handler, when the run suspends or fails in the middle of it.
import { expect, inject, test } from 'vitest'
import type { Engine } from '../../src/engine/contract.ts'
import { EngineError } from '../../src/model/errors.ts'
import type { Middleware } from '../../src/worker/middleware.ts'
import { task } from '../../src/worker/task.ts'
import { Worker } from '../../src/worker/worker.ts'
import { setup } from '../support/setup.ts'
import { atOnce } from './retries.ts'
import { working } from './working.ts'

const reporting: Middleware = async (ctx, next) => {
  try {
    return await next()
  } finally {
    await ctx.progress(100)
  }
}

test('middleware that uses the context of a suspended run holds no slot', async () => {
  const received: string[] = []
  const outermost: Middleware = (_, next) =>
    next().catch((error: unknown) => {
      received.push((error as { how?: string }).how ?? 'threw')
      throw error
    })
  const sleepy = task('sleepy', async (ctx) => {
    await ctx.sleep('short', '1m')
    await ctx.waitFor('answer')
    return 'done'
  })
  const middleware = [reporting, outermost]
  const { submit, worker, after, runAll } = await working([sleepy], { concurrency: 1, middleware })
  const run = await submit(sleepy)
  await worker.tick()
  await after('1m')
  await run.signal('answer')
  await runAll()
  expect(await run.result()).toBe('done')
  expect(worker.running).toBe(0)
  expect(received).toEqual(['delayed', 'suspended'])
})

test('a wait that cannot be made fails the run once, and the middleware around it may still use the context', async () => {
  let asked = 0
  const { engine } = await setup()
  const refusing: Engine = {
    ...engine,
    executions: {
      ...engine.executions,
      trySuspend: () => {
        asked += 1
        return Promise.reject(new EngineError('invalid_condition', 'too deep'))
      },
    },
  }
  const slow: Middleware = async (ctx, next) => {
    try {
      return await next()
    } finally {
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      await ctx.step('tidy', () => {})
    }
  }
  const waits = task('waits', { retry: { attempts: 1 } }, (ctx) => ctx.waitFor('answer').then(() => {}))
  const options = { tasks: [waits], leaseTtl: '1m', handleSignals: false } as const
  const worker = new Worker({ ...options, middleware: [reporting, slow] }, { engine: refusing })
  const { executionId } = await engine.executions.create({ kind: 'waits' })
  await worker.tick()
  await worker.stop()
  expect(await engine.executions.result(executionId)).toMatchObject({ kind: 'failed' })
  expect(asked).toBe(1)
  expect((await engine.steps.list(executionId)).steps.map(({ name }) => name)).toEqual(['tidy'])
})

test('middleware that never ends does not keep a worker from stopping', async () => {
  let isHanging = false
  const hanging: Middleware = async (_, next) => {
    try {
      return await next()
    } finally {
      isHanging = true
      await new Promise(() => {})
    }
  }
  const busy = task('busy', () => new Promise<void>(() => {}))
  const { submit, worker } = await working([busy], { middleware: [hanging] })
  const run = await submit(busy)
  await worker.start()
  await expect.poll(() => worker.running, { interval: 10 }).toBe(1)
  await worker.stop({ grace: 0 })
  expect(isHanging).toBe(true)
  expect(await run.state()).toBe('waiting')
})

// It takes the five seconds that a run has for its end, so once is enough.
test.runIf(inject('backend') === 'embedded')(
  'a schema that never answers does not keep a worker from stopping',
  async () => {
    let isAsked = false
    const validate = (): Promise<never> => {
      isAsked = true
      return new Promise(() => {})
    }
    const input = { '~standard': { version: 1, vendor: 'test', validate } } as const
    const stuck = task('stuck', { input }, () => {})
    const warnings: string[] = []
    const logger = { debug() {}, info() {}, error() {}, warn: (message: string) => void warnings.push(message) }
    const { engine, worker } = await working([stuck], { logger })
    await engine.executions.create({ kind: 'stuck' })
    await worker.start()
    await expect.poll(() => isAsked, { interval: 10 }).toBe(true)
    await worker.stop({ grace: 0 })
    expect(warnings).toContain('1 run did not react to the stop: the code still runs, and its result is dropped')
  },
)

test('middleware that started a step before the handler can await it afterwards, also when it was recorded earlier', async () => {
  let runs = 0
  const audited = task('audited', { strict: true, retry: atOnce(2) }, () => {
    runs += 1
    if (runs === 1) throw new Error('once')
    return 'done'
  })
  const audit: Middleware = async (ctx, next) => {
    const audited = ctx.step('audit', () => 1)
    try {
      return await next()
    } finally {
      await audited
    }
  }
  const { submit, runAll, after } = await working([audited], { middleware: [audit] })
  const run = await submit(audited)
  await runAll()
  await after('1s')
  expect(await run.result()).toBe('done')
})
