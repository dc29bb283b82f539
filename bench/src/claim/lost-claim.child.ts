// The process of an idle worker whose claims lose their replies: how long it takes until the execution runs all the
// same.
import { setTimeout } from 'node:timers/promises'
import { connect, task } from '../../../src/index.ts'
import { serve } from '../child.ts'
import { startLossyProxy } from './lossy-proxy.ts'

export interface LostClaimInput {
  readonly url: string
  readonly count: number
}

/** From each lost reply to the start of the handler. */
export type LostClaimOutput = readonly number[]

const logger = { debug() {}, info() {}, warn() {}, error() {} }

await serve<LostClaimOutput>(async (input) => {
  const { url, count } = input as LostClaimInput
  const proxy = await startLossyProxy(url)
  const submitter = await connect(url, { logger })
  const ff = await connect(proxy.url, { logger })
  let begun: (at: number) => void = () => {}
  const echo = task('echo', async (_ctx, _text: string) => begun(performance.now()))
  const worker = ff.worker({ tasks: [echo] })
  await worker.start()
  return {
    async obey() {
      const ms: number[] = []
      for (let round = 0; round < count; round++) {
        const text = `lost reply ${round}.`
        const lost = proxy.lose(formsOf(text))
        const start = new Promise<number>((resolve) => (begun = resolve))
        await submitter.submit(echo, text)
        ms.push((await start) - (await lost))
        // By now the second search of the worker is over, and it is idle again.
        await setTimeout(1500)
      }
      return ms
    },
    async close() {
      await ff.close()
      await submitter.close()
      proxy.close()
    },
  }
})

/** As Postgres sends it, in binary or as text, and as a server does. */
function formsOf(text: string): string[] {
  return [text, Buffer.from(text).toString('hex'), Buffer.from(JSON.stringify(text)).toString('base64')]
}
