// One build under one load, through the calls that users make. The build is another checkout's `dist`, so the same loads measure
// two states of the code beside each other.
import { setTimeout } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import type * as Product from '../../../src/index.ts'
import { serve } from '../child.ts'
import { Runner, type FlowFabric } from './runner.ts'

export interface LoadInput {
  readonly url: string
  /** The folder of the compiled build. */
  readonly dist: string
  readonly load: LoadName
}

export interface Lap {
  readonly count: number
  readonly ms: number
  /** The processor time of this process. */
  readonly processorMs: number
}

export type LoadName = keyof typeof loads

/** Prepares the work and returns it; only the work is measured. */
type Load = (product: typeof Product, ff: FlowFabric) => (count: number) => Promise<() => Promise<void>>

const loads = { drain, submit, submitMany, steps, waits, chains, fan, retries, sleeps, latency } satisfies Record<
  string,
  Load
>
const counts: Readonly<Record<LoadName, number>> = {
  drain: 20_000,
  submit: 5000,
  submitMany: 20_000,
  steps: 3000,
  waits: 2000,
  chains: 5000,
  fan: 4000,
  retries: 4000,
  sleeps: 4000,
  latency: 500,
}
const warmUpShare = 10
const chainLength = 10

type Mail = typeof mail

const mail = { to: 'ada@example.com', subject: 'Welcome', body: 'x'.repeat(100) }

await serve<Lap>(async (input) => {
  const { url, dist, load: name } = input as LoadInput
  const product = (await import(pathToFileURL(`${dist}/index.js`).href)) as typeof Product
  // Loads that fail on purpose would measure the terminal.
  const ff = await product.connect(url, { logger: { debug() {}, info() {}, warn() {}, error() {} } })
  const prepare = loads[name](product, ff)
  const run = async (count: number): Promise<Lap> => {
    const work = await prepare(count)
    const before = process.cpuUsage()
    const startedAt = performance.now()
    await work()
    const ms = performance.now() - startedAt
    const { user, system } = process.cpuUsage(before)
    return { count, ms, processorMs: (user + system) / 1000 }
  }
  await run(Math.ceil(counts[name] / warmUpShare))
  return { obey: () => run(counts[name]), close: () => ff.close() }
})

function drain({ task }: typeof Product, ff: FlowFabric) {
  const runner = new Runner(ff, 100)
  const send = task('send', async (_ctx, _mail: Mail) => runner.end())
  return async (count: number) => {
    await ff.submitMany(send, inputs(count))
    return () => runner.run(send, count)
  }
}

function submit({ task }: typeof Product, ff: FlowFabric) {
  const send = task('send', async (_ctx, _mail: Mail) => {})
  return async (count: number) => () => inLanes(count, 16, () => ff.submit(send, mail))
}

function submitMany({ task }: typeof Product, ff: FlowFabric) {
  const send = task('send', async (_ctx, _mail: Mail) => {})
  return async (count: number) => async () => {
    for (let done = 0; done < count; done += 1000) await ff.submitMany(send, inputs(Math.min(1000, count - done)))
  }
}

function steps({ task }: typeof Product, ff: FlowFabric) {
  const runner = new Runner(ff, 50)
  const send = task('send', async (ctx, _mail: Mail) => {
    for (const name of ['render', 'deliver', 'record']) await ctx.step(name, () => ({ name }))
    runner.end()
  })
  return async (count: number) => {
    await ff.submitMany(send, inputs(count))
    return () => runner.run(send, count)
  }
}

/** Each waits for a signal, receives it, and completes. */
function waits({ task }: typeof Product, ff: FlowFabric) {
  const runner = new Runner(ff, 100)
  const waiting = new Set<string>()
  const approve = task('approve', async (ctx, _mail: Mail) => {
    waiting.add(ctx.executionId)
    await ctx.waitFor('answer')
    runner.end()
  })
  return async (count: number) => {
    waiting.clear()
    const runs = await Promise.all(inputs(count).map(({ input }) => ff.submit(approve, input)))
    return async () => {
      const worked = runner.run(approve, count)
      while (waiting.size < runs.length) await setTimeout(1)
      await inLanes(count, 16, (index) => runs[index]!.signal('answer', { approved: true }))
      await worked
    }
  }
}

/** Flows of ten members, each after the one before it. */
function chains({ task }: typeof Product, ff: FlowFabric) {
  const runner = new Runner(ff, 100)
  const send = task('send', async (_ctx, _mail: Mail) => runner.end())
  return async (count: number) => {
    const flowCount = Math.ceil(count / chainLength)
    await inLanes(flowCount, 16, () =>
      ff.flow((f) => {
        const members = Array.from({ length: chainLength }, () => f.add(send, mail))
        members.slice(1).forEach((member, index) => f.after(members[index]!, member))
      }),
    )
    return () => runner.run(send, flowCount * chainLength)
  }
}

/** Each fails once and is retried at once. */
/** One flow: its first member precedes all others, and they precede its last. */
function fan({ task }: typeof Product, ff: FlowFabric) {
  const runner = new Runner(ff, 100)
  const send = task('send', async (_ctx, _mail: Mail) => runner.end())
  return async (count: number) => {
    await ff.flow((f) => {
      const [first, last] = [f.add(send, mail), f.add(send, mail)]
      for (let added = 2; added < count; added += 1) {
        const member = f.add(send, mail)
        f.after(first, member)
        f.after(member, last)
      }
    })
    return () => runner.run(send, count)
  }
}

function retries({ task }: typeof Product, ff: FlowFabric) {
  const runner = new Runner(ff, 100)
  const backoff = { type: 'fixed', delayMs: 0 } as const
  const send = task('send', { retry: { attempts: 3, backoff } }, async (ctx, _mail: Mail) => {
    if (ctx.attemptIndex === 0) throw new Error('the mail server is busy')
    runner.end()
  })
  return async (count: number) => {
    await ff.submitMany(send, inputs(count))
    return () => runner.run(send, count)
  }
}

function sleeps({ task }: typeof Product, ff: FlowFabric) {
  const runner = new Runner(ff, 100)
  const send = task('send', async (ctx, _mail: Mail) => {
    await ctx.sleep('pause', 1)
    runner.end()
  })
  return async (count: number) => {
    await ff.submitMany(send, inputs(count))
    return () => runner.run(send, count)
  }
}

/** One at a time, to an idle worker. */
function latency({ task }: typeof Product, ff: FlowFabric) {
  const send = task('send', async (_ctx, _mail: Mail) => 'sent')
  return async (count: number) => async () => {
    const worker = ff.worker({ tasks: [send], handleSignals: false })
    await worker.start()
    for (let done = 0; done < count; done++) await (await ff.submit(send, mail)).result()
    await worker.stop()
  }
}

function inputs(count: number) {
  return Array.from({ length: count }, () => ({ input: mail }))
}

async function inLanes(count: number, laneCount: number, act: (index: number) => Promise<unknown>): Promise<void> {
  let next = 0
  const lane = async (): Promise<void> => {
    while (next < count) await act(next++)
  }
  await Promise.all(Array.from({ length: laneCount }, lane))
}
