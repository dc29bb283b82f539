// A failure that every further attempt would repeat has no further attempts; other failures have those of the task's
// policy.
import { expect, test } from 'vitest'
import { EngineError } from '../../src/model/errors.ts'
import type { Context } from '../../src/worker/context.ts'
import { PermanentError, StepError } from '../../src/worker/errors.ts'
import type { SubmitOptions } from '../../src/worker/submission.ts'
import { task, type Task } from '../../src/worker/task.ts'
import { count, fields, text } from './schemas.ts'
import { working } from './working.ts'

const atOnce = (attempts: number) => ({ attempts, backoff: { type: 'fixed', delayMs: 0 } }) as const

class StolenCard extends PermanentError {
  override readonly name = 'StolenCard'
}

const checked = task('checked', { input: text }, (_, said) => said)
const anything = task('anything', (_, given: object) => Object.keys(given).length)

const never: Readonly<Record<string, (ctx: Context) => unknown>> = {
  'a bad step name': (ctx) => ctx.step('', () => 1),
  'a bad policy of a step': (ctx) => ctx.step('work', () => 1, { retry: { attempts: 0 } }),
  'a bad option of a child': (ctx) => ctx.spawn(checked, 'a', { colour: 'red' } as never),
  'a bad priority of a child': (ctx) => ctx.spawn(checked, 'a', { priority: 1.5 }),
  'a bad lane of a child that is awaited': (ctx) => ctx.run(checked, 'a', { lane: '' }),
  'a bad delay of a sleep': (ctx) => ctx.sleep('nap', 'soon' as never),
  'a bad timeout of a wait': (ctx) => ctx.waitFor('go', { timeout: 'soon' as never }),
  'an upstream that is neither a name nor a task': (ctx) => ctx.upstream(null as never),
  'a bad percentage': (ctx) => ctx.progress(101),
  'an input that a child refuses': (ctx) => ctx.run(checked, 5 as never),
  'a Map as the result': () => ({ found: new Map() }),
  'a Set as the input of a child': (ctx) => ctx.run(anything, { all: new Set() }),
  'an instance of a class as the input of a restart': (ctx) => ctx.restart({ card: new StolenCard('mine') }),
  'an input too large for a child': (ctx) => ctx.run(checked, 'x'.repeat(2 ** 20)),
  'more waitpoints that were handed out than a suspension takes': async (ctx) => {
    const made = await Promise.all(Array.from({ length: 101 }, (_, index) => ctx.waitpoint(`wait ${index}`)))
    return ctx.all(made.map((waitpoint) => ctx.waitFor(waitpoint)))
  },
  'a subclass of PermanentError': () => {
    throw new StolenCard('stolen')
  },
  'the same in a step, which does not try it again': (ctx) =>
    ctx.step(
      'pay',
      () => {
        throw new StolenCard('stolen')
      },
      { retry: atOnce(5) },
    ),
  'a refused request in a step': (ctx) =>
    ctx.step(
      'tag',
      () => {
        throw new EngineError('invalid_tag', 'no')
      },
      { retry: atOnce(5) },
    ),
}

test.each(Object.entries(never))('%s ends the execution at once', async (_, handler) => {
  let runs = 0
  const doomed = task('doomed', { retry: atOnce(5) }, async (ctx) => {
    runs += 1
    return handler(ctx)
  })
  const { submit, runAll, engine } = await working([doomed, checked, anything])
  const run = await submit(doomed)
  await runAll()
  expect(runs).toBe(1)
  expect((await engine.attempts.list(run.id)).attempts).toMatchObject([{ failureCategory: 'permanent' }])
})

test.each<[string, SubmitOptions]>([
  ['a bad priority', { priority: 1.5 }],
  ['an unknown option', { colour: 'red' } as never],
])('a submit with %s, by the code itself, ends the execution at once', async (_, options) => {
  let runs = 0
  const doomed: Task = task('doomed', { retry: atOnce(5) }, async () => {
    runs += 1
    await submit(checked, 'a', options)
  })
  const { submit, runAll, engine } = await working([doomed, checked])
  const run = await submit(doomed)
  await runAll()
  expect(runs).toBe(1)
  expect((await engine.attempts.list(run.id)).attempts).toMatchObject([{ failureCategory: 'permanent' }])
})

test.each<[string, () => unknown]>([
  ['the state of the world', () => new EngineError('flow_not_found', 'no')],
  ['a fault that others can fix', () => new EngineError('forbidden', 'no')],
  ['the page of a proxy', () => new EngineError('invalid_url', 'no')],
  ['whatever a permanent error is the cause of', () => new Error('no', { cause: new PermanentError('no') })],
])('%s is tried again', async (_, make) => {
  let runs = 0
  const unlucky = task('unlucky', { retry: atOnce(3) }, () => {
    runs += 1
    throw make()
  })
  const { submit, runAll } = await working([unlucky])
  await submit(unlucky)
  await runAll()
  expect(runs).toBe(3)
})

test('a step result that its schema rejects is retried by the step, and then by the task', async () => {
  let tries = 0
  const asks = task('asks', { retry: atOnce(2) }, (ctx) =>
    ctx.step('ask the model', () => ((tries += 1), 'no number' as never), { schema: count, retry: atOnce(3) }),
  )
  const { submit, runAll, engine } = await working([asks])
  const run = await submit(asks)
  await runAll()
  expect(tries).toBe(6)
  const error = await run.result().catch((thrown: unknown) => thrown as EngineError)
  expect(error).toMatchObject({
    cause: { code: 'step_output_refused' },
  })
  expect((await engine.attempts.list(run.id)).attempts.map((each) => each.failureCategory)).toEqual([
    'transient',
    'transient',
  ])
})

test('a signal that its schema rejects has the same code in the run that it wakes and in every later one', async () => {
  const codes: unknown[] = []
  const hears = task('hears', { signals: { answer: fields<{ ok: boolean }>(['ok']) } }, async (ctx) => {
    await ctx.waitFor('answer').catch((error: unknown) => codes.push((error as EngineError).code))
    await ctx.sleep('rest', '1h')
    return 'done'
  })
  const { submit, worker, runAll, after, engine } = await working([hears])
  const run = await submit(hears)
  await worker.tick()
  await engine.signals.send({ executionId: run.id, name: 'answer', payload: new TextEncoder().encode('{}') })
  await runAll()
  await after('1h')
  expect(codes).toEqual(['step_value_refused', 'step_value_refused'])
  expect(await run.result()).toBe('done')
})

test("a step's failure is as permanent in every later run as when it was recorded", async () => {
  const seen: unknown[] = []
  const caught = task('caught', async (ctx) => {
    const work = (): never => {
      throw new StolenCard('stolen')
    }
    const error = await ctx.step('pay', work).catch((thrown: unknown) => thrown)
    seen.push(error instanceof StepError && [error.error.name, error.isPermanent])
    await ctx.sleep('rest', '1h')
  })
  const { submit, worker, after } = await working([caught])
  await submit(caught)
  await worker.tick()
  await after('1h')
  expect(seen).toEqual([
    ['StolenCard', true],
    ['StolenCard', true],
  ])
})
