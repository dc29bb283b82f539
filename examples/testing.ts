// Run by `node --import tsx --test examples/testing.ts`; under vitest and jest only the import of `test` differs.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { task } from 'flowfabric'
import { testEngine } from 'flowfabric/testing'

const onboard = task('onboard', async (ctx, { email }: { email: string }) => {
  const account = await ctx.step('create account', () => `account of ${email}`, { retry: { attempts: 3 } })
  await ctx.sleep('cool off', '10m')
  const answer = (await ctx.waitFor('approval', { timeout: '2d' })) as { by: string }
  return { account, approvedBy: answer.by }
})

await test('a busy service and a killed worker lose nothing', async () => {
  await using t = await testEngine({ tasks: [onboard], now: '2026-03-01T09:00:00Z' })
  t.mockOnce(onboard, 'create account', new Error('busy')) // or a value, or a function; t.mock: always
  const run = await t.submit(onboard, { email: 'ada@example.com' }) // runs until it waits for time
  await t.advance('11m') // sleeps, retries, timeouts and schedules, each at its due time
  await t.crashWorker() // as by SIGKILL; also from inside a step
  await t.signal(run, 'approval', { by: 'grace' })
  assert.deepEqual(await run.result(), { account: 'account of ada@example.com', approvedBy: 'grace' })
  const history = await run.history()
  history.assertSteps([{ name: 'create account', tries: 2 }, 'cool off', 'approval'])
})
