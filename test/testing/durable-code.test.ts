// Durable code over crashes and time, with the test kit.
import { expect, test } from 'vitest'
import { testEngine } from '../../src/testing.ts'
import { StepError } from '../../src/worker/errors.ts'
import { task } from '../../src/worker/task.ts'

test('ctx.now returns the time of its first call in every later run', async () => {
  const clock = task('clock', async (ctx) => {
    const before = await ctx.now()
    await ctx.sleep('rest', '1h')
    return [before, await ctx.now()]
  })
  await using t = await testEngine({ tasks: [clock], now: 5000 })
  expect(await t.run(clock)).toEqual([5000, 5000 + 3_600_000])
})

test("a crash does not reset the count of a step's tries", async () => {
  const tries: number[] = []
  const flaky = task('flaky', { retry: { attempts: 1 } }, async (ctx) => {
    try {
      await ctx.step(
        'call',
        ({ tryCount }) => {
          tries.push(tryCount)
          throw new Error('busy')
        },
        { retry: { attempts: 3, backoff: { type: 'fixed', delayMs: '1m' } } },
      )
    } catch (error) {
      return error instanceof StepError ? error.error.message : 'another error'
    }
  })
  await using t = await testEngine({ tasks: [flaky] })
  const run = await t.submit(flaky)
  for (const _ of [1, 2, 3]) {
    await t.crashWorker()
    await t.advance('1m')
  }
  expect(await run.result()).toBe('busy')
  expect(tries).toEqual([1, 2, 3])
  const history = await run.history()
  history.assertSteps([{ name: 'call', state: 'failed', tries: 3 }])
})

test('a wait without an answer before its timeout throws where the code awaits it, also after a crash', async () => {
  const ask = task('ask', async (ctx) => {
    const answer = await ctx.waitFor('answer', { timeout: '2d' }).catch((error: unknown) => (error as Error).name)
    await ctx.step('tell', () => {})
    return answer as string
  })
  await using t = await testEngine({ tasks: [ask] })
  t.mockOnce(ask, 'tell', () => t.crashWorker())
  const run = await t.submit(ask)
  await t.advance('2d')
  expect(await run.result()).toBe('WaitTimeoutError')
})

test('a schedule fires once at each of its times over a change of clocks, and its runs start at once', async () => {
  const seen: string[] = []
  const report = task('report', async (ctx) => void seen.push(new Date(await ctx.now()).toISOString()))
  // In Berlin clocks go from two to three in the night to 2026-03-29.
  await using t = await testEngine({ tasks: [report], now: '2026-03-28T00:00:00Z' })
  await t.ff.schedules.put('nightly', { task: report, cron: '30 6 * * *', timeZone: 'Europe/Berlin' })
  await t.advance('3d')
  expect(seen).toEqual(['2026-03-28T05:30:00.000Z', '2026-03-29T04:30:00.000Z', '2026-03-30T04:30:00.000Z'])
})

test('the end of one flow member readies the next within the same move', async () => {
  const order: string[] = []
  const first = task('first', async (ctx) => {
    await ctx.sleep('rest', '1h')
    order.push('first')
  })
  const second = task('second', () => void order.push('second'))
  await using t = await testEngine({ tasks: [first, second] })
  const flow = await t.ff.flow((f) => void f.after(f.add('first'), f.add('second')))
  await t.advance('1h')
  expect(order).toEqual(['first', 'second'])
  expect(await flow.state()).toBe('completed')
})
