// Context methods that do not wait: random values that repeat in every run, and restarts.
import { expect, test } from 'vitest'
import { task } from '../../src/worker/task.ts'
import { working } from './working.ts'

test('random and uuid return the same values in every run, and each call returns another', async () => {
  const drawn: unknown[][] = []
  const dice = task('dice', async (ctx) => {
    drawn.push([ctx.random(), ctx.random(), ctx.uuid(), ctx.uuid()])
    await ctx.sleep('rest', '1h')
  })
  const { submit, worker, after } = await working([dice])
  await submit(dice)
  await worker.tick()
  await after('1h')
  expect(drawn).toHaveLength(2)
  expect(drawn[0]).toEqual(drawn[1])
  expect(new Set(drawn[0]).size).toBe(4)
  expect(drawn[0]![2]).toMatch(/^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/)
})

test('the methods of the context work without their object', async () => {
  const other = task('other', () => 2)
  const apart = task('apart', async (ctx) => {
    const { step, run, all, sleep, now, uuid, idempotencyKey, upstreams } = ctx
    const values = await all([step('one', () => 1), run(other), sleep('pause', '1s')])
    const facts = [typeof (await now()), uuid().length, (await upstreams()).length, idempotencyKey('key')]
    return [...values, ...facts]
  })
  const { submit, runAll, after } = await working([apart, other])
  const run = await submit(apart)
  await runAll()
  await after('1s')
  expect(await run.result()).toEqual([1, 2, null, 'number', 36, 0, `${run.id}:key:0:key`])
})

test('a restart begins with another input and without the recorded steps', async () => {
  const seen: [number, number][] = []
  const pages = task('pages', async (ctx, page: number): Promise<string> => {
    await ctx.step('read', () => seen.push([ctx.generation, page]))
    if (page < 3) return ctx.restart(page + 1)
    return 'end'
  })
  const { submit, runAll } = await working([pages])
  const run = await submit(pages, 1)
  await runAll()
  expect(await run.result()).toBe('end')
  expect(seen).toEqual([
    [0, 1],
    [1, 2],
    [2, 3],
  ])
})
