// What code may do inside of a step, and how a step is aborted when its run ends without it.
import { expect, test } from 'vitest'
import type { Context } from '../../src/worker/context.ts'
import { task } from '../../src/worker/task.ts'
import { recordedBy, working } from './working.ts'

const atOnce = (attempts: number) => ({ attempts, backoff: { type: 'fixed', delayMs: 0 } }) as const

test('random values drawn inside of a step do not shift later ones, and are the same in every try', async () => {
  const outside: unknown[] = []
  const inside: unknown[] = []
  let tries = 0
  const draws = task('draws', async (ctx) => {
    for (const name of ['create', 'create', 'other']) {
      const draw = (): void => {
        tries += 1
        inside.push(ctx.uuid())
        if (tries === 1) throw new Error('once more')
        inside.push(ctx.random())
      }
      await ctx.step(name, draw, { retry: atOnce(2) })
    }
    outside.push([ctx.uuid(), ctx.random()])
    await ctx.sleep('pause', '1h')
  })
  const { submit, worker, after } = await working([draws])
  const run = await submit(draws)
  await worker.tick()
  await after('1h')
  await run.result()
  expect(outside).toHaveLength(2)
  expect(outside[1]).toEqual(outside[0])
  expect(inside[1]).toBe(inside[0])
  const drawn = [...inside.slice(1), ...(outside[0] as unknown[])]
  expect(new Set(drawn).size).toBe(8)
})

test('a step, a time and a waitpoint inside of a step are refused for good, because later runs would not reach them', async () => {
  const inner: Record<string, (ctx: Context) => Promise<unknown>> = {
    'the step "inner"': (ctx) => ctx.step('inner', () => {}),
    'ctx.now()': (ctx) => ctx.now(),
    'the waitpoint "answer"': (ctx) => ctx.waitpoint('answer'),
  }
  const nested = task('nested', (ctx, what: string) =>
    ctx.step('outer', async () => {
      await Promise.resolve()
      await inner[what]!(ctx)
    }),
  )
  const { submit, runAll, engine } = await working([nested])
  for (const what of Object.keys(inner)) {
    const run = await submit(nested, what)
    await runAll()
    await expect(run.result()).rejects.toThrow(
      `${what} is inside step "outer", and a step is recorded as a whole; move it out`,
    )
    expect(await recordedBy(engine, run.id)).toEqual(['step outer: failed'])
  }
})

test('retryIn, cancel and restart inside of a step end the run as they do elsewhere, and count as no failed try', async () => {
  let tries = 0
  const word = task('word', async (ctx, what: 'cancel' | 'retryIn' | 'restart') => {
    if (ctx.generation > 0 || ctx.attemptIndex > 0) return 'again'
    await ctx.step('decide', () => leave(), { retry: atOnce(5) })
    function leave(): never {
      tries += 1
      if (what === 'cancel') return ctx.cancel('enough')
      return what === 'restart' ? ctx.restart('restart') : ctx.retryIn('1h')
    }
    return 'not left'
  })
  const { submit, runAll, after, engine } = await working([word])
  const cancelled = await submit(word, 'cancel')
  const restarted = await submit(word, 'restart')
  const retried = await submit(word, 'retryIn')
  await runAll()
  expect(tries).toBe(3)
  await expect(cancelled.result()).rejects.toMatchObject({ code: 'execution_cancelled' })
  expect(await restarted.result()).toBe('again')
  expect(await recordedBy(engine, retried.id)).toEqual([])
  await after('1h')
  expect(await retried.result()).toBe('again')
})

test('a running step is aborted when its run ends without it, and a finished step is not', async () => {
  const received: string[] = []
  let hasBegun = (): void => {}
  const failing = task('failing', { retry: atOnce(1) }, async (ctx) => {
    const begun = new Promise<void>((resolve) => (hasBegun = resolve))
    await ctx.step('early', ({ signal }) => signal.addEventListener('abort', () => received.push('early')))
    const long = ctx.step(
      'long',
      ({ signal }) =>
        new Promise<void>((_, reject) => {
          signal.addEventListener('abort', () => {
            received.push((signal.reason as Error).message)
            reject(signal.reason as Error)
          })
          hasBegun()
        }),
      { retry: atOnce(3) },
    )
    const late = ctx.step('late', ({ signal }) => new Promise<void>(() => void signal), { timeout: '1h' })
    const fails = ctx.step('fails', async () => {
      await begun
      throw new Error('no')
    })
    await Promise.all([fails, long, late])
  })
  const { submit, worker, engine } = await working([failing])
  const run = await submit(failing)
  await worker.tick()
  await expect(run.result()).rejects.toMatchObject({ code: 'execution_failed' })
  expect(received).toEqual([`the run of ${run.id} has ended, so the result of this step is not used`])
  expect(await recordedBy(engine, run.id)).toEqual(['step early: succeeded', 'step fails: failed'])
})

test('an effect outside of any step does not share its key with a step of the same name', async () => {
  const keys = task('keys', async (ctx) => [
    ctx.idempotencyKey('charge'),
    await ctx.step('charge', ({ idempotencyKey }) => idempotencyKey),
    ctx.idempotencyKey('charge:0'),
  ])
  const { submit, worker } = await working([keys])
  const run = await submit(keys)
  await worker.tick()
  expect(new Set(await run.result()).size).toBe(3)
})
