import { expect, test } from 'vitest'
import { jsonCodec } from '../../src/model/codec.ts'
import type { Context } from '../../src/worker/context.ts'
import { WaitTimeoutError } from '../../src/worker/errors.ts'
import { task } from '../../src/worker/task.ts'
import { atOnce } from './retries.ts'
import { recordedBy, working } from './working.ts'

test('SDK-06 a wait suspends; a signal by name wakes the same attempt, and the wait returns its payload', async () => {
  const attempts: [number, number][] = []
  const ask = task('ask', async (ctx) => {
    attempts.push([ctx.attemptIndex, ctx.fence.leaseEpoch])
    const answer = (await ctx.waitFor('approval')) as { ok: boolean }
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

test('SDK-17 an outside callback resumes the run by the token of the waitpoint, and a wrong token is refused', async () => {
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

test('a signal that arrived before the wait does not cost the lease', async () => {
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

test('a wait without an answer before its timeout throws, or returns the value of onTimeout, in every later run too', async () => {
  const seen: unknown[] = []
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
    'sleep rest: succeeded',
  ])
})

test('the timeout error of ctx.all lists the waits that were answered before, in every later run too', async () => {
  const seen: unknown[] = []
  const ask = task('ask', async (ctx) => {
    try {
      await ctx.all([
        ctx.waitFor('legal', { timeout: '1h' }),
        ctx.any([ctx.waitFor('finance'), ctx.sleep('long', '2d')]),
        ctx.waitFor('board', { timeout: '2h', onTimeout: () => 'nobody' }),
        ctx.waitFor('audit', { timeout: '2h' }),
      ])
    } catch (error) {
      if (!(error instanceof WaitTimeoutError)) throw error
      seen.push([error.wait, error.satisfied, error.unsatisfied])
    }
    try {
      await ctx.waitFor('lone', { timeout: '1h' })
    } catch (error) {
      if (!(error instanceof WaitTimeoutError)) throw error
      seen.push([error.wait, error.satisfied, error.unsatisfied])
    }
    return 'over'
  })
  const { submit, worker, after } = await working([ask])
  const run = await submit(ask)
  await worker.tick()
  await run.signal('finance', { limit: 5 })
  await run.signal('legal', 'fine')
  await after('2h')
  const first = [
    'audit',
    [
      { wait: 'legal', value: 'fine' },
      { wait: 'finance', value: { limit: 5 } },
    ],
    ['long', 'board', 'audit'],
  ]
  expect(seen).toEqual([first])
  await after('1h')
  expect(await run.result()).toBe('over')
  expect(seen).toEqual([first, first, ['lone', [], ['lone']]])
})

test('waits of one name take one signal each, in order of arrival', async () => {
  const collect = task('collect', async (ctx) => {
    const votes: unknown[] = []
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

test('a step that runs beside a wait finishes before the run suspends', async () => {
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

test('after a worker crashed with a signal pending, the run receives the signal once', async () => {
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

test('a signal may have the name of a built-in object property', async () => {
  const odd = task('odd', (ctx) => ctx.waitFor('constructor' as never))
  const { submit, worker, runAll } = await working([odd])
  const run = await submit(odd)
  await worker.tick()
  await (run.signal as (name: string, payload: unknown) => Promise<unknown>)('constructor', 'answered')
  await runAll()
  expect(await run.result()).toBe('answered')
})

test('the value of onTimeout may be a step, or another wait', async () => {
  const ask = task('ask', { strict: true }, async (ctx) => {
    const instead = await ctx.waitFor('one', { timeout: '1h', onTimeout: () => ctx.step('instead', () => 'nobody') })
    const later = await ctx.waitFor('two', { timeout: '1h', onTimeout: () => ctx.waitFor('three') })
    await ctx.sleep('rest', '1h')
    return [instead, later]
  })
  const { submit, runAll, after } = await working([ask])
  const run = await submit(ask)
  await runAll()
  await after('1h')
  await after('1h')
  await run.signal('three', 'somebody')
  await runAll()
  await after('1h')
  expect(await run.result()).toEqual(['nobody', 'somebody'])
})

test('a step that starts while a run checks whether to suspend is finished first', async () => {
  let begin = (): void => {}
  const slow = task('slow', (ctx) => ctx.waitFor('never'))
  const busy = task('busy', async (ctx) => {
    const hasBegun = new Promise<void>((resolve) => (begin = resolve))
    const pay = async (): Promise<void> => {
      await hasBegun
      await ctx.step('pay', () => engine.serverTime())
    }
    await Promise.all([ctx.run(slow), pay()])
  })
  const { submit, worker, engine } = await working([busy, slow])
  const { result } = engine.executions
  Object.assign(engine.executions, {
    async result(...asked: Parameters<typeof result>) {
      begin()
      return result(...asked)
    },
  })
  const run = await submit(busy)
  await worker.tick()
  expect(await run.state()).toBe('suspended')
  expect(await recordedBy(engine, run.id)).toContain('step pay: succeeded')
})

test.each<[string, (ctx: Context) => PromiseLike<unknown>]>([
  ['a wait', (ctx) => ctx.waitFor('one', { timeout: '1h' })],
  ['ctx.all', (ctx) => ctx.all([ctx.waitFor('one', { timeout: '1h' }), ctx.waitFor('two', { timeout: '30m' })])],
  ['ctx.race', (ctx) => ctx.race([ctx.waitFor('one', { timeout: '1h' }), ctx.waitFor('two')])],
  ['ctx.any', (ctx) => ctx.any([ctx.waitFor('one', { timeout: '1h' }), ctx.waitFor('two', { timeout: '1h' })])],
])('a timeout of %s that the code does not catch fails for good', async (_, wait) => {
  const ask = task('ask', { retry: atOnce(3) }, async (ctx) => {
    await wait(ctx)
  })
  const { submit, worker, after, engine } = await working([ask])
  const run = await submit(ask)
  await worker.tick()
  await after('1h')
  expect(await run.state()).toBe('failed')
  expect((await engine.attempts.list(run.id)).attempts).toMatchObject([{ failureCategory: 'timeout' }])
})

test('a timeout that the code turns into an error of its own is retried by the policy', async () => {
  const ask = task('ask', { retry: atOnce(3) }, async (ctx) => {
    await ctx.waitFor('one', { timeout: '1h' }).catch((cause: unknown) => {
      throw new Error('no answer', { cause })
    })
  })
  const { submit, worker, after, engine } = await working([ask])
  const run = await submit(ask)
  await worker.tick()
  await after('1h')
  expect(await run.state()).toBe('failed')
  const { attempts } = await engine.attempts.list(run.id)
  expect(attempts.map(({ failureCategory }) => failureCategory)).toEqual(['transient', 'transient', 'transient'])
})
