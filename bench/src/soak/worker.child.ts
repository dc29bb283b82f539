// A worker as users run it, with default options.
import { connect, task } from '../../../src/index.ts'
import { serve } from '../child.ts'
import type { Payload } from '../peers/payload.ts'
import type { SoakInput } from './producer.child.ts'

await serve<number>(async (input) => {
  const { url } = input as SoakInput
  const ff = await connect(url)
  let handled = 0
  const sendEmail = task('send-email', async (_, payload: Payload) => {
    handled += 1
    return payload.sequence
  })
  const worker = ff.worker({ tasks: [sendEmail] })
  await worker.start()
  return {
    /** How many were handled. */
    obey: async () => handled,
    async close() {
      await worker.stop()
      await ff.close()
    },
  }
})
