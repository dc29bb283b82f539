import { expect, test } from 'vitest'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { fenceOf, held } from './holder.ts'

test('a warning is an event of the execution, and changes nothing', async () => {
  const { engine } = await setup()
  const claim = await held(engine)
  const before = await engine.executions.describe(claim.executionId)
  const details = { steps: ['a', 'b'] }
  expect(await engine.executions.warn({ ...fenceOf(claim), reason: 'never reached', details })).toEqual({
    kind: 'warned',
    executionId: claim.executionId,
  })
  await engine.executions.warn({ ...fenceOf(claim), reason: 'by the way' })
  expect(await engine.executions.describe(claim.executionId)).toEqual(before)
  const { events } = await engine.events.timeline(claim.executionId)
  expect(events).toMatchObject([
    { kind: 'acquired' },
    { kind: 'warned', reason: 'never reached', details, leaseEffect: null, attemptIndex: 0 },
    { kind: 'warned', reason: 'by the way', details: null },
  ])
  await refusal('invalid_input', engine.executions.warn({ ...fenceOf(claim), reason: '' }))
  await refusal('stale_lease', engine.executions.warn({ ...fenceOf(claim), leaseEpoch: 7, reason: 'late' }))
})
