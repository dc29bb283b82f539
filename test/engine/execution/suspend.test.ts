import { expect, test } from 'vitest'
import { setup } from '../../support/setup.ts'
import { answer, waiting } from '../suspension/waiting.ts'
import { take } from './holder.ts'

test('SUSP-01 a suspension gives up the lease and parks', async () => {
  const { engine } = await setup()
  const { claim, suspension, waitpoint } = await waiting(engine, { timeout: '1h' })
  expect(suspension).toEqual({
    kind: 'suspended',
    executionId: claim.executionId,
    suspensionId: expect.any(String),
    waitpoints: [{ waitpointId: expect.any(String), key: 'answer', token: expect.stringMatching(/:[\da-f]{64}$/) }],
  })
  expect(await engine.executions.describe(claim.executionId)).toMatchObject({ publicState: 'suspended', lease: null })
  const { effect } = await answer(engine, waitpoint)
  expect(effect).toBe('resume_condition_satisfied')
  const resumed = await take(engine)
  expect(resumed).toMatchObject({ reason: 'resume', attemptIndex: 0, leaseEpoch: 2 })
  expect(resumed.resumption).toMatchObject({ closeReason: 'resumed', signals: [{ name: 'approved' }] })
})
