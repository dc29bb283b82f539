import { expect, test } from 'vitest'
import { factory } from '../../support/factory.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { claimed, fenceOf } from '../duties/claimed.ts'
import * as stored from '../../support/stored.ts'

test('a running execution receives the request first: it continues, its renewal reports the request, and the log has it', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const now = await clock.now()
  const claim = await claimed(engine)
  const { executionId } = claim
  const asked = await engine.as({ actor: 'ann' }).executions.cancel({ executionId, grace: '20s', reason: 'enough' })
  expect(asked).toEqual({ kind: 'cancel_requested', executionId, deadlineAt: now + 20_000 })
  expect(await engine.executions.describe(executionId)).toMatchObject({ publicState: 'active', cancelRequestedAt: now })
  const events = await stored.events.pick(sql, ['event_type', 'lease_effect', 'actor', 'reason', 'details'])
  expect(events.at(-1)).toEqual({
    event_type: 'cancel_requested',
    lease_effect: null,
    actor: 'ann',
    reason: 'enough',
    details: { deadlineAt: now + 20_000 },
  })
  const { leases } = await engine.executions.renew({ workerInstanceId: 'worker-1', leases: [fenceOf(claim)] })
  expect(leases).toMatchObject([{ kind: 'renewed', cancelRequested: true }])
})

test('a second request keeps the earlier end and the first reason, and writes nothing if it changes nothing', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const now = await clock.now()
  const { executionId } = await claimed(engine)
  await engine.executions.cancel({ executionId, grace: '20s', reason: 'first' })
  const later = await withoutWriting(sql, () => engine.executions.cancel({ executionId, grace: '30s', reason: 'no' }))
  expect(later).toMatchObject({ kind: 'cancel_requested', deadlineAt: now + 20_000 })
  const sooner = await engine.executions.cancel({ executionId, grace: '10s', reason: 'second' })
  expect(sooner).toMatchObject({ kind: 'cancel_requested', deadlineAt: now + 10_000 })
  expect((await engine.executions.describe(executionId))?.cancellationReason).toBe('first')
})

test.each(['waiting', 'delayed', 'retrying', 'interrupted', 'suspended', 'blocked', 'rateLimited'] as const)(
  'an execution that is %s ends at once, with or without grace',
  async (state) => {
    const { engine, sql } = await setup()
    const executionId = await factory(sql)[state]()
    expect(await engine.executions.cancel({ executionId, grace: '1h' })).toMatchObject({ kind: 'cancelled' })
    expect((await engine.executions.describe(executionId))?.publicState).toBe('cancelled')
  },
)

test.each([
  ['without grace', {}],
  ['with a grace of nothing', { grace: 0 }],
])('a cancel %s ends an execution with a request at once, with the reason of the request', async (_, more) => {
  const { engine } = await setup()
  const { executionId } = await claimed(engine)
  await engine.executions.cancel({ executionId, grace: '1h', reason: 'enough' })
  expect(await engine.executions.cancel({ executionId, ...more })).toMatchObject({ kind: 'cancelled', from: 'active' })
  expect((await engine.executions.describe(executionId))?.cancellationReason).toBe('enough')
})

test('every way back to the queue ends cancelled instead', async () => {
  const { engine } = await setup()
  const policy = { retry: { attempts: 5 } }
  const ways = [
    (fence: ReturnType<typeof fenceOf>) => engine.executions.release(fence),
    (fence: ReturnType<typeof fenceOf>) => engine.executions.delay({ ...fence, for: '1h' }),
    (fence: ReturnType<typeof fenceOf>) => engine.executions.fail({ ...fence, reason: 'broke' }),
  ]
  for (const leave of ways) {
    const claim = await claimed(engine, { policy })
    await engine.executions.cancel({ executionId: claim.executionId, grace: '1h' })
    expect(await leave(fenceOf(claim))).toMatchObject({ kind: 'cancelled' })
    expect((await engine.executions.describe(claim.executionId))?.publicState).toBe('cancelled')
  }
})

test('an ended execution answers as without grace', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const [done, gone] = [await given.completed(), await given.cancelled()]
  await refusal('execution_not_cancellable', engine.executions.cancel({ executionId: done, grace: '1s' }))
  expect(await engine.executions.cancel({ executionId: gone, grace: '1s' })).toMatchObject({
    kind: 'already_cancelled',
  })
})

test.each([-1, 1.5, '1 fortnight', null, '200y'])('a grace of %s is refused, and nothing is written', async (grace) => {
  const { engine, sql } = await setup()
  const { executionId } = await claimed(engine)
  await withoutWriting(sql, () => refusal('invalid_input', engine.executions.cancel({ executionId, grace } as never)))
})
