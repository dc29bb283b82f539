import { expect, test } from 'vitest'
import { task } from '../../src/worker/task.ts'
import { working } from './working.ts'

const atOnce = (attempts: number) => ({ attempts, backoff: { type: 'fixed', delayMs: 0 } }) as const

test('a strict task refuses a changed order and a missing step, and names both steps', async () => {
  let order = ['a', 'b']
  const strict = task('strict', { strict: true, retry: atOnce(4) }, async (ctx) => {
    for (const name of order) await ctx.step(name, () => name)
    if (ctx.attemptIndex === 0) throw new Error('deployed anew')
  })
  const { submit, worker, engine } = await working([strict])
  const reasonOf = async (next: string[]): Promise<string> => {
    order = ['a', 'b']
    const run = await submit(strict)
    await worker.tick()
    order = next
    await worker.tick()
    const { attempts } = await engine.attempts.list(run.id)
    expect(await run.state()).toBe(attempts[1]!.failureReason === null ? 'completed' : 'failed')
    return attempts[1]!.failureReason ?? 'none'
  }
  expect(await reasonOf(['a', 'b'])).toBe('none')
  expect(await reasonOf(['a', 'b', 'c'])).toBe('none')
  expect(await reasonOf(['b', 'a'])).toContain('the code reached the step "b" where "a" is recorded')
  expect(await reasonOf(['a', 'x'])).toContain('the code reached the step "x" where "b" is recorded')
  expect(await reasonOf(['a'])).toContain(
    'recorded step "b" was not reached by the current code; the task is strict, so give changed code a new version',
  )
})

test('a strict task with concurrent steps reaches them in the same order again', async () => {
  const strict = task('strict', { strict: true, retry: atOnce(2) }, async (ctx) => {
    const branch = async (name: string, turns: number): Promise<void> => {
      await ctx.step(`${name} 1`, async () => {
        for (let turn = 0; turn < turns; turn += 1) await new Promise((resolve) => setImmediate(resolve))
      })
      await ctx.step(`${name} 2`, () => {})
    }
    await Promise.all([branch('slow', 50), branch('fast', 0)])
    if (ctx.attemptIndex === 0) throw new Error('once more')
  })
  const { submit, worker } = await working([strict])
  const run = await submit(strict)
  await worker.tick()
  await worker.tick()
  expect(await run.state()).toBe('completed')
})
