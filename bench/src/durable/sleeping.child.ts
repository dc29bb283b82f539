// A worker process that has put many executions to sleep, and reports its memory.
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { connect, task } from '../../../src/index.ts'
import { serve } from '../child.ts'

export interface SleepingInput {
  readonly url: string
}

const batch = 1000
setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

await serve<number, number>(async (input) => {
  const { url } = input as SleepingInput
  const ff = await connect(url)
  const sleeper = task('sleeper', async (ctx, number: number) => {
    await ctx.step('begin', () => number)
    await ctx.sleep('rest', '1h')
  })
  const worker = ff.worker({ tasks: [sleeper], concurrency: 100, handleSignals: false, duties: false })
  return {
    /** Puts that many more to sleep; returns bytes. */
    async obey(count) {
      for (let done = 0; done < count; done += batch) {
        const items = Array.from({ length: batch }, (_, index) => ({ input: done + index }))
        await ff.submitMany(sleeper, items)
        while ((await worker.tick()) > 0);
      }
      collect()
      return process.memoryUsage().heapUsed
    },
    async close() {
      await worker.stop()
      await ff.close()
    },
  }
})
