import { expect, test } from 'vitest'
import type { Engine } from '../../src/engine/contract.ts'
import type { ExecutionId } from '../../src/model/id.ts'
import { ChildError } from '../../src/worker/errors.ts'
import { task, type Task } from '../../src/worker/task.ts'
import { recordedBy, working } from './working.ts'

const once = { attempts: 1 } as const
const double = task('double', async (ctx, value: number) => ctx.step('double', () => value * 2))
const broken = task('broken', { retry: once }, () => {
  throw new Error('out of order')
})

/** A child's ending wakes its parent after the commit. */
async function untilWoken(engine: Engine, id: ExecutionId): Promise<void> {
  await expect.poll(async () => (await engine.executions.describe(id))!.publicState).not.toBe('suspended')
}

test('a child runs as an execution of its own, and its parent waits for it without occupying a worker', async () => {
  const parent = task('parent', async (ctx, value: number) => {
    const result = await ctx.run(double, value)
    return ctx.step('after', () => result + 1)
  })
  const { submit, worker, runAll, engine } = await working([parent, double])
  const run = await submit(parent, 20)
  await worker.tick()
  expect(await run.state()).toBe('suspended')
  const { executions } = await engine.executions.list({ parentId: run.id })
  expect(executions).toMatchObject([{ kind: 'double', parentId: run.id }])
  await worker.tick()
  await untilWoken(engine, run.id)
  await runAll()
  expect(await run.result()).toBe(41)
  expect(await recordedBy(engine, run.id)).toEqual(['child double: succeeded', 'step after: succeeded'])
})

test('a child is created once, however often its parent runs, and its result is kept', async () => {
  const parent = task('parent', async (ctx) => {
    const first = await ctx.run(double, 1)
    await ctx.sleep('rest', '1h')
    const second = await ctx.run(double, 2)
    return [first, second]
  })
  const { submit, worker, runAll, after, engine } = await working([parent, double])
  const run = await submit(parent)
  await worker.tick()
  await worker.tick()
  await untilWoken(engine, run.id)
  await runAll()
  await after('1h')
  await untilWoken(engine, run.id)
  await runAll()
  expect(await run.result()).toEqual([2, 4])
  expect((await engine.executions.list({ parentId: run.id })).executions).toHaveLength(2)
})

test('ctx.all over children is one suspension', async () => {
  const parent = task('parent', async (ctx) =>
    ctx.all([1, 2, 3].map((value) => ctx.run(double, value, { name: `double ${value}` }))),
  )
  const { submit, worker, runAll, engine } = await working([parent, double])
  const run = await submit(parent)
  await worker.tick()
  await worker.tick()
  await untilWoken(engine, run.id)
  await runAll()
  expect(await run.result()).toEqual([2, 4, 6])
  const { events } = await engine.events.timeline(run.id)
  expect(events.filter((event) => event.kind === 'suspended')).toHaveLength(1)
})

test('a child that fails throws in its parent, with the same error in every later run', async () => {
  const seen: string[] = []
  const parent = task('parent', async (ctx) => {
    const what = await ctx.run(broken).catch((error: unknown) => {
      if (!(error instanceof ChildError)) throw error
      return `${error.ended}: ${error.reason}`
    })
    seen.push(what)
    await ctx.sleep('rest', '1h')
    return what
  })
  const { submit, worker, runAll, after, engine } = await working([parent, broken])
  const run = await submit(parent)
  await worker.tick()
  await worker.tick()
  await untilWoken(engine, run.id)
  await runAll()
  await after('1h')
  expect(await run.result()).toBe('failed: out of order')
  expect(seen).toEqual(['failed: out of order', 'failed: out of order'])
})

test('a spawned child runs beside its parent, can be awaited later or not at all, and ends with its parent', async () => {
  const slow = task('slow', async (ctx) => ctx.sleep('long', '1d'))
  const parent = task('parent', async (ctx) => {
    const kept = await ctx.spawn(slow, undefined, { name: 'kept', onParentEnd: 'detach' })
    const lost = await ctx.spawn(slow, undefined, { name: 'lost' })
    const quick = await ctx.spawn(double, 4)
    return { kept: kept.id, lost: lost.id, value: await quick.result() }
  })
  const { submit, worker, runAll, engine, handle } = await working([parent, double, slow])
  const run = await submit(parent)
  await worker.tick()
  await worker.tick()
  await untilWoken(engine, run.id)
  await runAll()
  const { kept, lost, value } = await run.result()
  expect(value).toBe(8)
  await expect.poll(() => handle(lost).state()).toBe('cancelled')
  expect(await handle(kept).state()).toBe('delayed')
})

test('the first of three wins, and the others are cancelled when the parent ends', async () => {
  const provider = task('provider', async (ctx, hours: number) => {
    if (hours > 0) await ctx.sleep('think', `${hours}h`)
    return hours
  })
  const race = task('race', async (ctx) =>
    ctx.race([5, 0, 7].map((hours) => ctx.run(provider, hours, { name: `provider ${hours}` }))),
  )
  const { submit, worker, runAll, engine } = await working([race, provider])
  const run = await submit(race)
  await worker.tick()
  await worker.tick()
  await untilWoken(engine, run.id)
  await runAll()
  expect(await run.result()).toBe(0)
  const states = async (): Promise<string[]> => {
    const { executions } = await engine.executions.list({ parentId: run.id })
    return executions.map((execution) => execution.publicState).toSorted()
  }
  await expect.poll(states).toEqual(['cancelled', 'cancelled', 'completed'])
})

test('children nest up to the limit, and no deeper', async () => {
  const nest: Task<number, number> = task('nest', { retry: once }, async (ctx, depth: number): Promise<number> => {
    return ctx.run(nest, depth + 1)
  })
  const { submit, worker, engine } = await working([nest])
  await submit(nest, 0)
  for (let depth = 0; depth <= 32; depth += 1) await worker.tick()
  const { executions } = await engine.executions.list({ limit: 100 })
  expect(executions).toHaveLength(33)
  const deepest = executions.find((execution) => execution.publicState === 'failed')!
  const [attempt] = (await engine.attempts.list(deepest.executionId)).attempts
  expect(attempt!.failureReason).toContain('is at the maximum child depth of 32')
})

test('an error in the options of ctx.spawn names ctx.spawn', async () => {
  const child = task('child', () => {})
  const parent = task('parent', (ctx) =>
    ctx.spawn(child, undefined, { nmae: 'typo' } as never).catch((error: unknown) => (error as Error).message),
  )
  const { submit, worker } = await working([parent])
  const run = await submit(parent)
  await worker.tick()
  expect(await run.result()).toContain('ctx.spawn')
})
