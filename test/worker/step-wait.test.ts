// Waits inside of a step, which are refused, and waits beside one.
import { expect, test } from 'vitest'
import type { Context } from '../../src/worker/context.ts'
import { task } from '../../src/worker/task.ts'
import { working } from './working.ts'

test('a wait inside of a step is refused at any point and never retried, because the run could never suspend', async () => {
  const child = task('child', () => {})
  const waits: Record<string, (ctx: Context<Record<string, unknown>>) => unknown> = {
    'the sleep "inner"': (ctx) => ctx.sleep('inner', '1h'),
    'the wait for "answer"': (ctx) => ctx.waitFor('answer'),
    'the child "child"': (ctx) => ctx.run(child),
  }
  const inside = task('inside', (ctx, what: string) =>
    ctx.step('outer', async () => {
      await new Promise((resolve) => setTimeout(resolve, 1))
      await Promise.all([Promise.resolve(), Promise.resolve().then(() => waits[what]!(ctx))])
    }),
  )
  const { submit, runAll } = await working([inside])
  for (const what of Object.keys(waits)) {
    const run = await submit(inside, what)
    await runAll()
    await expect(run.result()).rejects.toThrow(`${what} is inside step "outer", and a step cannot wait`)
  }
})

test('code may wait beside a running step, and after it', async () => {
  const beside = task('beside', async (ctx) => {
    const work = ctx.step('slow', () => new Promise((resolve) => setTimeout(resolve, 20, 'done')))
    await Promise.resolve()
    await ctx.sleep('rest', '1h')
    const done = await work
    await ctx.sleep('again', '1h')
    return done
  })
  const { submit, runAll, after } = await working([beside])
  const run = await submit(beside)
  await runAll()
  await after('1h')
  await after('1h')
  expect(await run.result()).toBe('done')
})
