// ctx.spawn returns in the order of its record in every run, so branches that continue from there use names in that order.
import { expect, test } from 'vitest'
import type { Schema } from '../../src/worker/schema.ts'
import { task } from '../../src/worker/task.ts'
import { recordedBy, working } from './working.ts'

/** A schema that blocks until it is opened. */
function slowSchema(): { readonly schema: Schema<string, string>; open(): void } {
  let open = (): void => {}
  const opened = new Promise<void>((resolve) => (open = resolve))
  const validate = async (value: unknown) => {
    await opened
    return { value: value as string }
  }
  return { schema: { '~standard': { version: 1, vendor: 'test', validate } }, open: () => open() }
}

test('branches that spawn, or run a step, before a step of the same name keep their own step when the code runs again', async () => {
  const { schema, open } = slowSchema()
  const child = task('child', { input: schema }, (_, text) => `child of ${text}`)
  let runs = 0
  const parent = task('parent', async (ctx) => {
    runs += 1
    // The child is created when the other branch has used the name.
    const spawning = async (): Promise<string[]> => {
      const { id, result } = await ctx.spawn(child, 'one')
      const own = await ctx.step('same', () => 'the branch that spawned')
      return [own, typeof id, await result()]
    }
    const stepping = async (): Promise<string> => {
      await ctx.step('before', () => 1)
      return ctx.step('same', () => {
        open()
        return 'the branch with a step'
      })
    }
    return Promise.all([spawning(), stepping()])
  })
  const { submit, runAll, dispatched, engine } = await working([parent, child])
  const run = await submit(parent)
  await runAll()
  await dispatched()
  await runAll()
  expect(await run.result()).toEqual([['the branch that spawned', 'string', 'child of one'], 'the branch with a step'])
  expect(runs).toBe(2)
  expect(await recordedBy(engine, run.id)).toEqual([
    'step before: succeeded',
    'step same: succeeded',
    'step same #1: succeeded',
    'child child: succeeded',
  ])
})

test('a child that replaces a failed one returns in the order of its own record', async () => {
  let failures = 1
  const child = task('child', { retry: { attempts: 1 } }, () => {
    if (failures-- > 0) throw new Error('once')
    return 'made again'
  })
  const parent = task('parent', { retry: { attempts: 2, backoff: { type: 'fixed', delayMs: 0 } } }, async (ctx) => {
    const { result } = await ctx.spawn(child, undefined)
    return result()
  })
  const { submit, runAll, dispatched, engine } = await working([parent, child])
  const run = await submit(parent)
  for (let round = 1; round <= 3; round += 1) {
    await runAll()
    await dispatched()
  }
  await runAll()
  expect(await run.result()).toBe('made again')
  const { steps } = await engine.steps.list(run.id)
  // Created, failed, created again, succeeded.
  expect(steps).toMatchObject([{ kind: 'child', number: 1, recordNumber: 4, madeRecordNumber: 3 }])
})
