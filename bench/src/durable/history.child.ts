// The process that resumes code with a long history, and next to it only reads that history.
import { connect, task } from '../../../src/index.ts'
import { serve } from '../child.ts'

export interface HistoryInput {
  readonly url: string
  readonly stepCount: number
  readonly count: number
}

/** In milliseconds, each beside the other. */
export interface HistoryTimes {
  readonly readMs: number[]
  readonly runMs: number[]
}

await serve<HistoryTimes>(async (input) => {
  const { url, stepCount, count } = input as HistoryInput
  const ff = await connect(url)
  // Every signal wakes it for one more run from its start.
  const long = task('long', async (ctx) => {
    for (let step = 0; step < stepCount; step++) await ctx.step(`step ${step}`, () => step)
    for (;;) if ((await ctx.waitFor('again')) === 'end') return
  })
  const worker = ff.worker({ tasks: [long], handleSignals: false, duties: false })
  const run = await ff.submit(long)
  await worker.tick()
  const measure = async (times: number): Promise<HistoryTimes> => {
    const measured: HistoryTimes = { readMs: [], runMs: [] }
    for (let done = 0; done < times; done++) {
      const beganToRead = performance.now()
      await ff.engine.steps.list(run.id, { limit: 1000 })
      measured.readMs.push(performance.now() - beganToRead)
      await run.signal('again', 'once more')
      const beganToRun = performance.now()
      await worker.tick()
      measured.runMs.push(performance.now() - beganToRun)
    }
    return measured
  }
  await measure(5)
  return {
    obey: () => measure(count),
    async close() {
      await worker.stop()
      await ff.close()
    },
  }
})
