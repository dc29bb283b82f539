// The same question goes to three providers, each a child of its own; the first answer wins. When the parent has ended,
// the others are cancelled, and their `ctx.abort` stops the call under way.
import { setTimeout as sleep } from 'node:timers/promises'
import { connect, task } from 'flowfabric'

const ask = task('ask', async (ctx, { provider, takes }: { provider: string; takes: number }) =>
  ctx.step('call', async () => {
    try {
      await sleep(takes, undefined, { signal: ctx.abort })
    } catch {
      console.log(`${provider} is asked to stop`)
    }
    return `${provider} says 42`
  }),
)

const fastest = task('fastest', async (ctx) => {
  const providers = { slow: 60_000, quick: 300, steady: 30_000 }
  const asked = Object.entries(providers).map(([provider, takes]) =>
    ctx.run(ask, { provider, takes }, { name: `ask ${provider}` }),
  )
  return ctx.any(asked)
})

const ff = await connect(process.env.FLOWFABRIC_URL ?? 'file:./.flowfabric')
const worker = ff.worker({ tasks: [fastest, ask] })
await worker.start()

const run = await ff.submit(fastest)
console.log(await run.result())
const { executions } = ff.engine
for (;;) {
  const children = (await executions.list({ parentId: run.id })).executions
  if (children.every(({ publicState }) => publicState === 'completed' || publicState === 'cancelled')) {
    console.log(
      children
        .map(({ publicState }) => publicState)
        .toSorted()
        .join(', '),
    )
    break
  }
  await sleep(50)
}
await worker.stop()
await ff.close()
