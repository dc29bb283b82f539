// Compensations: a run that is cancelled or fails for good undoes the effects it has registered.
import { expect, test, vi } from 'vitest'
import { cancelDeadline } from '../../src/engine/duties/cancel-deadline.ts'
import { Cancelled, PermanentError } from '../../src/worker/errors.ts'
import { task } from '../../src/worker/task.ts'
import { refusal } from '../support/refusal.ts'
import { recordedBy, working } from './working.ts'

const quiet = { debug() {}, info() {}, warn() {}, error: vi.fn<(message: string) => void>() }

function booking(done: string[]) {
  return task('book', async (ctx, how: 'wait' | 'throw' | 'cancel' | 'sleep' | 'return') => {
    await ctx.compensate('release seat', () => void done.push('release seat'))
    await ctx.step('hold seat', () => void done.push('hold seat'))
    await ctx.compensate('refund', () => void done.push('refund'))
    await ctx.step('charge', () => void done.push('charge'))
    if (how === 'throw') throw new PermanentError('no ticket printer')
    if (how === 'cancel') return ctx.cancel('sold out')
    if (how === 'sleep') await ctx.sleep('until the day', '1h')
    if (how === 'wait') await ctx.waitFor('boarding')
    await ctx.step('thank', () => void done.push('thank'))
  })
}

test('a suspended run that is cancelled undoes its effects, the last one first, and repeats no step', async () => {
  const done: string[] = []
  const book = booking(done)
  const { submit, runAll, engine } = await working([book])
  const run = await submit(book, 'wait')
  await runAll()
  expect(await run.cancel({ reason: 'changed plans' })).toMatchObject({ kind: 'cancel_requested' })
  await runAll()
  expect(done).toEqual(['hold seat', 'charge', 'refund', 'release seat'])
  expect(await engine.executions.describe(run.id)).toMatchObject({
    publicState: 'cancelled',
    cancellationReason: 'changed plans',
    compensation: 'finished',
  })
  expect(await recordedBy(engine, run.id)).toEqual([
    'step hold seat: succeeded',
    'step charge: succeeded',
    'compensation refund: succeeded',
    'compensation release seat: succeeded',
  ])
})

test('a sleeping run that is cancelled does not continue its sleep', async () => {
  const done: string[] = []
  const book = booking(done)
  const { submit, runAll } = await working([book])
  const run = await submit(book, 'sleep')
  await runAll()
  await run.cancel()
  await runAll()
  expect(done).toEqual(['hold seat', 'charge', 'refund', 'release seat'])
  expect(await run.state()).toBe('cancelled')
})

test.each([
  ['a final failure', 'throw', 'failed'],
  ['ctx.cancel', 'cancel', 'cancelled'],
] as const)('%s runs the compensations before the execution ends', async (_, how, state) => {
  const done: string[] = []
  const book = booking(done)
  const { submit, runAll, engine } = await working([book], { logger: quiet })
  const run = await submit(book, how)
  await runAll()
  expect(done).toEqual(['hold seat', 'charge', 'refund', 'release seat'])
  expect(await engine.executions.describe(run.id)).toMatchObject({ publicState: state, compensation: 'finished' })
})

test('a run that succeeds undoes nothing', async () => {
  const done: string[] = []
  const book = booking(done)
  const { submit, runAll, engine } = await working([book])
  const run = await submit(book, 'return')
  await runAll()
  expect(done).toEqual(['hold seat', 'charge', 'thank'])
  expect(await engine.executions.describe(run.id)).toMatchObject({ publicState: 'completed', compensation: 'none' })
})

test('a failure that is retried undoes nothing; the last failure undoes the effects that all attempts registered', async () => {
  const done: string[] = []
  const flaky = task('flaky', { retry: { attempts: 2, backoff: { type: 'fixed', delayMs: 0 } } }, async (ctx) => {
    await ctx.compensate('undo', () => void done.push('undo'))
    done.push('try')
    throw new Error('not yet')
  })
  const { submit, runAll } = await working([flaky], { logger: quiet })
  const run = await submit(flaky)
  await runAll()
  expect(done).toEqual(['try', 'try', 'undo'])
  expect(await run.state()).toBe('failed')
})

test('a running run receives Cancelled at its next call, and its catch and finally blocks run', async () => {
  const done: string[] = []
  let begin!: () => void
  const began = new Promise<void>((resolve) => (begin = resolve))
  const long = task('long', async (ctx) => {
    await ctx.compensate('undo', ({ signal }) => void done.push(`undo, aborted ${signal.aborted}`))
    try {
      await ctx.step('work', async ({ signal }) => {
        begin()
        await new Promise((resolve) => signal.addEventListener('abort', resolve))
      })
      await ctx.step('more', () => void done.push('more'))
    } catch (error) {
      done.push(`caught ${error instanceof Cancelled}`)
    } finally {
      done.push(`finally, aborted ${ctx.abort.aborted}`)
    }
  })
  const { submit, worker } = await working([long])
  const run = await submit(long)
  const ticking = worker.tick()
  await began
  await run.cancel()
  await ticking
  expect(done).toEqual(['caught true', 'finally, aborted true', 'undo, aborted false'])
  expect(await run.state()).toBe('cancelled')
})

test('a run without compensations ends at once, running or not', async () => {
  const plain = task('plain', (ctx) => ctx.waitFor('x'))
  const { submit, runAll } = await working([plain])
  const run = await submit(plain)
  await runAll()
  expect(await run.cancel()).toMatchObject({ kind: 'cancelled' })
})

test('a compensation that fails is tried 5 times and logged, and the others still run', async () => {
  quiet.error.mockClear()
  const done: string[] = []
  const stubborn = task('stubborn', async (ctx) => {
    await ctx.compensate('first', () => void done.push('first'))
    await ctx.compensate('second', () => {
      done.push('second')
      throw new Error('the bank is closed')
    })
    await ctx.waitFor('x')
  })
  const { submit, runAll, after, engine } = await working([stubborn], { logger: quiet })
  const run = await submit(stubborn)
  await runAll()
  await run.cancel()
  await runAll()
  for (let tries = 0; tries < 5; tries += 1) await after('20s')
  expect(done).toEqual(['second', 'second', 'second', 'second', 'second', 'first'])
  expect(await engine.executions.describe(run.id)).toMatchObject({
    publicState: 'cancelled',
    compensation: 'unfinished',
  })
  expect(quiet.error.mock.calls.flat().join('\n')).toContain('compensation "second"')
})

test('when a worker dies between two compensations, another one runs the rest', async () => {
  const done: string[] = []
  let isFirst = true
  const book = task('book', async (ctx) => {
    for (const name of ['a', 'b', 'c']) {
      await ctx.compensate(name, async () => {
        if (name === 'b' && isFirst) {
          isFirst = false
          await new Promise(() => {})
        }
        done.push(name)
      })
    }
    await ctx.waitFor('x')
  })
  const { submit, runAll, another, after } = await working([book], { logger: quiet })
  const run = await submit(book)
  await runAll()
  await run.cancel()
  void another({}).tick()
  await expect.poll(() => done).toEqual(['c'])
  await expect.poll(() => isFirst).toBe(false)
  await after('2m')
  expect(done).toEqual(['c', 'b', 'a'])
  expect(await run.state()).toBe('cancelled')
})

test('when a worker dies while a failed run cleans up, another one continues the cleanup and fails with the same error', async () => {
  const done: string[] = []
  let isFirst = true
  const book = task('book', async (ctx) => {
    await ctx.compensate('undo', async () => {
      if (isFirst) {
        isFirst = false
        await new Promise(() => {})
      }
      done.push('undo')
    })
    // Another run would succeed.
    if (isFirst) throw new PermanentError('no ticket printer')
    await ctx.step('more', () => void done.push('more'))
  })
  const { submit, another, after } = await working([book], { logger: quiet })
  const run = await submit(book)
  void another({}).tick()
  await expect.poll(() => isFirst).toBe(false)
  await after('2m')
  expect(done).toEqual(['undo'])
  expect(await run.state()).toBe('failed')
  await expect(run.result()).rejects.toThrow('no ticket printer')
})

test('at the deadline of the cancel the execution ends with its compensations unfinished, and the worker is stopped', async () => {
  const done: string[] = []
  const book = booking(done)
  const { submit, runAll, sql, clock, engine } = await working([book])
  const run = await submit(book, 'wait')
  await runAll()
  await run.cancel({ deadline: '1m' })
  await clock.advance('2m')
  await cancelDeadline.runOnce(sql)
  await runAll()
  expect(done).toEqual(['hold seat', 'charge'])
  expect(await engine.executions.describe(run.id)).toMatchObject({
    publicState: 'cancelled',
    compensation: 'unfinished',
  })
})

test('force ends the execution at once and undoes nothing', async () => {
  const done: string[] = []
  const book = booking(done)
  const { submit, runAll } = await working([book])
  const run = await submit(book, 'wait')
  await runAll()
  expect(await run.cancel({ force: true })).toMatchObject({ kind: 'cancelled' })
  await runAll()
  expect(done).toEqual(['hold seat', 'charge'])
})

test('a replay registers its compensations anew, and a cancel before that ends it at once', async () => {
  const done: string[] = []
  const book = booking(done)
  const { submit, runAll, engine } = await working([book])
  const run = await submit(book, 'wait')
  await runAll()
  await run.cancel()
  await runAll()
  await engine.executions.replay({ executionId: run.id, from: 'charge' })
  expect(await engine.executions.describe(run.id)).toMatchObject({ compensation: 'none', pendingOutcome: null })
  await runAll()
  expect(done.slice(4)).toEqual(['charge'])
  await run.cancel()
  await runAll()
  expect(done.slice(5)).toEqual(['refund', 'release seat'])
  await engine.executions.replay({ executionId: run.id })
  expect(await run.cancel()).toMatchObject({ kind: 'cancelled' })
})

test('ctx.restart drops the registered compensations', async () => {
  const done: string[] = []
  const again = task('again', async (ctx, isFirst: boolean) => {
    if (!isFirst) return ctx.waitFor('x')
    await ctx.compensate('undo', () => void done.push('undo'))
    return ctx.restart(false)
  })
  const { submit, runAll } = await working([again])
  const run = await submit(again, true)
  await runAll()
  expect(await run.cancel()).toMatchObject({ kind: 'cancelled' })
  expect(done).toEqual([])
})

test('bad input is refused', async () => {
  expect(() => task('x', { onCancel: 1 as never }, () => {})).toThrow('onCancel')
  const bad = task('bad', { retry: { attempts: 1 } }, async (ctx, which: 'work' | 'option' | 'inside' | 'name') => {
    if (which === 'work') await ctx.compensate('undo', 'no function' as never)
    if (which === 'option') await ctx.compensate('undo', () => {}, { retries: 3 } as never)
    if (which === 'inside') await ctx.step('s', () => ctx.compensate('undo', () => {}))
    if (which === 'name') await ctx.step('hook: x', () => {})
  })
  const { submit, runAll, engine } = await working([bad], { logger: quiet })
  for (const which of ['work', 'option', 'inside', 'name'] as const) {
    const run = await submit(bad, which)
    await runAll()
    expect([which, (await engine.executions.describe(run.id))?.publicState]).toEqual([which, 'failed'])
  }
  const { id } = await submit(bad, 'work')
  await refusal('invalid_input', engine.executions.cancel({ executionId: id, force: 'yes' as never }))
})
