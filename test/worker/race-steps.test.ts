// Concurrent code takes the same way in every run: recorded results arrive in the order of their records.
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Context } from '../../src/worker/context.ts'
import type { Schema } from '../../src/worker/schema.ts'
import { task } from '../../src/worker/task.ts'
import { atOnce } from './retries.ts'
import { working } from './working.ts'

const turns = async (count: number): Promise<void> => {
  for (let done = 0; done < count; done += 1) await turn()
}

/** Runs the code to the sleep at its end and then once more, and returns what each run has seen. */
async function twice(code: (ctx: Context) => Promise<unknown>): Promise<unknown[]> {
  const seen: unknown[] = []
  const raced = task('raced', async (ctx) => {
    seen.push(await code(ctx))
    await ctx.sleep('pause', '1h')
  })
  const { submit, worker, after } = await working([raced])
  const run = await submit(raced)
  await worker.tick()
  await after('1h')
  await run.result()
  expect(seen).toHaveLength(2)
  return seen
}

test('a race of steps has the same winner in every run, also when the losers are recorded by then', async () => {
  const seen = await twice(async (ctx) => {
    const slow = ctx.step('slow', async () => {
      await turns(50)
      return 'slow'
    })
    const first = await Promise.race([slow, ctx.step('fast', () => 'fast')])
    await slow
    return first
  })
  expect(seen).toEqual(['fast', 'fast'])
})

test('a step that failed and was caught wins or loses a race as it did in the first run', async () => {
  const seen = await twice(async (ctx) => {
    const slow = ctx.step('slow', async () => {
      await turns(50)
      throw new Error('slow')
    })
    const first = await Promise.race([slow, ctx.step('fast', () => 'fast')])
    await slow.catch(() => {})
    return first
  })
  expect(seen).toEqual(['fast', 'fast'])
})

const deep = async (ctx: Context, depth: number): Promise<string> =>
  depth === 0 ? ctx.step('deep', () => 'deep') : deep(ctx, depth - 1)

test('the winner is the same with any number of promises between a step and the race', async () => {
  const seen = await twice(async (ctx) => {
    const late = (async () => {
      await Promise.resolve()
      return ctx.step('late', () => 'late')
    })()
    const first = await Promise.race([ctx.step('flat', () => 'flat'), deep(ctx, 10), late])
    await late
    return first
  })
  expect(seen[1]).toBe(seen[0])
})

test('a step that the code reaches later and that was recorded later does not overtake one that is nested deep in the code', async () => {
  const seen = await twice(async (ctx) => {
    const flat = (async () => {
      await Promise.resolve()
      return ctx.step('flat', async () => {
        await turns(50)
        return 'flat'
      })
    })()
    const first = await Promise.race([flat, deep(ctx, 10)])
    await flat
    return first
  })
  expect(seen).toEqual(['deep', 'deep'])
})

test('the code after the steps of several branches runs in the same order in every run', async () => {
  const seen = await twice(async (ctx) => {
    const done: number[] = []
    const branch = async (number: number): Promise<void> => {
      await ctx.step(`wait ${number}`, () => turns((5 - number) * 10))
      done.push(number)
      done.push(await ctx.step('same name', () => number * 10))
    }
    await Promise.all([1, 2, 3, 4, 5].map(branch))
    return done
  })
  expect(seen[0]).toEqual(expect.arrayContaining([1, 2, 3, 4, 5, 10, 20, 30, 40, 50]))
  expect(seen[1]).toEqual(seen[0])
})

test('ctx.now and a waitpoint keep their order among the steps', async () => {
  const seen = await twice(async (ctx) => {
    const done: string[] = []
    const slow = ctx.step('slow', () => turns(50)).then(() => done.push('slow'))
    await Promise.all([slow.then(() => ctx.now()).then(() => done.push('now')), slow, branch(ctx, done)])
    return done
  })
  async function branch(ctx: Context, done: string[]): Promise<void> {
    await ctx.waitpoint('answer')
    done.push('waitpoint')
    await ctx.now()
    done.push('now of the branch')
  }
  expect(seen[0]).toHaveLength(4)
  expect(seen[1]).toEqual(seen[0])
})

test('a wait that was answered later does not overtake an earlier one whose code first calls the engine', async () => {
  const winners: unknown[] = []
  const raced = task('raced', async (ctx) => {
    const a = (async () => {
      await ctx.progress(10)
      return ctx.waitFor('a')
    })()
    winners.push(await Promise.race([a, ctx.waitFor('b')]))
    await ctx.sleep('pause', '1h')
    await ctx.sleep('another', '1h')
  })
  const { submit, worker, runAll, after } = await working([raced])
  const run = await submit(raced)
  await worker.tick()
  await run.signal('a', 'a')
  await runAll()
  await run.signal('b', 'b')
  await runAll()
  await after('1h')
  await after('1h')
  await run.result()
  expect(winners.length).toBeGreaterThan(2)
  expect(new Set(winners)).toEqual(new Set(['a']))
})

test('a wait that was answered arrives before the end of a step that is retried beside it', async () => {
  const winners: unknown[] = []
  let tries = 0
  const raced = task('raced', async (ctx) => {
    const busy = async (): Promise<string> => {
      tries += 1
      if (tries === 1) throw new Error('busy')
      await turns(50)
      return 'busy'
    }
    const backoff = { type: 'fixed', delayMs: '10m' } as const
    const step = ctx.step('busy', busy, { retry: { attempts: 2, backoff } })
    winners.push(await Promise.race([step, ctx.waitFor('answer')]))
    await step
  })
  const { submit, worker, runAll, after } = await working([raced])
  const run = await submit(raced)
  await worker.tick()
  await run.signal('answer', 'answered')
  await runAll()
  await after('10m')
  await run.result()
  expect(winners).toEqual(['answered', 'answered'])
})

test('results recorded in one set arrive in the order of their records, though a step takes longer than a time', async () => {
  const seen = new Map<number, string[]>()
  const raced = task('raced', async (ctx, ticks: number) => {
    const done: string[] = []
    // The set that is under way: later ones share the next set.
    const first = ctx.step('first', () => 1)
    for (let tick = 0; tick < 40; tick += 1) await Promise.resolve()
    const now = async (): Promise<void> => {
      for (let tick = 0; tick < ticks; tick += 1) await Promise.resolve()
      await ctx.now()
      done.push('now')
    }
    await Promise.all([ctx.step('step', () => 1).then(() => done.push('step')), now(), first])
    seen.set(ticks, [...(seen.get(ticks) ?? []), done.join(' ')])
    await ctx.sleep('pause', '1h')
  })
  const { submit, runAll, after } = await working([raced])
  const counts = Array.from({ length: 30 }, (_, ticks) => ticks)
  for (const ticks of counts) {
    await submit(raced, ticks)
    await runAll()
  }
  await after('1h')
  await runAll()
  const others = counts.filter((ticks) => {
    const [one, other] = seen.get(ticks)!
    return one !== other
  })
  expect(others).toEqual([])
})

test('a step that is retried does not overtake what was recorded before it, however long the record takes to read', async () => {
  const seen: string[] = []
  let hasFailed = false
  let tried = (): void => {}
  const isTried = new Promise<void>((resolve) => (tried = resolve))
  const slow: Schema<unknown, string> = {
    '~standard': {
      version: 1,
      vendor: 'test',
      async validate(value) {
        if (!hasFailed) return { value: value as string }
        await isTried
        // Longer than the record takes.
        for (let asked = 0; asked < 10; asked += 1) await engine.serverTime()
        return { value: value as string }
      },
    },
  }
  const raced = task('raced', { retry: atOnce(2) }, async (ctx) => {
    const first = ctx.step('first', () => 'first', { schema: slow })
    const second = ctx.step('second', async () => {
      if (hasFailed) return tried()
      await first
      hasFailed = true
      throw new Error('once')
    })
    const order: string[] = []
    await Promise.all([first.then(() => order.push('first')), second.then(() => order.push('second'))])
    seen.push(order.join(' '))
    await ctx.sleep('pause', '1h')
  })
  const { submit, runAll, after, engine } = await working([raced])
  const run = await submit(raced)
  await runAll()
  await after('1s')
  await after('1h')
  await run.result()
  expect(seen).toEqual(['first second', 'first second'])
})
