import { expect, test } from 'vitest'
import { task } from '../../src/worker/task.ts'
import { working } from './working.ts'

test('ctx.all is one suspension, and wakes when all results exist', async () => {
  const both = task('both', async (ctx) => {
    const [a, b] = await ctx.all([ctx.waitFor('a'), ctx.waitFor('b'), ctx.sleep('least', '1m')])
    return [a, b].join('')
  })
  const { submit, worker, after, engine } = await working([both])
  const run = await submit(both)
  await worker.tick()
  await run.signal('b', '2')
  await run.signal('a', '1')
  expect(await worker.tick()).toBe(0)
  await after('1m')
  expect(await run.result()).toBe('12')
  const { events } = await engine.events.timeline(run.id)
  expect(events.filter((event) => event.kind === 'suspended')).toHaveLength(1)
})

test('plain Promise.all over waits wakes for each of them, and returns the same values', async () => {
  const both = task('both', async (ctx) => {
    const [a, b] = await Promise.all([ctx.waitFor('a'), ctx.waitFor('b')])
    return [a, b].join('')
  })
  const { submit, worker, runAll } = await working([both])
  const run = await submit(both)
  await worker.tick()
  await run.signal('b', '2')
  await runAll()
  expect(await run.state()).toBe('suspended')
  await run.signal('a', '1')
  await runAll()
  expect(await run.result()).toBe('12')
})

test('a race has the same winner in every later run, also when the losers have finished by then', async () => {
  const winners: unknown[] = []
  const race = task('race', async (ctx) => {
    const late = ctx.sleep('late', '1h').then(() => 'late')
    winners.push(await Promise.race([late, ctx.waitFor('answer')]))
    winners.push(await ctx.race([ctx.sleep('later', '1h').then(() => 'later'), ctx.waitFor('reply')]))
    await ctx.sleep('long', '5h')
    return winners.slice(-2)
  })
  const { submit, worker, runAll, after } = await working([race])
  const run = await submit(race)
  await worker.tick()
  await run.signal('answer', 'answered')
  await runAll()
  await run.signal('reply', 'replied')
  await runAll()
  expect(await run.state()).not.toBe('completed')
  for (let hours = 0; hours < 6; hours += 1) await after('1h')
  expect(await run.result()).toEqual(['answered', 'replied'])
  expect(new Set(winners)).toEqual(new Set(['answered', 'replied']))
})

test('ctx.any takes the first that succeeds, ctx.race the first that ends in any way', async () => {
  const first = task('first', async (ctx) => {
    const impatient = ctx.waitFor('never', { timeout: '1m' })
    const any = await ctx.any([impatient, ctx.waitFor('patient')])
    const race = await ctx
      .race([ctx.waitFor('nobody', { timeout: '1m' }), ctx.waitFor('else')])
      .catch((error: unknown) => (error as Error).name)
    return [any, race]
  })
  const { submit, worker, runAll, after } = await working([first])
  const run = await submit(first)
  await worker.tick()
  await after('1m')
  expect(await run.state()).toBe('suspended')
  await run.signal('patient', 'here')
  await runAll()
  await after('1m')
  expect(await run.result()).toEqual(['here', 'WaitTimeoutError'])
})

test('an empty race is refused, because it would never end; empty all and any settle at once', async () => {
  const empty = task('empty', async (ctx) => [
    await ctx.all([]),
    await ctx.any([]).catch((error: unknown) => (error as Error).name),
    await Promise.resolve()
      .then(() => ctx.race([]))
      .catch((error: unknown) => (error as Error).message),
  ])
  const { submit, worker } = await working([empty])
  const run = await submit(empty)
  await worker.tick()
  expect(await run.result()).toEqual([
    [],
    'AggregateError',
    expect.stringContaining('the argument of ctx.race is an empty list'),
  ])
})

test('code can await more signals at once than a suspension has waitpoints', async () => {
  const names = Array.from({ length: 120 }, (_, index) => `device ${index} is ready`)
  const mailed: string[] = []
  const all = task('all', async (ctx) => {
    const approval = await ctx.waitpoint('approval')
    await ctx.step('mail', async () => mailed.push(await approval.token()))
    const answers = await ctx.all([...names.map((name) => ctx.waitFor(name)), ctx.waitFor(approval)])
    return answers.length
  })
  const { submit, worker, runAll, engine } = await working([all])
  const run = await submit(all)
  await worker.tick()
  const { waitpoints } = await engine.waitpoints.list(run.id, { limit: 1000 })
  expect(waitpoints).toHaveLength(100)
  const { waitpointId } = waitpoints.find(({ key }) => key === 'approval')!
  await engine.signals.deliver({ waitpointId, token: mailed[0]!, name: 'yes' })
  for (const name of names.toReversed()) await run.signal(name)
  await runAll()
  expect(await run.result()).toBe(121)
})

test('groups nested deeper than a condition return the right values in every order of the answers', async () => {
  const nested = task('nested', { retry: { attempts: 1 } }, async (ctx) => {
    const wait = (name: string) => ctx.waitFor(name, { timeout: '1d' })
    const innermost = ctx.all([wait('e'), wait('f')])
    const inner = ctx.any([wait('d'), innermost])
    const [a, other] = await ctx.all([wait('a'), ctx.any([wait('b'), ctx.all([wait('c'), inner])])])
    return [a, other]
  })
  const { submit, runAll } = await working([nested])
  const wants = {
    ab: ['a', 'b'],
    fecba: ['a', ['c', ['e', 'f']]],
    afec: ['a', ['c', ['e', 'f']]],
    cda: ['a', ['c', 'd']],
  }
  for (const [order, wanted] of Object.entries(wants)) {
    const run = await submit(nested)
    await runAll()
    for (const name of order) {
      expect(await run.state()).toBe('suspended')
      await run.signal(name, name)
      await runAll()
    }
    expect(await run.result()).toEqual(wanted)
  }
})

test('losing waits of a plain race stay active and take the next signal of their name; those of ctx.race do not', async () => {
  const loop = task('loop', async (ctx, isPlain: boolean) => {
    for (let day = 1; ; day += 1) {
      const both = [ctx.waitFor('answer'), ctx.sleep(`day ${day}`, '1d')] as const
      const first = isPlain ? await Promise.race(both) : await ctx.race(both)
      if (first !== undefined) return [day, first]
    }
  })
  const { submit, runAll, after } = await working([loop])
  const runs = [await submit(loop, true), await submit(loop, false)]
  await runAll()
  await after('1d')
  for (const answer of ['one', 'two']) {
    for (const run of runs) if ((await run.state()) !== 'completed') await run.signal('answer', answer)
    await runAll()
  }
  expect(await runs[0]!.result()).toEqual([2, 'two'])
  expect(await runs[1]!.result()).toEqual([2, 'one'])
})
