// Run by `node --test`: the kit needs no runner of its own.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { testEngine } from '../../src/testing.ts'
import { onboard, sendWelcome } from './tasks.ts'

void test('onboarding under node:test', async () => {
  await using t = await testEngine({ tasks: [onboard, sendWelcome] })
  t.mockOnce(onboard, 'create account', new Error('busy'))
  const run = await t.submit(onboard, { email: 'ada' })
  await t.advance('2s')
  await t.advance('10m')
  await t.crashWorker()
  await t.signal(run, 'approval', { approved: true })
  assert.deepEqual(await run.result(), { account: 'account of ada', mail: 'sent to ada' })
  const history = await run.history()
  history.assertSteps([{ name: 'create account', tries: 2 }, 'cool off', 'approval', 'send-welcome'])
  assert.throws(() => history.assertSteps([]), assert.AssertionError)
})
