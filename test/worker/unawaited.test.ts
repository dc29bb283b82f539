// A forgotten `await` is reported where the code returns, and never ends the process.
import { setImmediate } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { parseExecutionId } from '../../src/model/id.ts'
import { task } from '../../src/worker/task.ts'
import { working } from './working.ts'

const other = task('other', () => 'child')
const failing = { retry: { attempts: 1 } } as const

function logging() {
  const warn = vi.fn<(message: string) => void>()
  const logger = { debug() {}, info() {}, warn: (message: string) => warn(message), error() {} }
  return { logger, warnings: () => warn.mock.calls.map(([message]) => message) }
}

test('a worker warns once by default and names every forgotten call, and the run completes', async () => {
  const { logger, warnings } = logging()
  const forgetful = task('forgetful', async (ctx) => {
    void ctx.step('slow', () => new Promise(() => {}))
    void ctx.sleep('rest', '1h')
    return 'done'
  })
  const { submit, runAll } = await working([forgetful], { logger })
  const run = await submit(forgetful)
  await runAll()
  expect(await run.result()).toBe('done')
  expect(warnings()).toEqual([
    `forgetful ${parseExecutionId(run.id).uuid}: task "forgetful" returned while step "slow" was still running and sleep "rest" was never awaited; did you forget await? The result of a step that is still running is not recorded.`,
  ])
})

test('a step that failed and was never awaited fails the attempt, which is retried', async () => {
  let runCount = 0
  const forgetful = task(
    'forgetful',
    { retry: { attempts: 2, backoff: { type: 'fixed', delayMs: 0 } } },
    async (ctx) => {
      runCount += 1
      void ctx.step('pay', () => Promise.reject(new Error('bank says no')))
      await ctx.step(`first ${ctx.attemptIndex}`, () => 1)
      await ctx.step(`second ${ctx.attemptIndex}`, () => 2)
      return 'done'
    },
  )
  const { submit, runAll, after } = await working([forgetful])
  const run = await submit(forgetful)
  await runAll()
  await after('1s')
  await expect(run.result()).rejects.toThrow('step "pay" was never awaited (did you forget await?) and failed: ')
  await expect(run.result()).rejects.toThrow('bank says no')
  expect(runCount).toBe(2)
})

test('a step that fails after its run has returned is logged', async () => {
  const { logger, warnings } = logging()
  let fail!: (error: Error) => void
  const forgetful = task('forgetful', async (ctx) => {
    void ctx.step('slow', () => new Promise((_, reject) => (fail = reject)))
    await ctx.step('first', () => 1)
    return 'done'
  })
  const { submit, runAll } = await working([forgetful], { logger })
  const run = await submit(forgetful)
  await runAll()
  expect(await run.result()).toBe('done')
  fail(new Error('too late'))
  await expect
    .poll(warnings)
    .toContain(`step "slow" of ${run.id} failed after its run had returned without awaiting it: too late`)
})

test('middleware sees the failure, and may await its own steps after the handler', async () => {
  const seen: string[] = []
  const forgetful = task('forgetful', failing, async (ctx, forgets: boolean) => {
    if (forgets) void ctx.sleep('rest', '1h')
    return 'done'
  })
  const { submit, runAll } = await working([forgetful], {
    unawaited: 'fail',
    middleware: [
      async (ctx, next) => {
        const own = ctx.step('own', () => 1)
        try {
          return await next()
        } catch (error) {
          seen.push((error as Error).message)
          throw error
        } finally {
          await own
        }
      },
    ],
  })
  const runs = [await submit(forgetful, false), await submit(forgetful, true)]
  await runAll()
  expect(await runs[0]!.result()).toBe('done')
  await expect(runs[1]!.result()).rejects.toThrow('sleep "rest" was never awaited')
  expect(seen).toEqual([expect.stringContaining('sleep "rest" was never awaited')])
})

test('the option is fail or warn', async () => {
  await expect(working([other], { unawaited: 'ignore' as never })).rejects.toThrow(
    "unawaited is \"ignore\"; it must be 'fail' or 'warn'",
  )
})

test('a forgotten step that ends after its run is not reported as a lost lease', async () => {
  const { logger, warnings } = logging()
  let end = (): void => {}
  const ended = new Promise<void>((resolve) => (end = resolve))
  const forgetful = task('forgetful', (ctx) => {
    void ctx.step('slow', () => ended)
    return 'done'
  })
  const { submit, runAll } = await working([forgetful], { logger })
  const run = await submit(forgetful)
  await runAll()
  expect(await run.result()).toBe('done')
  end()
  // Long enough for its record to be refused.
  for (let turn = 0; turn < 5; turn += 1) await setImmediate().then(() => run.state())
  expect(warnings()).toEqual([expect.stringContaining('returned while step "slow" was still running')])
})
