// A worker process as people run it. It may be killed at any moment.
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, task } from '../../src/index.ts'

const [url = ''] = process.argv.slice(2)

const threeSteps = task(
  'three-steps',
  { retry: { attempts: 5, backoff: { type: 'fixed', delayMs: 20 } } },
  async (ctx, number: number) => {
    const work = async (): Promise<string> => {
      await sleep(Math.random() * 5)
      return randomUUID()
    }
    const one = await ctx.step('one', work)
    if (number % 3 === 0) await ctx.sleep('rest', 20)
    const two = await ctx.step('two', work)
    if (number % 7 === 0 && ctx.attemptIndex === 0) throw new Error('fails once')
    const [three, four] = await Promise.all([ctx.step('three', work), ctx.step('four', work)])
    return [one, two, three, four]
  },
)

const ff = await connect(url, { poolSize: 2, migrate: false })
const worker = ff.worker({
  tasks: [threeSteps],
  concurrency: 20,
  leaseTtl: 1000,
  duties: { intervals: { 'lease-expiry': 100, 'delayed-promoter': 100 } },
})
await worker.start()
process.send!('works')
