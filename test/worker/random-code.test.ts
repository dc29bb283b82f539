// Random code with branches, run again and again: it wakes for each of its waits and loses its lease in the middle of its records.
// Every later run sees all that an earlier run has seen before anything new, in the same order.
import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Engine } from '../../src/engine/contract.ts'
import type { Context } from '../../src/worker/context.ts'
import { task } from '../../src/worker/task.ts'
import { working } from './working.ts'
import { patience } from '../support/patience.ts'

type Random = (below: number) => number

function randomFrom(seed: number): Random {
  let state = seed
  return (below) => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return Math.floor((state / 2 ** 32) * below)
  }
}

const turns = async (count: number): Promise<void> => {
  for (let done = 0; done < count; done += 1) await turn()
}

const ticks = async (count: number): Promise<void> => {
  for (let done = 0; done < count; done += 1) await Promise.resolve()
}

type Part = (see: (what: string) => void) => Promise<unknown>

/** One operation, or several that run concurrently. */
function partOf(ctx: Context, random: Random, depth: number): Part {
  const kind = random(depth < 3 ? 10 : 6)
  const [id, late, slow, seconds] = [random(1e9), random(12), random(40), 1 + random(40)]
  const fail = async (): Promise<never> => {
    await turns(slow)
    throw new Error('as planned')
  }
  const nobody = { timeout: `${seconds}s`, onTimeout: () => 'nobody' } as const
  const done = (what: Promise<unknown>, see: (what: string) => void): Promise<void> =>
    what.then((value) => see(`${kind} ${id} ${String(value)}`))
  const simple: (() => PromiseLike<unknown>)[] = [
    () => ctx.step('step', () => id),
    () => ctx.step('slow', () => turns(slow)),
    () => ctx.step('failing', fail).catch(() => 'caught'),
    () => ctx.now(),
    () => ctx.sleep('sleep', `${seconds}s`),
    () => ctx.waitFor('signal', nobody),
    () =>
      ctx.race([ctx.waitFor('other', nobody), ctx.sleep('pause', `${seconds}s`), ctx.step('raced', () => turns(slow))]),
  ]
  const begin = simple[kind]
  if (begin !== undefined) return (see) => done(ticks(late).then(begin), see)
  const parts = Array.from({ length: 2 + random(3) }, () => partOf(ctx, random, depth + 1))
  if (kind === 7) {
    const each = async (see: (what: string) => void): Promise<void> => {
      for (const part of parts) await part(see)
    }
    return (see) => done(each(see), see)
  }
  const numbered = (see: (what: string) => void) => parts.map((part, number) => part(see).then(() => number))
  if (kind === 8) return (see) => done(Promise.all(numbered(see)), see)
  return (see) => done(Promise.race(numbered(see)), see)
}

/** Sometimes a lease is lost before or after a record is written. */
function losingLeases(engine: Engine, random: Random): void {
  const { record } = engine.steps
  Object.assign(engine.steps, {
    async record(request: Parameters<typeof record>[0]) {
      const { executionId } = request
      const lose = () => engine.leases.revoke({ executionId }).catch(() => {})
      const lot = random(30)
      if (lot === 0) await lose()
      const answer = await record(request)
      // Answers arrive in the order of the records: this one is not delayed.
      if (lot === 1) void lose()
      return answer
    },
  })
}

const seeds = Array.from({ length: 20 }, (_, index) => index + Number(process.env['SEED'] ?? 1))

test(
  'every later run of random code sees what an earlier run has seen, in the same order',
  { timeout: patience(120_000) },
  async () => {
    const seen = new Map<number, string[][]>(seeds.map((seed) => [seed, []]))
    const code = task('code', async (ctx, seed: number) => {
      const trace: string[] = []
      seen.get(seed)!.push(trace)
      const random = randomFrom(seed)
      const parts = Array.from({ length: 4 }, () => partOf(ctx, random, 0))
      await Promise.all(parts.map((part) => part((what) => trace.push(what))))
      await ctx.sleep('last', '1h')
    })
    const { submit, runAll, after, engine } = await working([code])
    const random = randomFrom(seeds[0]!)
    losingLeases(engine, random)
    const runs = await Promise.all(seeds.map((seed) => submit(code, seed)))
    await runAll()
    for (let round = 0; round < 40; round += 1) {
      for (const run of runs) if (random(3) === 0) await run.signal(random(2) === 0 ? 'signal' : 'other', round)
      await after(`${1 + random(5)}s`)
    }
    await after('1h')
    await after('1h')
    for (const run of runs) expect(await run.state()).toBe('completed')
    const others = seeds.filter((seed) => {
      const last = seen.get(seed)!.at(-1)!
      return seen.get(seed)!.some((trace) => trace.join() !== last.slice(0, trace.length).join())
    })
    expect(others).toEqual([])
  },
)
