// A worker process that reports each compensation. It stops in the middle of the given one, and is killed there.
import { connect, task } from '../../src/index.ts'

const [url = '', victim] = process.argv.slice(2)

const saga = task('saga', async (ctx) => {
  for (const name of ['a', 'b', 'c']) {
    await ctx.compensate(name, async () => {
      process.send!(`begins ${name}`)
      if (name === victim) await new Promise((resolve) => setTimeout(resolve, 3_600_000))
      process.send!(`undoes ${name}`)
    })
    await ctx.step(`do ${name}`, () => {
      process.send!(`does ${name}`)
    })
  }
  await ctx.waitFor('never')
})

const ff = await connect(url, { poolSize: 2, migrate: false })
const worker = ff.worker({
  tasks: [saga],
  leaseTtl: 1000,
  duties: { intervals: { 'lease-expiry': 100 } },
})
await worker.start()
process.send!('works')
