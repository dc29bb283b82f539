// Sleeps, which release the worker, and the arguments that sleeps and other waits refuse.
import { expect, test } from 'vitest'
import { EngineError } from '../../src/model/errors.ts'
import { task, type Task } from '../../src/worker/task.ts'
import { working } from './working.ts'

test('a sleep releases the worker, and the code continues when it is over', async () => {
  const runs: string[] = []
  const nap = task('nap', async (ctx) => {
    runs.push('before')
    await ctx.sleep('nap', '10m')
    runs.push('after')
  })
  const { submit, worker, after } = await working([nap])
  const run = await submit(nap)
  await worker.tick()
  expect(await run.state()).toBe('delayed')
  expect(worker.running).toBe(0)
  await after('9m')
  expect(runs).toEqual(['before'])
  await after('1m')
  expect(runs).toEqual(['before', 'before', 'after'])
  expect(await run.state()).toBe('completed')
})

test('a sleep keeps the end that its first run set, whatever happens in between', async () => {
  const nap = task('nap', async (ctx) => {
    const before = await ctx.now()
    await ctx.sleep('nap', '1h')
    const other = await ctx.now()
    return other - before
  })
  const { submit, worker, after, engine, clock } = await working([nap])
  await clock.freeze()
  const run = await submit(nap)
  await worker.tick()
  const [, sleeping] = (await engine.steps.list(run.id)).steps
  await after('30m')
  expect((await engine.steps.list(run.id)).steps[1]).toEqual(sleeping)
  await after('30m')
  expect(await run.result()).toBe(3_600_000)
})

test('sleepUntil takes a number or a date; with a past time the code continues at once', async () => {
  const until = task('until', async (ctx, at: number) => {
    await ctx.sleepUntil('past', new Date(1000))
    await ctx.sleepUntil('then', at)
    return 'done'
  })
  const { submit, worker, after, clock } = await working([until])
  const run = await submit(until, (await clock.now()) + 60_000)
  while ((await worker.tick()) > 0);
  expect(await run.state()).toBe('delayed')
  await after('1m')
  expect(await run.result()).toBe('done')
})

test('a negative sleep, an invalid time and an unknown option are refused where the code passes them', async () => {
  const messages: string[] = []
  const wrong: Task<void, void> = task('wrong', async (ctx) => {
    for (const say of [
      () => ctx.sleep('s', -1),
      () => ctx.sleep('s', '1h30m' as '1h'),
      () => ctx.sleepUntil('s', new Date(Number.NaN)),
      () => ctx.waitFor('w', { timeout: -5 }),
      () => ctx.waitFor('w', { timeOut: 5 } as never),
      () => ctx.waitFor('w', { timeout: 5, onTimeout: 'nobody' as never }),
      () => ctx.waitFor('w', { onTimeout: () => 'nobody' }),
      () => ctx.waitFor('w', { schema: 'text' as never }),
      () => ctx.waitFor(ctx.waitpoint('w') as never),
      () => ctx.sleep('', '1s'),
      () => ctx.sleep('5m', undefined as never),
      () => ctx.sleepUntil('s', '2030-01-01' as never),
      () => ctx.waitFor(undefined as never),
      () => ctx.waitpoint(undefined as never),
      () => ctx.all(5 as never),
      () => ctx.run(wrong, undefined, { nam: 'x' } as never),
      () => ctx.run(wrong, undefined, { idempotencyKey: 'x' } as never),
      async () => ctx.idempotencyKey(undefined as never),
    ]) {
      try {
        await say()
      } catch (error) {
        expect(EngineError.is(error, 'invalid_input')).toBe(true)
        messages.push((error as Error).message)
      }
    }
  })
  const { submit, runAll } = await working([wrong])
  const run = await submit(wrong)
  await runAll()
  expect(await run.state()).toBe('completed')
  expect(messages.map((message) => message.split(/; (?:it|allowed fields) /)[0])).toEqual([
    'the length of the sleep "s" is -1',
    'the length of the sleep "s" is "1h30m"',
    'the end of the sleep "s" is an invalid Date',
    'timeout is -5',
    'ctx.waitFor has an unknown field "timeOut"; did you mean timeout?',
    'onTimeout is "nobody"',
    'onTimeout is given without a timeout',
    'schema is "text"',
    'the argument of ctx.waitFor is an object',
    'the name of a sleep is empty',
    'the length of the sleep "5m" is undefined',
    'the end of the sleep "s" is "2030-01-01"',
    'the name of a wait is undefined',
    'the name of a waitpoint is undefined',
    'the argument of ctx.all is 5',
    'ctx.run has an unknown field "nam"; did you mean name?',
    'ctx.run has an unknown field "idempotencyKey"',
    'the name of an idempotency key is undefined',
  ])
})
