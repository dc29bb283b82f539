// The demo of `flowfabric dev` without tasks: a shop. Orders arrive; some fail at first and are retried, large ones
// wait for approval; from time to time a release is deployed. Written as a user would write it.
import { setTimeout as rest } from 'node:timers/promises'
import type { FlowFabric } from '../connect/flowfabric.ts'
import { task, type Task } from '../worker/task.ts'

interface Order {
  readonly number: number
  readonly amount: number
}

const order = task(
  'order',
  { retry: { attempts: 8, backoff: { type: 'fixed', delayMs: '1s' } }, example: { number: 1, amount: 42 } },
  async (ctx, given: Order) => {
    const payment = await ctx.step('charge card', async () => {
      await rest(200 + Math.random() * 600)
      if (Math.random() < 0.2) throw new Error('the bank did not answer')
      return `payment of ${given.amount}`
    })
    if (given.amount > 900) {
      const answer = (await ctx.waitFor('approval', { timeout: '10m' })) as { approved?: boolean }
      if (!answer.approved) return ctx.cancel('refused')
    }
    await ctx.sleep('let it settle', '2s')
    const parcel = await ctx.step('send parcel', () => `parcel ${given.number}`)
    return { payment, parcel }
  },
)

const work = (name: string): Task =>
  task(name, { retry: { attempts: 1 } }, () => rest(500 + Math.random() * 1500)) as Task

export const demoTasks: readonly Task[] = [
  order as unknown as Task,
  work('build'),
  work('test'),
  work('deploy'),
  work('alert'),
]

const everyMs = 2000
const releaseEvery = 10

/** Submits until the signal aborts. */
export async function runDemo(ff: FlowFabric, signal: AbortSignal): Promise<void> {
  for (let number = 1; !signal.aborted; number += 1) {
    // Every fifth order is large.
    const amount = number % 5 === 0 ? 950 : 20 + Math.floor(Math.random() * 500)
    await ff.submit(order, { number, amount }, { tags: { demo: 'order' } })
    if (number % releaseEvery === 1) await release(ff)
    await rest(everyMs, undefined, { signal }).catch(() => {})
  }
}

async function release(ff: FlowFabric): Promise<void> {
  await ff.flow(
    (f) => {
      const build = f.add('build')
      const unit = f.after(build, f.add('test', undefined, { name: 'unit' }))
      const browser = f.after(build, f.add('test', undefined, { name: 'browser' }))
      const deploy = f.after([unit, browser], f.add('deploy'))
      f.after({ on: deploy, kind: 'on_failure' }, f.add('alert'))
    },
    { kind: 'release' },
  )
}
