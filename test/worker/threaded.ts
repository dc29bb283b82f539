// Tasks that run in threads: the thread imports this file.
import { patience } from '../support/patience.ts'
import { writeFileSync } from 'node:fs'
import { threadId } from 'node:worker_threads'
import { PermanentError, StepError } from '../../src/worker/errors.ts'
import { task } from '../../src/worker/task.ts'
import { count } from './schemas.ts'

function spin(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

const once = { retry: { attempts: 1 } } as const

export const leavesFile = task('leaves-file', { thread: true, ...once }, (_ctx, path: string) =>
  writeFileSync(path, ''),
)

export const where = task('where', { thread: true }, () => threadId)

export const spinning = task('spinning', { thread: import.meta.url, ...once }, (_ctx, ms: number) => {
  spin(ms)
  return 'spun'
})

export const endless = task('endless', { thread: true, ...once }, async (ctx) => {
  await ctx.progress(1, 'begins')
  for (;;);
})

export const durable = task('durable', { thread: true }, async (ctx, { start }: { start: number }) => {
  ctx.logger.info('begins')
  const twice = await ctx.step('twice', ({ tryCount }) => start * 2 * tryCount, { schema: count })
  const keys = await ctx.step('keys', ({ idempotencyKey }) => idempotencyKey)
  const values = { now: await ctx.now(), random: ctx.random(), uuid: ctx.uuid(), key: ctx.idempotencyKey('keys') }
  await ctx.progress(50, 'half of it')
  if (ctx.attemptIndex === 0) ctx.retryIn('1s', values.uuid)
  return { twice, keys, ...values, id: ctx.executionId, attempt: ctx.attemptIndex }
})

/** The methods of the context, each taken from it before it is called. */
export const takenApart = task('taken-apart', { thread: true }, async (ctx) => {
  const { step, now, uuid, progress, idempotencyKey } = ctx
  await progress(10)
  return {
    step: await step('one', () => 1),
    now: typeof (await now()),
    uuid: uuid().length,
    key: idempotencyKey('key'),
  }
})

export const failing = task('failing', { thread: true, ...once }, async (ctx, how: string) => {
  if (how === 'permanent') throw new PermanentError('never', { cause: new TypeError('because') })
  if (how === 'own') throw Object.assign(new RangeError('out of it'), { limit: 7 })
  if (how === 'value') throw 'a word'
  if (how === 'sleep') await ctx.sleep('a nap', '1h')
  if (how === 'run') await ctx.run(where)
  if (how === 'spawn') await ctx.spawn(where)
  if (how === 'compensate') await ctx.compensate('undo', () => {})
  if (how === 'function') return () => 1
  if (how === 'exit') process.exit(3)
  if (how === 'cancel') ctx.cancel('no need')
  const tried = ctx.step('step', () => {
    throw new TypeError('of the step')
  })
  const error: unknown = await tried.catch((thrown: unknown) => thrown)
  return error instanceof StepError ? `${error.step}: ${error.error.name}` : 'another'
})

export const flaky = task('flaky', { thread: true }, async (ctx) => {
  return ctx.step(
    'third time',
    ({ tryCount, signal }) => {
      if (tryCount === 3) return tryCount
      if (tryCount === 2) throw new Error('second')
      return new Promise<number>((resolve) => signal.addEventListener('abort', () => resolve(-1)))
    },
    { retry: { attempts: 3, backoff: { type: 'fixed', delayMs: 1 } }, timeout: patience(300) },
  )
})

export const asked = task('asked', { thread: true }, async (ctx) => {
  await ctx.progress(1)
  await new Promise<void>((resolve) => {
    if (ctx.abort.aborted) resolve()
    else ctx.abort.addEventListener('abort', () => resolve())
  })
  return (ctx.abort.reason as Error).message
})

export const drawing = task('drawing', { thread: true }, async (ctx) => {
  await ctx.step('inside', () => ctx.uuid())
  const uuid = ctx.uuid()
  if (ctx.attemptIndex === 0) ctx.retryIn('1s', uuid)
  return uuid
})

export const nesting = task('nesting', { thread: true, ...once }, async (ctx, what: string) =>
  ctx.step('outer', () => (what === 'now' ? ctx.now() : ctx.step('inner', () => 1))),
)

export const careless = task('careless', { thread: true, ...once }, async (ctx) => {
  void ctx.progress(200)
  void ctx.upstream('nobody')
  // Both have been refused by then.
  await ctx.step('wait', () => ctx.progress(1))
  await new Promise((resolve) => setImmediate(resolve))
  return 'done'
})

export const large = task('large', { thread: true, ...once }, () => 'x'.repeat(500_000))

export const forgetful = task('forgetful-thread', { thread: true, ...once }, async (ctx, fails: boolean) => {
  void ctx.step('slow', () => (fails ? Promise.reject(new Error('unheard')) : new Promise(() => {})))
  await ctx.step('first', () => 1)
  await ctx.step('second', () => 2)
  return 'done'
})

export const logging = task('logging', { thread: true, ...once }, async (ctx) => {
  ctx.logger.info('Begins', { customer: 7 })
  await ctx.step('pay', () => ctx.logger.warn('In a step', { call: () => 1 }))
  ctx.logger.info('Ends')
})
