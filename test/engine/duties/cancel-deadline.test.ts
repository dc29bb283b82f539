import { expect, test } from 'vitest'
import { cancelDeadline } from '../../../src/engine/duties/cancel-deadline.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { claimed, fenceOf } from './claimed.ts'
import * as stored from '../../support/stored.ts'

test('a holder that does not stop within the grace is fenced off, and the execution ends as requested', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const claim = await claimed(engine, {}, { leaseTtl: '1h' })
  const { executionId } = claim
  await engine.as({ actor: 'ann' }).executions.cancel({ executionId, grace: '30s', reason: 'not needed' })
  await clock.advance(29_999)
  expect(await withoutWriting(sql, () => cancelDeadline.runOnce(sql))).toMatchObject({ processed: 0 })
  await clock.advance(1)
  expect(await cancelDeadline.runOnce(sql)).toMatchObject({ processed: 1, errors: 0 })
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'cancelled',
    cancellationReason: 'not needed',
    cancelledBy: 'ann',
  })
  expect(await stored.endings.pick(sql, ['outcome', 'reason', 'actor'])).toEqual([
    { outcome: 'cancelled', reason: 'not needed', actor: 'ann' },
  ])
  await refusal('execution_not_active', engine.executions.complete(fenceOf(claim)))
})

test('the outcome of a holder that finishes within the grace counts', async () => {
  const { engine, sql, clock } = await setup()
  const claim = await claimed(engine)
  await engine.executions.cancel({ executionId: claim.executionId, grace: '20s' })
  expect(await engine.executions.complete(fenceOf(claim))).toMatchObject({ kind: 'completed' })
  await clock.advance('1h')
  expect(await withoutWriting(sql, () => cancelDeadline.runOnce(sql))).toMatchObject({ processed: 0 })
})
