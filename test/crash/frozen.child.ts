// A worker over HTTP that a test freezes. It reports the handlers and steps that it starts.
import { connect } from '../../src/connect/connect.ts'
import { task } from '../../src/worker/task.ts'

const [url = ''] = process.argv.slice(2)

const visible = task('visible', async (ctx, name: string) => {
  process.send!({ began: `handler ${name}` })
  await ctx.step('effect', () => void process.send!({ began: `step ${name}` }))
  return 'by the frozen worker'
})

const ff = await connect(url, { logger: { debug() {}, info() {}, warn() {}, error() {} } })
const worker = ff.worker({ tasks: [visible], leaseTtl: 1000 })
await worker.start()
process.send!({ began: 'the worker' })
