// The README's first program on the embedded database, from the start of its process to the end of its work.
import { connect, task } from '../../../src/index.ts'
import { serve } from '../child.ts'

export interface HelloInput {
  readonly url: string
  /** With another schema name, no prepared image fits. */
  readonly schema: string
}

export interface HelloOutput {
  readonly processorMs: number
  /** The peak of resident memory. */
  readonly residentMB: number
}

await serve<HelloOutput>(async (input) => {
  const { url, schema } = input as HelloInput
  const hello = task('hello', (ctx) => ctx.step('greet', () => 'hello, world'))
  const ff = await connect(url, { schema, logger: { debug() {}, info() {}, warn() {}, error: console.error } })
  await ff.worker({ tasks: [hello], handleSignals: false }).start()
  await (await ff.submit(hello)).result()
  await ff.close()
  const { user, system } = process.cpuUsage()
  const output: HelloOutput = {
    processorMs: (user + system) / 1000,
    residentMB: (process.resourceUsage().maxRSS * 1024) / 1e6,
  }
  return { obey: async () => output, close: async () => {} }
})
