// A new customer: an account is created, with a second try if the first fails; after a pause a person has to approve;
// then the welcome is sent. The process may die at any point: recorded steps do not run again, and the run continues
// after them.
import { connect, task } from 'flowfabric'

const tries = new Map<string, number>()

const onboard = task('onboard', async (ctx, { email }: { email: string }) => {
  const account = await ctx.step('create account', () => createAccount(email), {
    retry: { attempts: 3, backoff: { type: 'fixed', delayMs: '50ms' } },
  })
  await ctx.sleep('cool off', '200ms')
  const answer = (await ctx.waitFor('approval', { timeout: '2d' })) as { approved: boolean; by: string }
  if (!answer.approved) return ctx.cancel('refused')
  await ctx.step('send welcome', ({ idempotencyKey }) =>
    console.log(`welcome, ${email} (${idempotencyKey.slice(-14)})`),
  )
  return { account, approvedBy: answer.by }
})

const ff = await connect(process.env.FLOWFABRIC_URL ?? 'file:./.flowfabric')
const worker = ff.worker({ tasks: [onboard], concurrency: 50 })
await worker.start()

const run = await ff.submit(onboard, { email: 'ada@example.com' })
await run.signal('approval', { approved: true, by: 'grace' }) // stored until the wait takes it
console.log(await run.result())

for (const { name, kind, tryCount } of (await ff.engine.steps.list(run.id)).steps) {
  console.log(`${kind.padEnd(5)} ${name.padEnd(14)} tries: ${tryCount}`)
}
await ff.close()

function createAccount(email: string): string {
  const count = (tries.get(email) ?? 0) + 1
  tries.set(email, count)
  if (count === 1) throw new Error('the accounts service is busy')
  return `account of ${email}`
}
