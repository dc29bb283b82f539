// A worker process that a task of its own kills.
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, task } from '../../src/index.ts'

const [url = '', mode = 'work'] = process.argv.slice(2)
const silent = { debug() {}, info() {}, warn() {}, error() {} }

// Longer than the fuse of the poison: every run that starts beside it dies with it.
const innocent = task('innocent', async () => {
  await sleep(100)
})
const poison = task('poison', { maxReclaims: url.startsWith('file:') ? 2 : 5 }, async () => {
  await sleep(10)
  process.kill(process.pid, 'SIGKILL')
  await sleep(60_000)
})

const ff = await connect(url, { logger: silent, ...(url.startsWith('postgres') && { migrate: false }) })
if (mode === 'submit') {
  await ff.submit(poison)
  await ff.submitMany(
    innocent,
    Array.from({ length: 200 }, () => ({ input: undefined })),
  )
  process.send!('submitted')
}
const worker = ff.worker({
  tasks: [innocent, poison],
  concurrency: 20,
  leaseTtl: 1000,
  duties: { intervals: { 'lease-expiry': 100, 'delayed-promoter': 100 } },
})
await worker.start()
for (;;) {
  await sleep(100)
  const { completed, failed } = await ff.engine.executions.countByState()
  if (completed.count + failed.count === 201) break
}
const { executions } = await ff.engine.executions.list({ state: 'failed' })
const described = await Promise.all(executions.map(({ executionId }) => ff.engine.executions.describe(executionId)))
process.send!({ failed: described.map((found) => [found!.kind, found!.failureReason]) })
await worker.stop()
await ff.close()
process.disconnect()
