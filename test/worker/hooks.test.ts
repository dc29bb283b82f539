// The hooks of a task: they run after the compensations, when its execution is cancelled or fails for good.
import { expect, test, vi } from 'vitest'
import { executionDeadline } from '../../src/engine/duties/execution-deadline.ts'
import { jsonCodec, type Codec } from '../../src/model/codec.ts'
import { EngineError } from '../../src/model/errors.ts'
import { task } from '../../src/worker/task.ts'
import { recordedBy, working } from './working.ts'

const quiet = { debug() {}, info() {}, warn() {}, error: vi.fn<(message: string) => void>() }

test('onCancel runs after the compensations, with the reason, and its steps are recorded', async () => {
  const done: string[] = []
  const book = task(
    'book',
    {
      async onCancel(ctx, input: string, reason) {
        await ctx.step('tell', () => void done.push(`onCancel ${input} ${reason}`))
      },
      onFailure: () => void done.push('onFailure'),
    },
    async (ctx, _input: string) => {
      await ctx.compensate('undo', () => void done.push('undo'))
      await ctx.waitFor('x')
    },
  )
  const { submit, runAll, engine } = await working([book])
  const run = await submit(book, 'seat 4')
  await runAll()
  await run.cancel({ reason: 'ill' })
  await runAll()
  expect(done).toEqual(['undo', 'onCancel seat 4 ill'])
  expect(await recordedBy(engine, run.id)).toEqual([
    'compensation undo: succeeded',
    'step hook: tell: succeeded',
    'hook onCancel: succeeded',
  ])
})

test('onFailure receives the error that the handler threw, and the deadline of an execution', async () => {
  const seen: unknown[] = []
  const book = task(
    'book',
    { retry: { attempts: 1 }, deadline: '1h', onFailure: (_ctx, _input: boolean, error) => void seen.push(error) },
    async (ctx, isBad: boolean) => {
      if (isBad) throw new TypeError('bad')
      await ctx.waitFor('x')
    },
  )
  const { submit, runAll, sql, clock } = await working([book], { logger: quiet })
  await submit(book, true)
  await runAll()
  expect(seen).toEqual([expect.objectContaining({ message: 'bad' })])
  const late = await submit(book, false)
  await runAll()
  await clock.advance('2h')
  await executionDeadline.runOnce(sql)
  await runAll()
  expect(EngineError.is(seen[1], 'execution_expired')).toBe(true)
  expect((seen[1] as Error).message).toContain('execution_deadline')
  expect(await late.state()).toBe('expired')
})

test('a task that has only onFailure is cancelled at once', async () => {
  const book = task('book', { onFailure() {} }, async (ctx) => {
    await ctx.waitFor('x')
  })
  const { submit, runAll, engine } = await working([book])
  const run = await submit(book)
  await runAll()
  expect(await run.cancel()).toMatchObject({ kind: 'cancelled' })
  expect(await engine.executions.describe(run.id)).toMatchObject({ compensation: 'none' })
})

test('a hook that fails is logged, and the execution still ends', async () => {
  quiet.error.mockClear()
  const book = task(
    'book',
    {
      onCancel() {
        throw new Error('no mail server')
      },
    },
    (ctx) => ctx.waitFor('x'),
  )
  const { submit, runAll, engine } = await working([book], { logger: quiet })
  const run = await submit(book)
  await runAll()
  await run.cancel()
  await runAll()
  expect(await engine.executions.describe(run.id)).toMatchObject({
    publicState: 'cancelled',
    compensation: 'unfinished',
  })
  expect(quiet.error.mock.calls.flat().join('\n')).toContain('no mail server')
})

test('a hook can neither wait, register compensations, nor end the run with retryIn, cancel or restart', async () => {
  quiet.error.mockClear()
  const tried: unknown[] = []
  const book = task(
    'book',
    {
      async onCancel(ctx) {
        await ctx.compensate('late', () => {}).catch((error: unknown) => tried.push(error))
        try {
          ctx.cancel('again')
        } catch (error) {
          tried.push(error)
        }
        await ctx.waitFor('y')
      },
    },
    (ctx) => ctx.waitFor('x'),
  )
  const { submit, runAll } = await working([book], { logger: quiet })
  const run = await submit(book)
  await runAll()
  await run.cancel()
  await runAll()
  expect(tried.map((error) => EngineError.is(error, 'invalid_input'))).toEqual([true, true])
  expect(quiet.error.mock.calls.flat().join('\n')).toContain('cannot wait for a signal')
  expect(await run.state()).toBe('cancelled')
})

test('a run that cannot decode the reason for its cleanup fails, and its worker continues', async () => {
  let isLost = false
  const codec: Codec = {
    ...jsonCodec,
    decode(encoded) {
      if (isLost) throw new Error('the key is lost')
      return jsonCodec.decode(encoded)
    },
  }
  const book = task('book', { retry: { attempts: 1 }, onFailure: (ctx) => ctx.sleep('pause', '1h') }, async () => {
    throw new Error('bad')
  })
  const fine = task('fine', () => {})
  const { submit, runAll, after } = await working([book, fine], { logger: quiet }, codec)
  const run = await submit(book)
  await runAll()
  isLost = true
  await after('1h')
  expect(await run.state()).toBe('failed')
  const next = await submit(fine)
  await runAll()
  expect(await next.state()).toBe('completed')
})
