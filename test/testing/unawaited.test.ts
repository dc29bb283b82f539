// A forgotten `await` fails a test, with the test kit.
import { expect, test } from 'vitest'
import { testEngine } from '../../src/testing.ts'
import type { Context } from '../../src/worker/context.ts'
import { task } from '../../src/worker/task.ts'

const other = task('other', () => 'child')

test.each([
  [
    'step',
    'returned while step "slow" was still running',
    (ctx: Context) => void ctx.step('slow', () => new Promise(() => {})),
  ],
  ['sleep', 'sleep "rest" was never awaited', (ctx: Context) => void ctx.sleep('rest', '1h')],
  ['wait', 'wait "approval" was never awaited', (ctx: Context) => void ctx.waitFor('approval')],
  ['child', 'child "other" was never awaited', (ctx: Context) => void ctx.run(other)],
  [
    'group',
    'ctx.race of "a", "b" was never awaited',
    (ctx: Context) => void ctx.race([ctx.waitFor('a'), ctx.sleep('b', '1h')]),
  ],
])('a forgotten %s fails the run for good in the test kit, and the error names it', async (_, sentence, forget) => {
  let runCount = 0
  const forgetful = task('forgetful', async (ctx) => {
    runCount += 1
    forget(ctx)
    return 'done'
  })
  await using t = await testEngine({ tasks: [forgetful, other] })
  const run = await t.submit(forgetful)
  await expect(run.result()).rejects.toThrow(sentence)
  await expect(run.result()).rejects.toThrow('did you forget await?')
  const error = await run.result().catch((thrown: unknown) => thrown as { details: { error: { details: unknown } } })
  expect(JSON.stringify(error)).toContain('unawaited_work')
  expect(runCount).toBe(1)
})

test('a call that was awaited, returned or passed to a combinator is not forgotten', async () => {
  const settled = task('settled', async (ctx) => {
    const late = ctx.step('late', () => 'late')
    await ctx.step('before', () => 1)
    await Promise.all([ctx.step('a', () => 4), ctx.step('b', () => 5)])
    await Promise.allSettled([ctx.step('c', () => 6), ctx.step('d', () => Promise.reject(new Error('no')))])
    await ctx.all([ctx.step('e', () => 7), ctx.sleep('rest', '1m')])
    await ctx.race([ctx.waitFor('x'), ctx.sleep('rest again', '1m'), ctx.step('lost three', () => 8)])
    await ctx.any([ctx.step('f', () => 9), ctx.waitFor('y')])
    await ctx.step('g', () => Promise.reject(new Error('no'))).catch(() => {})
    await ctx.step('h', () => 10).finally(() => {})
    const helper = async (): Promise<number> => ctx.step('helped', () => 11)
    await helper()
    const child = await ctx.spawn(other, undefined)
    expect(ctx.step('promise', () => 1).then(() => {})).toBeInstanceOf(Promise)
    expect(child.id).toMatch(/^\{fp/)
    return [await late, await ctx.run(other)]
  })
  const losing = task('losing', async (ctx) => {
    const never = (): Promise<never> => new Promise(() => {})
    await Promise.race([ctx.step('fast', () => 2), ctx.step('lost', never)])
    return Promise.any([ctx.step('first', () => 3), ctx.step('lost too', never), ctx.waitFor('never')])
  })
  const direct = task('direct', (ctx) => ctx.step('direct', () => 'direct'))
  await using t = await testEngine({ tasks: [settled, losing, direct, other] })
  expect(await t.run(settled)).toEqual(['late', 'child'])
  expect(await t.run(losing)).toBe(3)
  expect(await t.run(direct)).toBe('direct')
})

test('a step that fails before any code awaits it throws where it is awaited later', async () => {
  const later = task('later', async (ctx) => {
    const late = ctx.step('late', () => Promise.reject(new Error('too bad')))
    await ctx.step('first', () => 1)
    await ctx.step('second', () => 2)
    return late.catch((error: unknown) => (error as Error).message)
  })
  await using t = await testEngine({ tasks: [later] })
  expect(await t.run(later)).toContain('too bad')
})
