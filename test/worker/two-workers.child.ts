// A process with two workers: an idle one, and one whose run continues for a while after the signal.
import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '../../src/connect/connect.ts'
import { task } from '../../src/worker/task.ts'

const ff = await connect(process.argv[2]!)
const slow = task('slow', async (ctx) => {
  process.send!('runs')
  // Until the signal has arrived and some time has passed: the idle worker stopped long before.
  while (process.listenerCount('SIGTERM') > 0) await sleep(10)
  await sleep(1000)
  return ctx.kind
})
const idle = task('idle', { lane: 'nothing' }, () => {})
await ff.worker({ tasks: [slow] }).start()
await ff.worker({ tasks: [idle] }).start()
await ff.submit(slow)
