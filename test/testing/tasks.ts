// Tasks for the tests of the kit.
import { PermanentError } from '../../src/worker/errors.ts'
import { task } from '../../src/worker/task.ts'

export const effects: string[] = []

export const sendWelcome = task('send-welcome', async (ctx, { to }: { to: string }) => {
  await ctx.step('send', () => void effects.push(`welcome ${to}`))
  return `sent to ${to}`
})

export const onboard = task(
  'onboard',
  { retry: { attempts: 2, backoff: { type: 'fixed', delayMs: '1h' } } },
  async (ctx, { email }: { email: string }) => {
    const account = await ctx.step('create account', () => createAccount(email), {
      retry: { attempts: 3, backoff: { type: 'fixed', delayMs: '2s' } },
    })
    await ctx.sleep('cool off', '10m')
    const answer = (await ctx.waitFor('approval', { timeout: '2d' })) as { approved: boolean }
    if (!answer.approved) return ctx.cancel('refused')
    return { account, mail: await ctx.run(sendWelcome, { to: email }) }
  },
)

function createAccount(email: string): string {
  effects.push(`account ${email}`)
  if (email === '') throw new PermanentError('no address')
  return `account of ${email}`
}
