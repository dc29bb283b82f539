import { expect, test } from 'vitest'
import { EngineError } from '../../src/model/errors.ts'
import { jsonCodec } from '../../src/model/codec.ts'
import { WaitTimeoutError } from '../../src/worker/errors.ts'
import { task, type Task } from '../../src/worker/task.ts'
import { recordedBy, working } from './working.ts'

test('a sleep releases the worker, and the code goes on when it is over', async () => {
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

test('a sleep ends when it was first said to end, whatever happens in between', async () => {
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

test('sleepUntil takes a time or a date; what is past goes on at once', async () => {
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

test('SDK-06 a wait suspends; a signal by name wakes the same attempt, with what was sent', async () => {
  const attempts: [number, number][] = []
  const ask = task('ask', async (ctx) => {
    attempts.push([ctx.attemptIndex, ctx.fence.leaseEpoch])
    const answer = await ctx.waitFor('approval')
    return { approved: answer.ok }
  })
  const { submit, worker, runAll, engine } = await working([ask])
  const run = await submit(ask)
  await worker.tick()
  expect(await run.state()).toBe('suspended')
  expect(await run.signal('approval', { ok: true })).toMatchObject({ effect: 'resume_condition_satisfied' })
  await runAll()
  expect(await run.result()).toEqual({ approved: true })
  expect(attempts).toEqual([
    [0, 1],
    [0, 2],
  ])
  expect(await recordedBy(engine, run.id)).toEqual(['wait approval: succeeded'])
})

test('SDK-17 an outside callback resumes by the token of the waitpoint, and a wrong one is refused', async () => {
  const mailed: string[] = []
  const ask = task('ask', async (ctx) => {
    const approval = await ctx.waitpoint('approval')
    await ctx.step('mail', async () => mailed.push(await approval.token()))
    return ctx.waitFor(approval)
  })
  const { submit, worker, runAll, engine } = await working([ask])
  const run = await submit(ask)
  await worker.tick()
  const [waitpoint] = (await engine.waitpoints.list(run.id)).waitpoints
  const { waitpointId } = waitpoint!
  const { bytes } = jsonCodec.encode('yes')
  const wrong = engine.signals.deliver({ waitpointId, token: `${mailed[0]!.slice(0, -2)}xx`, name: 'answer' })
  await expect(wrong).rejects.toMatchObject({ code: 'invalid_token' })
  await engine.signals.deliver({ waitpointId, token: mailed[0]!, name: 'answer', payload: bytes })
  await runAll()
  expect(await run.result()).toBe('yes')
  expect(mailed).toHaveLength(1)
})

test('an approval link of the waitpoint answers the wait, once', async () => {
  const mailed: string[] = []
  const ask = task('ask', async (ctx) => {
    const approval = await ctx.waitpoint('approval')
    await ctx.step('mail', async () => {
      mailed.push(await approval.url('https://example.com/answer', { action: 'approved', expiresIn: '1d' }))
    })
    return ctx.waitFor(approval)
  })
  const { submit, worker, runAll, engine } = await working([ask])
  const run = await submit(ask)
  await worker.tick()
  const url = new URL(mailed[0]!)
  expect(`${url.origin}${url.pathname}`).toBe('https://example.com/answer')
  const link = url.searchParams.get('link')!
  const { bytes } = jsonCodec.encode('yes')
  const first = await engine.signals.redeem({ link, payload: bytes })
  expect(first).toMatchObject({ kind: 'accepted', effect: 'resume_condition_satisfied' })
  expect(await engine.signals.redeem({ link, payload: bytes })).toMatchObject({ kind: 'duplicate' })
  await runAll()
  expect(await run.result()).toBe('yes')
})

test('a signal that came before the wait does not cost the lease', async () => {
  const runs: number[] = []
  const ask = task('ask', async (ctx) => {
    runs.push(ctx.fence.leaseEpoch)
    await ctx.step('slow', () => 'slow')
    return ctx.waitFor('go')
  })
  const { submit, worker } = await working([ask])
  const run = await submit(ask)
  await run.signal('go', 'early')
  await worker.tick()
  expect(await run.result()).toBe('early')
  expect(runs).toEqual([1])
})

test('nobody answers in time: the wait throws, or gives what onTimeout says; in every later run too', async () => {
  const seen: string[] = []
  const ask = task('ask', async (ctx) => {
    const first = await ctx.waitFor('one', { timeout: '1h', onTimeout: () => 'nobody' })
    seen.push(first)
    try {
      await ctx.waitFor('two', { timeout: '1h' })
    } catch (error) {
      if (!(error instanceof WaitTimeoutError)) throw error
      seen.push(error.wait)
    }
    await ctx.sleep('rest', '1h')
    return seen.length
  })
  const { submit, worker, after, engine } = await working([ask])
  const run = await submit(ask)
  await worker.tick()
  expect(await run.state()).toBe('suspended')
  await after('59m')
  expect(seen).toEqual([])
  await after('1m')
  await after('1h')
  await after('1h')
  expect(await run.result()).toBe(5)
  expect(seen).toEqual(['nobody', 'nobody', 'two', 'nobody', 'two'])
  expect(await recordedBy(engine, run.id)).toEqual([
    'wait one: timed_out',
    'wait two: timed_out',
    'sleep rest: pending',
  ])
})

test('waits of one name take one signal each, in the order in which these came', async () => {
  const collect = task('collect', async (ctx) => {
    const votes: string[] = []
    for (let vote = 0; vote < 3; vote += 1) votes.push(await ctx.waitFor('vote'))
    return votes
  })
  const { submit, worker, runAll } = await working([collect])
  const run = await submit(collect)
  await run.signal('vote', 'a')
  await worker.tick()
  await run.signal('vote', 'b')
  await run.signal('vote', 'c')
  await runAll()
  expect(await run.result()).toEqual(['a', 'b', 'c'])
})

test('a step that runs beside a wait is finished before the run leaves', async () => {
  const effects: string[] = []
  const beside = task('beside', async (ctx) => {
    const [done, answer] = await Promise.all([
      ctx.step('work', async () => {
        for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
        return effects.push('work')
      }),
      ctx.waitFor('answer'),
    ])
    return [done, answer]
  })
  const { submit, worker, runAll } = await working([beside])
  const run = await submit(beside)
  await worker.tick()
  expect(effects).toEqual(['work'])
  await run.signal('answer', 'yes')
  await runAll()
  expect(await run.result()).toEqual([1, 'yes'])
  expect(effects).toEqual(['work'])
})

test('a worker that crashed after a signal had come loses nothing and takes it once', async () => {
  let isCrashing = true
  const ask = task('ask', async (ctx) => {
    const one = await ctx.waitFor('go')
    if (isCrashing) await new Promise(() => {})
    const two = await ctx.waitFor('go')
    return [one, two]
  })
  const { submit, worker, another, runAll, after } = await working([ask])
  const run = await submit(ask)
  await worker.tick()
  await run.signal('go', 1)
  const doomed = another({ concurrency: 1 })
  void doomed.tick()
  await expect.poll(() => doomed.running).toBe(1)
  await expect.poll(async () => (await run.state()) === 'active').toBe(true)
  isCrashing = false
  await after('2m')
  expect(await run.state()).toBe('suspended')
  await run.signal('go', 2)
  await runAll()
  expect(await run.result()).toEqual([1, 2])
})

test('random and uuid are the same in every run, and differ from one another', async () => {
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

test('a restart begins anew with another input, and without what was recorded', async () => {
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

test('a negative sleep, a time that is none and an unknown option are refused where they are said', async () => {
  const messages: string[] = []
  const wrong: Task<void, void> = task('wrong', async (ctx) => {
    for (const say of [
      () => ctx.sleep('s', -1),
      () => ctx.sleep('s', '1h30m' as '1h'),
      () => ctx.sleepUntil('s', new Date(Number.NaN)),
      () => ctx.waitFor('w', { timeout: -5 }),
      () => ctx.waitFor('w', { timeOut: 5 } as never),
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
  expect(messages.map((message) => message.split('; it ')[0])).toEqual([
    'the length of the sleep "s" is -1',
    'the length of the sleep "s" is "1h30m"',
    'the end of the sleep "s" is an invalid Date',
    'timeout is -5',
    'ctx.waitFor has an unknown field "timeOut"; did you mean timeout?',
    'the name of a sleep is empty',
    'the length of the sleep "5m" is undefined',
    'the end of the sleep "s" is "2030-01-01"',
    'the name of a wait is undefined',
    'the name of a waitpoint is undefined',
    'what ctx.all takes is 5',
    'ctx.run has an unknown field "nam"; did you mean name?',
    'ctx.run has an unknown field "idempotencyKey"',
    'the name of an idempotency key is undefined',
  ])
})
