// The steps that readers of a run see: dense numbers, and states that match what has happened.
import { expect, test } from 'vitest'
import type { Engine } from '../../src/engine/contract.ts'
import type { ExecutionId } from '../../src/model/id.ts'
import { task } from '../../src/worker/task.ts'
import { recordedBy, working } from './working.ts'

/** Number and name of each, read in pages of two. */
async function numberedBy(engine: Engine, id: ExecutionId): Promise<string[]> {
  const seen: string[] = []
  let cursor: string | null = null
  do {
    const page: Awaited<ReturnType<typeof engine.steps.list>> = await engine.steps.list(id, {
      limit: 2,
      ...(cursor !== null && { cursor }),
    })
    seen.push(...page.steps.map(({ number, name }) => `${number} ${name}`))
    cursor = page.nextCursor
  } while (cursor !== null)
  return seen
}

test('a finished sleep has succeeded, while the run continues and after it has ended', async () => {
  const nap = task('nap', async (ctx) => {
    await ctx.sleep('nap', '10m')
    await ctx.waitFor('go')
    await ctx.sleepUntil('past', new Date(1000))
    return ctx.step('last', () => 'done')
  })
  const { submit, runAll, after, engine } = await working([nap])
  const run = await submit(nap)
  await runAll()
  expect(await recordedBy(engine, run.id)).toEqual(['sleep nap: pending'])
  await after('10m')
  expect(await run.state()).toBe('suspended')
  expect(await recordedBy(engine, run.id)).toEqual(['sleep nap: succeeded'])
  await run.signal('go', null)
  await runAll()
  expect(await run.result()).toBe('done')
  expect(await recordedBy(engine, run.id)).toEqual([
    'sleep nap: succeeded',
    'wait go: succeeded',
    'sleep past: succeeded',
    'step last: succeeded',
  ])
})

test('a replay from a step keeps the sleeps that were over before it', async () => {
  const nap = task('nap', async (ctx) => {
    await ctx.sleep('nap', '10m')
    return ctx.step('last', () => 'done')
  })
  const { submit, runAll, after, engine } = await working([nap])
  const run = await submit(nap)
  await runAll()
  await after('10m')
  await engine.executions.replay({ executionId: run.id, from: 'last' })
  await runAll()
  expect(await run.state()).toBe('completed')
  expect(await numberedBy(engine, run.id)).toEqual(['1 nap', '2 last'])
})

test('numbers have no gaps after failed tries, timeouts, lost races, a new attempt, a restart or a replay', async () => {
  let failures = 3
  const child = task('child', () => 'made')
  const busy = task(
    'busy',
    { retry: { attempts: 2, backoff: { type: 'fixed', delayMs: 0 } } },
    async (ctx, round: number) => {
      const retry = { attempts: 2, backoff: { type: 'fixed', delayMs: 0 } } as const
      await ctx.step(
        'flaky',
        () => {
          if (failures-- > 0) throw new Error('not yet')
        },
        { retry },
      )
      await ctx.sleep('nap', '1m')
      await ctx.race([ctx.sleep('late', '1d'), ctx.waitFor('answer', { timeout: '1h', onTimeout: () => 'none' })])
      await ctx.run(child, undefined)
      if (round === 1) ctx.restart(2)
      await ctx.step('first of two', () => 1)
      return ctx.step('last', () => 2)
    },
  )
  const { submit, runAll, after, dispatched, engine } = await working([busy, child])
  const run = await submit(busy, 1)
  await runAll()
  expect(await numberedBy(engine, run.id)).toEqual(['1 flaky', '2 nap'])
  await after('1m')
  expect(await recordedBy(engine, run.id)).toEqual([
    'step flaky: succeeded',
    'sleep nap: succeeded',
    'sleep late: pending',
    'wait answer: pending',
  ])
  expect(await numberedBy(engine, run.id)).toEqual(['1 flaky', '2 nap', '3 late', '4 answer'])
  const finish = async (): Promise<void> => {
    await after('1h')
    await dispatched()
    await runAll()
  }
  await finish()
  expect(await numberedBy(engine, run.id)).toEqual(['1 flaky', '2 nap'])
  await after('1m')
  await finish()
  expect(await run.result()).toBe(2)
  const names = ['flaky', 'nap', 'late', 'answer', 'child', 'first of two', 'last']
  expect(await numberedBy(engine, run.id)).toEqual(names.map((name, index) => `${index + 1} ${name}`))
  expect(await recordedBy(engine, run.id)).toContain('sleep late: abandoned')
  await engine.executions.replay({ executionId: run.id, from: 'first of two' })
  const kept = ['flaky', 'nap', 'answer', 'child']
  expect(await numberedBy(engine, run.id)).toEqual(kept.map((name, index) => `${index + 1} ${name}`))
  await runAll()
  const again = [...kept, 'late', 'first of two', 'last']
  expect(await numberedBy(engine, run.id)).toEqual(again.map((name, index) => `${index + 1} ${name}`))
})

test('steps that were not over when the execution ended are abandoned, and were pending before', async () => {
  const held = task('held', async (ctx) => {
    await ctx.all([ctx.sleep('long', '1d'), ctx.waitFor('answer', { timeout: '2d' })])
  })
  const { submit, runAll, engine } = await working([held])
  const run = await submit(held)
  await runAll()
  expect(await recordedBy(engine, run.id)).toEqual(['sleep long: pending', 'wait answer: pending'])
  await run.cancel()
  expect(await recordedBy(engine, run.id)).toEqual(['sleep long: abandoned', 'wait answer: abandoned'])
})
