import { expect, test } from 'vitest'
import type { EngineError } from '../../src/model/errors.ts'
import type { Schema } from '../../src/worker/schema.ts'
import { task } from '../../src/worker/task.ts'
import { atOnce } from './retries.ts'
import { length } from './schemas.ts'
import { recordedBy, working } from './working.ts'

test("steps run in order, are recorded, and the run completes with the handler's return value", async () => {
  const greet = task('greet', async (ctx, { name }: { name: string }) => {
    const hello = await ctx.step('hello', () => `hello ${name}`)
    const bang = await ctx.step('bang', async () => '!')
    return { said: hello + bang }
  })
  const { submit, worker, engine } = await working([greet])
  const run = await submit(greet, { name: 'Ada' })
  expect(await worker.tick()).toBe(1)
  expect(await run.result()).toEqual({ said: 'hello Ada!' })
  expect(await recordedBy(engine, run.id)).toEqual(['step hello: succeeded', 'step bang: succeeded'])
})

test('a step that succeeded never runs again, though the attempt fails and is retried', async () => {
  const effects: string[] = []
  let isBroken = true
  const flaky = task('flaky', { retry: atOnce(3) }, async (ctx) => {
    const one = await ctx.step('one', () => effects.push('one'))
    if (isBroken) throw new Error('not yet')
    const two = await ctx.step('two', () => effects.push('two'))
    return [one, two]
  })
  const { submit, worker, runAll } = await working([flaky])
  const run = await submit(flaky)
  await worker.tick()
  await worker.tick()
  isBroken = false
  await runAll()
  expect(await run.result()).toEqual([1, 2])
  expect(effects).toEqual(['one', 'two'])
})

test('steps of the same name are distinguished by the order of their first use', async () => {
  const pages: number[] = []
  const loop = task('loop', async (ctx) => {
    for (let page = 1; page <= 3; page += 1) await ctx.step('page', () => pages.push(page))
    await ctx.sleep('rest', '1h')
    return ctx.step('page', () => 'last')
  })
  const { submit, worker, after, engine } = await working([loop])
  const run = await submit(loop)
  await worker.tick()
  await after('1h')
  expect(await run.result()).toBe('last')
  expect(pages).toEqual([1, 2, 3])
  expect(await recordedBy(engine, run.id)).toEqual([
    'step page: succeeded',
    'step page #1: succeeded',
    'step page #2: succeeded',
    'sleep rest: succeeded',
    'step page #3: succeeded',
  ])
})

test('steps run side by side, and a hundred of them share a few statements', async () => {
  const wide = task('wide', async (ctx) => {
    const names = Array.from({ length: 100 }, (_, index) => index)
    return Promise.all(names.map((index) => ctx.step(`part ${index}`, () => index * 2)))
  })
  const { submit, worker } = await working([wide])
  const run = await submit(wide)
  await worker.tick()
  expect(await run.result()).toEqual(Array.from({ length: 100 }, (_, index) => index * 2))
})

test('a step returns what every later run will read: no value works only the first time', async () => {
  const seen: unknown[] = []
  const dated = task('dated', async (ctx) => {
    const value = await ctx.step('when', () => ({ at: new Date(0), left: undefined }))
    seen.push(value)
    seen.push(await ctx.step('nothing', () => {}))
    await ctx.sleep('rest', '1h')
  })
  const { submit, worker, after } = await working([dated])
  await submit(dated)
  await worker.tick()
  await after('1h')
  expect(seen).toEqual([{ at: '1970-01-01T00:00:00.000Z' }, undefined, { at: '1970-01-01T00:00:00.000Z' }, undefined])
})

test('a schema with a transform returns the same in the run of the step and in every later run', async () => {
  const revived: Schema<unknown, Date> = {
    '~standard': { version: 1, vendor: 'test', validate: (value) => ({ value: new Date(value as string) }) },
  }
  const seen: unknown[] = []
  const dated = task('dated', async (ctx) => {
    seen.push(await ctx.step('at', () => new Date(0), { schema: revived }))
    await ctx.sleep('nap', '1h')
  })
  const { submit, worker, after } = await working([dated])
  await submit(dated)
  await worker.tick()
  await after('1h')
  expect(seen).toEqual([new Date(0), new Date(0)])
})

test('a schema that rejects its own output fails the step before it is recorded', async () => {
  const odd = task('odd', (ctx) => ctx.step('size', (): string => 'four', { schema: length }))
  const { submit, runAll, engine } = await working([odd])
  const run = await submit(odd, undefined, { policy: { retry: { attempts: 1 } } })
  await runAll()
  await expect(run.result()).rejects.toThrow('the stored result of step "size" is refused by its schema')
  expect((await engine.steps.list(run.id)).steps).toMatchObject([{ name: 'size', state: 'failed' }])
})

test('a value that cannot be encoded fails the step for good, and the error names it', async () => {
  const odd = task('odd', { retry: atOnce(3) }, (ctx) => ctx.step('big', () => 10n))
  const { submit, runAll } = await working([odd])
  const run = await submit(odd)
  await runAll()
  const error = await run.result().catch((thrown: unknown) => thrown as EngineError)
  expect((error as EngineError).message).toBe(
    `execution ${run.id} failed: the result of step "big" cannot be encoded: Do not know how to serialize a BigInt`,
  )
})

test.each([
  ['a Map', { a: { b: new Map() } }, 'a.b is a Map, which JSON cannot store; convert it with Object.fromEntries(map)'],
  ['a function', { call: () => 1 }, 'call is a function, which JSON cannot store; leave it out'],
])('a step that returns %s fails for good, with the path', async (_, value, sentence) => {
  let tries = 0
  const lossy = task('lossy', { retry: atOnce(3) }, (ctx) =>
    ctx.step(
      'x',
      () => {
        tries += 1
        return value as never
      },
      { retry: atOnce(3) },
    ),
  )
  const { submit, runAll } = await working([lossy])
  const run = await submit(lossy)
  await runAll()
  await expect(run.result()).rejects.toThrow(`the result of step "x" cannot be encoded: ${sentence}`)
  expect(tries).toBe(1)
})

test('a step without a name, with an unknown option, or with a name that changes its kind is refused', async () => {
  const messages: string[] = []
  const wrong = task('wrong', async (ctx) => {
    const hear = (error: unknown): void => void messages.push((error as EngineError).message)
    await ctx.step('', () => 1).catch(hear)
    await ctx.step('a', () => 1, { retires: 3 } as never).catch(hear)
    await ctx.step('a', undefined as never).catch(hear)
    if (ctx.attemptIndex === 0) await ctx.step('same', () => 1)
    else await ctx.sleep('same', '1s')
    throw new Error('once more')
  })
  const { submit, worker, after, engine } = await working([wrong])
  const run = await submit(wrong)
  await worker.tick()
  expect(messages).toEqual([
    'the name of a step is empty; it must be 1 to 256 bytes of text without control characters',
    'step "a" has an unknown field "retires"; did you mean retry?',
    'the work of step "a" is undefined; it must be a function',
  ])
  await after('2s')
  expect(await run.state()).toBe('failed')
  expect((await engine.attempts.list(run.id)).attempts[1]!.failureReason).toContain(
    '"same" is recorded as a step, but is now a sleep',
  )
})

test('a recorded step that the finished run never reached appends a warning event', async () => {
  let isOld = true
  const changing = task('changing', { retry: atOnce(2) }, async (ctx) => {
    await ctx.step('kept', () => 1)
    if (isOld) await ctx.step('dropped', () => 2)
    if (isOld) throw new Error('deployed anew')
  })
  const { submit, worker } = await working([changing])
  const run = await submit(changing)
  await worker.tick()
  isOld = false
  await worker.tick()
  expect(await run.state()).toBe('completed')
  const warnings = []
  for await (const event of run.events()) if (event.kind === 'warned') warnings.push(event)
  expect(warnings[0]).toMatchObject({
    reason: 'recorded step "dropped" was not reached by the current code; give changed code a new version',
    details: { steps: ['dropped'] },
  })
})
