import { expect, test } from 'vitest'
import { setup } from '../../support/setup.ts'
import { takeIds } from './subscriber.ts'

test('a subscription can be to one execution, and its cursor shows how far the log was read', async () => {
  const { engine } = await setup()
  const [one, other] = [await engine.executions.create({ kind: 'k' }), await engine.executions.create({ kind: 'k' })]
  const subscription = await engine.events.subscribe({ executionId: one.executionId })
  const begin = subscription.cursor
  for (const { executionId } of [other, one, other]) await engine.executions.cancel({ executionId })
  expect(await takeIds(subscription, 1)).toEqual([one.executionId])
  expect(subscription.cursor > begin).toBe(true)
  await subscription.return()
  const again = await engine.events.subscribe({ executionId: one.executionId, after: begin })
  expect(await takeIds(again, 1)).toEqual([one.executionId])
  await again.return()
})
