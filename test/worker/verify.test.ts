// Recorded runs against changed code.
import { expect, test } from 'vitest'
import { submitFlow } from '../../src/connect/flow.ts'
import { handleFor } from '../../src/connect/submit.ts'
import { jsonCodec } from '../../src/model/codec.ts'
import type { Context } from '../../src/worker/context.ts'
import type { RecordedRun } from '../../src/worker/recorded-run.ts'
import { task, type TaskOptions } from '../../src/worker/task.ts'
import { verify } from '../../src/worker/verify.ts'
import { working } from './working.ts'
import { patience } from '../support/patience.ts'

const effects: string[] = []
const child = task('invoice', (_, amount: number) => `invoice of ${amount}`)

type Code = (ctx: Context<Record<string, unknown>>, input: { amount: number }) => unknown

const order = (code: Code, options: TaskOptions = {}) => task('order', options, code as never)

const charge = async (ctx: Context<Record<string, unknown>>, amount: number): Promise<string> =>
  ctx.step('charge', () => {
    effects.push('charge')
    return `charged ${amount}`
  })

const original: Code = async (ctx, { amount }) => {
  await ctx.now()
  const charged = await charge(ctx, amount)
  await ctx.sleep('cool off', '1h')
  const answer = await ctx.waitFor('answer')
  const invoice = await ctx.run(child, amount)
  await ctx.step('send', () => void effects.push('send'))
  return { charged, answer, invoice }
}

/** Three runs as a file would contain them: one has ended, one sleeps, one waits. */
async function recordedRuns(): Promise<Record<'ended' | 'sleeping' | 'waiting', RecordedRun>> {
  const recording = order(original)
  const { submit, runAll, after, dispatched } = await working([recording, child])
  const [ended, waiting] = [
    await submit(recording, { amount: 1 } as never),
    await submit(recording, { amount: 2 } as never),
  ]
  await ended.signal('answer', 'yes')
  await runAll()
  await after('1h')
  await dispatched()
  await runAll()
  const sleeping = await submit(recording, { amount: 3 } as never)
  await runAll()
  expect(await ended.state()).toBe('completed')
  effects.splice(0)
  const runs = { ended: await ended.export(), sleeping: await sleeping.export(), waiting: await waiting.export() }
  return JSON.parse(JSON.stringify(runs)) as typeof runs
}

test('unchanged code takes the recorded way to its end or to the current wait of the run, and has no effects', async () => {
  const { ended, sleeping, waiting } = await recordedRuns()
  const report = await verify(order(original), [ended, sleeping, waiting])
  expect(report.runs.map(({ kind }) => kind)).toEqual(['same', 'same', 'same'])
  expect(report.ok).toBe(true)
  expect(String(report)).toBe('')
  expect(effects).toEqual([])
})

test('a new step before a recorded one differs, unless the task allows it anywhere; strict tasks never allow it', async () => {
  const { ended, sleeping } = await recordedRuns()
  const withCheck = order(async (ctx, { amount }) => {
    await ctx.now()
    await ctx.step('check stock', () => void effects.push('check'))
    await charge(ctx, amount)
  })
  const { ok, runs } = await verify(withCheck, [ended, sleeping])
  expect(ok).toBe(false)
  expect(runs.map(({ kind, recorded, met }) => [kind, recorded, met])).toEqual([
    ['differs', 'charge', 'check stock'],
    ['differs', 'charge', 'check stock'],
  ])
  expect(runs[0]!.sentence).toBe('reaches the new step "check stock" after "ctx.now" where "charge" is recorded')
  expect(runs[0]!.isRefused).toBe(false)
  const allowed = await verify(withCheck, [ended], { allowNew: 'anywhere' })
  expect([allowed.ok, allowed.runs[0]!.kind]).toEqual([true, 'new'])
  const strict = await verify(order(withCheck.handler as never, { strict: true }), [ended], { allowNew: 'anywhere' })
  expect([strict.ok, strict.runs[0]!.isRefused]).toEqual([false, true])
  await expect(verify(withCheck, [ended], { allowNew: 'everywhere' as never })).rejects.toThrow(
    'it must be one of end, anywhere',
  )
  expect(effects).toEqual([])
})

test('another order, a missing step or another kind differs, with both names, also when the code catches the error', async () => {
  const { ended } = await recordedRuns()
  const changed: [Code, Record<string, unknown>][] = [
    [
      async (ctx, { amount }) => {
        await ctx.now()
        await ctx.sleep('cool off', '1h')
        await charge(ctx, amount)
      },
      { recorded: 'charge', met: 'cool off', sentence: 'reaches the sleep "cool off" where "charge" is recorded' },
    ],
    [
      async (ctx, { amount }) => {
        await ctx.now()
        await charge(ctx, amount)
        return 'done'
      },
      { recorded: 'cool off', met: null },
    ],
    [
      async (ctx, { amount }) => {
        await ctx.now()
        await charge(ctx, amount)
        await ctx.step('cool off', () => {}).catch(() => {})
        return 'done'
      },
      { recorded: 'cool off', met: 'cool off', isRefused: true },
    ],
    [
      async (ctx) => {
        await ctx.now()
        await ctx.step('charge', () => '', { schema: refusing })
      },
      { isRefused: true, sentence: expect.stringContaining('the recorded value of step "charge" is refused') },
    ],
  ]
  for (const [code, difference] of changed) {
    const { ok, runs } = await verify(order(code), [ended])
    expect(ok).toBe(false)
    expect(runs[0]).toMatchObject({ kind: 'differs', ...difference })
  }
  expect(effects).toEqual([])
})

test('a run of another task and a value that is no run are refused', async () => {
  const { ended } = await recordedRuns()
  await expect(verify(child, [ended])).rejects.toThrow('is a run of "order", not of "invoice"')
  await expect(verify(child, [{} as RecordedRun])).rejects.toThrow(
    'a recorded run is an object; it must be what `export` of a handle returned',
  )
  await expect(verify(child, ended as never)).rejects.toThrow('the runs is an object; it must be a list')
  await expect(verify('order' as never, [ended])).rejects.toThrow(
    'the task is "order"; it must be what task() returned',
  )
})

test("code that throws before the run's current wait differs, and so does code that throws before a recorded step", async () => {
  const { ended, sleeping, waiting } = await recordedRuns()
  const late: Code = async (ctx, { amount }) => {
    await ctx.now()
    await charge(ctx, amount)
    await ctx.sleep('cool off', '1h')
    throw new Error('a bug')
  }
  const early: Code = async (ctx) => {
    await ctx.now()
    throw new Error('a bug')
  }
  const [first, second] = [await verify(order(late), [waiting]), await verify(order(early), [sleeping, ended])]
  expect([first.ok, second.ok]).toEqual([false, false])
  expect(first.runs[0]!.sentence).toBe('throws where the recorded run did not: a bug')
  expect(second.runs.map(({ sentence }) => sentence)).toEqual([
    'throws before the recorded step "charge": a bug',
    'throws before the recorded step "charge": a bug',
  ])
})

test('a run that failed takes the recorded way when it throws at the same place', async () => {
  const fails: Code = async (ctx, { amount }) => {
    await charge(ctx, amount)
    throw new Error('as ever')
  }
  const failing = order(fails, { retry: { attempts: 1 } })
  const { submit, runAll } = await working([failing])
  const run = await submit(failing, { amount: 1 } as never)
  await runAll()
  const recorded = await run.export()
  expect(recorded.state).toBe('failed')
  expect((await verify(failing, [recorded])).runs[0]!.kind).toBe('same')
})

test('a signal that has arrived and was not taken yet does not make its wait a new step', async () => {
  const waits = order(async (ctx) => ctx.waitFor('answer'))
  const { submit, worker, engine } = await working([waits])
  const run = await submit(waits, { amount: 1 } as never)
  await worker.tick()
  await run.signal('answer', 'yes')
  const recorded = await run.export()
  expect([recorded.state, (await engine.steps.list(run.id)).steps]).toEqual(['resumable', []])
  expect((await verify(waits, [recorded])).runs[0]!.kind).toBe('same')
})

test('a member of a flow reads its upstream results again, and is followed beyond them', async () => {
  const build = task('build', () => 'image')
  const deploy = (code: (ctx: Context, image: string) => unknown) =>
    task('deploy', async (ctx) => code(ctx, `${await ctx.upstream(build)} of ${(await ctx.upstreams()).length}`))
  const recording = deploy((ctx, image) => ctx.step('roll out', () => `${image} is live`))
  const { engine, worker, runAll, dispatched } = await working([build, recording])
  const flow = await submitFlow(engine, jsonCodec, (f) => f.after(f.add(build), f.add(recording)), {})
  await runAll()
  await dispatched()
  while ((await worker.tick()) > 0);
  expect(await flow.result({ timeout: patience(60_000) })).toBe('image of 1 is live')
  const recorded = JSON.parse(
    JSON.stringify(await handleFor(engine, jsonCodec, undefined, flow.members['deploy']!).export()),
  ) as RecordedRun
  const seen: string[] = []
  const changed = deploy((ctx, image) => {
    seen.push(image)
    return ctx.step('roll out twice', () => image)
  })
  expect((await verify(recording, [recorded])).runs[0]!.kind).toBe('same')
  expect((await verify(changed, [recorded])).runs[0]).toMatchObject({ kind: 'differs', met: 'roll out twice' })
  expect(seen).toEqual(['image of 1'])
})

test('a replaced, a renamed and a removed step differ; a new step after all recorded ones does not', async () => {
  const recording = task('two', async (ctx) => {
    await ctx.step('a', () => 1)
    return ctx.step('b', () => 2)
  })
  const { submit, runAll } = await working([recording])
  const run = await submit(recording)
  await runAll()
  const recorded = await run.export()
  const verdictOn = async (...names: string[]) => {
    const changed = task('two', async (ctx) => {
      for (const name of names) await ctx.step(name, () => 0)
    })
    const { ok, runs } = await verify(changed, [recorded])
    return [ok, runs[0]!.kind, runs[0]!.sentence]
  }
  expect(await verdictOn('a', 'c')).toEqual([
    false,
    'differs',
    'reaches the new step "c" after "a" where "b" is recorded',
  ])
  expect(await verdictOn('a')).toEqual([false, 'differs', 'ends without the recorded step "b"'])
  expect(await verdictOn('b')).toEqual([false, 'differs', 'reaches the step "b" where "a" is recorded'])
  expect(await verdictOn('a', 'b', 'c')).toEqual([true, 'new', 'reaches the new step "c" after "b"'])
  expect(await verdictOn('a', 'b')).toEqual([true, 'same', 'takes the recorded path'])
})

test('the losers of a race have no record, and do not stop the replay', async () => {
  const racing = (last: string) =>
    task('racing', async (ctx) => {
      const slow = ctx.step('slow', () => new Promise(() => {}))
      await Promise.race([slow, ctx.step('fast', () => 1)])
      await ctx.race([ctx.waitFor('never'), ctx.sleep('short', '1m')])
      return ctx.step(last, () => 2)
    })
  const recording = task('racing', async (ctx) => {
    let release = (): void => {}
    const slow = ctx.step('slow', () => new Promise<void>((resolve) => (release = resolve)))
    await Promise.race([slow, ctx.step('fast', () => 1)])
    release()
    await ctx.race([ctx.waitFor('never'), ctx.sleep('short', '1m')])
    return ctx.step('last', () => 2)
  })
  const { submit, runAll, after } = await working([recording])
  const run = await submit(recording)
  await runAll()
  await after('1m')
  expect(await run.result()).toBe(2)
  const whole = await run.export()
  // As if the run had suspended before the slow step was over.
  const recorded = { ...whole, steps: whole.steps.filter(({ name }) => name !== 'slow') }
  expect((await verify(racing('last'), [recorded])).runs[0]!.kind).toBe('same')
  expect((await verify(racing('other'), [recorded])).runs[0]).toMatchObject({
    kind: 'differs',
    recorded: 'last',
    met: 'other',
  })
  const stuck = task('racing', async (ctx) => {
    const slow = ctx.step('slow', () => 1)
    await Promise.race([slow, ctx.step('fast', () => 1)])
    await ctx.waitFor('never')
  })
  expect((await verify(stuck, [recorded])).runs[0]).toMatchObject({
    kind: 'differs',
    recorded: 'short',
    sentence: 'reaches the new step "slow" before the recorded sleep "short"',
  })
})

const refusing = {
  '~standard': { version: 1, vendor: 'test', validate: () => ({ issues: [{ message: 'no longer' }] }) },
} as const
