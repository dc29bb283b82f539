// A signal woke a run, and the run failed before its wait recorded the signal: the signal is not lost.
import { expect, test } from 'vitest'
import { limits } from '../../src/model/limits.ts'
import { task } from '../../src/worker/task.ts'
import { atOnce } from './retries.ts'
import { working } from './working.ts'

test('a run that fails before its wait receives the signal in its next attempt', async () => {
  let failures = 1
  const ask = task('ask', { retry: atOnce(3) }, async (ctx) => {
    if (ctx.fence.leaseEpoch > 1 && failures > 0) {
      failures -= 1
      throw new Error('no connection yet')
    }
    return ctx.waitFor('approval')
  })
  const { submit, runAll, after } = await working([ask])
  const run = await submit(ask)
  await runAll()
  await run.signal('approval', 'yes')
  await runAll()
  await after('1s')
  expect(failures).toBe(0)
  expect(await run.result()).toBe('yes')
})

test('a run that retries or sleeps before its wait receives the signal later', async () => {
  const ask = task('ask', async (ctx) => {
    if (ctx.fence.leaseEpoch === 2) ctx.retryIn('1m', 'not yet')
    if (ctx.fence.leaseEpoch > 2) await ctx.sleep('new in this version', '1m')
    return ctx.waitFor('approval')
  })
  const { submit, runAll, after } = await working([ask])
  const run = await submit(ask)
  await runAll()
  await run.signal('approval', 'yes')
  await runAll()
  await after('61s')
  await after('61s')
  expect(await run.result()).toBe('yes')
})

test('a wait receives all signals, also when there are more than a claim carries', async () => {
  const names = ['a', 'b', 'c', 'd', 'e', 'f']
  const collect = task('collect', async (ctx) => {
    const answers = (await ctx.all(names.map((name) => ctx.waitFor(name)))) as string[]
    return answers.map((answer) => [answer[0], answer.length])
  })
  const { submit, runAll } = await working([collect])
  const size = limits.signalBytes - 100
  for (const isEarly of [false, true]) {
    const run = await submit(collect)
    if (!isEarly) await runAll()
    for (const name of names) await run.signal(name, name.repeat(size))
    await runAll()
    expect(await run.result()).toEqual(names.map((name) => [name, size]))
  }
})
