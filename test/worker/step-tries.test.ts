// The tries of a step: how many there are, how long they take, and what they share.
import { expect, test } from 'vitest'
import type { EngineError } from '../../src/model/errors.ts'
import { PermanentError, StepError } from '../../src/worker/errors.ts'
import { task } from '../../src/worker/task.ts'
import { atOnce } from './retries.ts'
import { working } from './working.ts'

const never = { attempts: 1 } as const

test('a step that fails is tried as often as its own policy says, and each try is counted before the next', async () => {
  const tries: number[] = []
  const stubborn = task('stubborn', { retry: never }, (ctx) =>
    ctx.step(
      'work',
      ({ tryCount }) => {
        tries.push(tryCount)
        if (tryCount < 3) throw new Error(`try ${tryCount}`)
        return 'done'
      },
      { retry: { attempts: 5, backoff: { type: 'fixed', delayMs: 1 } } },
    ),
  )
  const { submit, runAll, engine } = await working([stubborn])
  const run = await submit(stubborn)
  await runAll()
  expect(await run.result()).toBe('done')
  expect(tries).toEqual([1, 2, 3])
  expect((await engine.steps.list(run.id)).steps).toMatchObject([{ name: 'work', state: 'succeeded', tryCount: 3 }])
})

test('a long delay between two tries releases the worker, and the finished tries still count', async () => {
  const tries: number[] = []
  const slow = task('slow', { retry: never }, (ctx) =>
    ctx.step('work', ({ tryCount }) => Promise.reject(new Error(`try ${tries.push(tryCount)}`)), {
      retry: { attempts: 3, backoff: { type: 'fixed', delayMs: '10m' } },
    }),
  )
  const { submit, worker, after } = await working([slow])
  const run = await submit(slow)
  await worker.tick()
  expect(await run.state()).toBe('delayed')
  await after('9m')
  expect(await run.state()).toBe('delayed')
  await after('1m')
  expect(tries).toEqual([1, 2])
  await after('10m')
  expect(tries).toEqual([1, 2, 3])
  await expect(run.result()).rejects.toMatchObject({ code: 'execution_failed' })
})

test('a failure that the code caught is the same in every run of the attempt, and the next attempt drops it', async () => {
  const tries: string[] = []
  const caught = task('caught', { retry: atOnce(2) }, async (ctx) => {
    const way = await ctx
      .step('risky', () => {
        tries.push('risky')
        throw new TypeError('no')
      })
      .catch((error: unknown) => {
        if (!(error instanceof StepError)) throw error
        return `${error.error.name}: ${error.error.message}`
      })
    await ctx.sleep('rest', '1h')
    await ctx.step('after', () => tries.push(way))
    if (ctx.attemptIndex === 0) throw new Error('again')
    return way
  })
  const { submit, worker, after } = await working([caught])
  const run = await submit(caught)
  await worker.tick()
  expect(tries).toEqual(['risky'])
  await after('1h')
  expect(await run.result()).toBe('TypeError: no')
  expect(tries).toEqual(['risky', 'TypeError: no', 'risky'])
})

test('neither the step nor the task retries a permanent error of a step', async () => {
  let count = 0
  const doomed = task('doomed', { retry: atOnce(5) }, (ctx) =>
    ctx.step(
      'work',
      () => {
        count += 1
        throw new PermanentError('the card is stolen')
      },
      { retry: atOnce(5) },
    ),
  )
  const { submit, runAll } = await working([doomed])
  const run = await submit(doomed)
  await runAll()
  const error = await run.result().catch((thrown: unknown) => thrown as EngineError)
  expect(error).toMatchObject({
    code: 'execution_failed',
    details: { reason: 'step "work" failed: the card is stolen' },
  })
  expect(count).toBe(1)
})

test('a step that exceeds its timeout is aborted and fails', async () => {
  const aborted: string[] = []
  const hang = task('hang', { retry: never }, (ctx) =>
    ctx.step(
      'never ends',
      ({ signal }) =>
        new Promise<void>(() => signal.addEventListener('abort', () => aborted.push((signal.reason as Error).name))),
      { timeout: 20 },
    ),
  )
  const { submit, runAll, engine } = await working([hang])
  const run = await submit(hang)
  await runAll()
  await expect(run.result()).rejects.toMatchObject({ code: 'execution_failed' })
  expect(aborted).toEqual(['StepTimeoutError'])
  expect((await engine.attempts.list(run.id)).attempts).toMatchObject([{ failureCategory: 'timeout' }])
})

test('the idempotency key of a step is the same in every try and every run', async () => {
  const keys: string[] = []
  const keyed = task('keyed', { retry: atOnce(2) }, async (ctx) => {
    keys.push(ctx.idempotencyKey('outside'))
    await ctx.step('charge', ({ idempotencyKey }) => {
      keys.push(idempotencyKey)
      throw new Error('no')
    })
  })
  const { submit, runAll } = await working([keyed])
  const run = await submit(keyed)
  await runAll()
  expect(keys).toEqual([
    `${run.id}:key:0:outside`,
    `${run.id}:0:charge:0`,
    `${run.id}:key:0:outside`,
    `${run.id}:0:charge:0`,
  ])
})
