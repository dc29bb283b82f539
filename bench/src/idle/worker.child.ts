// A worker process as users start it, with all its background work. It is idle.
import { connect, task } from '../../../src/index.ts'
import { serve } from '../child.ts'

export interface WorkerInput {
  readonly url: string
}

export interface WorkerOutput {
  readonly pid: number
  /** Of this process, since it started. */
  readonly processorMs: number
}

await serve<WorkerOutput>(async (input) => {
  const { url } = input as WorkerInput
  const ff = await connect(url)
  const worker = ff.worker({ tasks: [task('nothing', async () => {})], handleSignals: false })
  await worker.start()
  return {
    async obey() {
      const { user, system } = process.cpuUsage()
      return { pid: process.pid, processorMs: (user + system) / 1000 }
    },
    async close() {
      await worker.stop()
      await ff.close()
    },
  }
})
