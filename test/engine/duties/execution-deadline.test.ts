import { expect, test } from 'vitest'
import { executionDeadline } from '../../../src/engine/duties/execution-deadline.ts'
import { factory } from '../../support/factory.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { claimed, claimNext, fenceOf } from './claimed.ts'
import * as stored from '../../support/stored.ts'

test('DEAD-05 a deadline ends a running execution', async () => {
  const { engine, sql, clock } = await setup()
  const claim = await claimed(engine, { deadline: '1m' }, { leaseTtl: '1h' })
  await clock.advance('61s')
  expect(await executionDeadline.runOnce(sql)).toMatchObject({ processed: 1, errors: 0 })
  expect(await engine.executions.describe(claim.executionId)).toMatchObject({
    publicState: 'expired',
    failureReason: 'execution_deadline',
    lease: null,
  })
  expect(await stored.attempts.pick(sql, ['outcome', 'ended_at_ms'])).toEqual([
    { outcome: 'expired', ended_at_ms: expect.any(Number) },
  ])
  expect(await stored.endings.pick(sql, ['outcome', 'reason', 'actor'])).toEqual([
    { outcome: 'expired', reason: 'execution_deadline', actor: 'execution-deadline' },
  ])
  const events = await stored.leaseEvents.pick(sql, ['event_type', 'reason'])
  expect(events.at(-1)).toEqual({ event_type: 'expired', reason: 'execution_deadline' })
  await refusal('execution_not_active', engine.executions.complete(fenceOf(claim)))
})

test('DEAD-06 a deadline ends a waiting execution, which is then no longer claimed', async () => {
  const { engine, sql, clock } = await setup()
  const { executionId } = await engine.executions.create({ kind: 'k', deadline: '1m' })
  await clock.advance('61s')
  expect(await executionDeadline.runOnce(sql)).toMatchObject({
    processed: 1,
    errors: 0,
    effects: { readyQueueIds: [] },
  })
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'expired',
    failureReason: 'execution_deadline',
    state: { attemptState: 'pending_first_attempt' },
  })
  expect(await claimNext(engine)).toBeUndefined()
  expect(await stored.leaseEvents.all(sql)).toEqual([])
})

test('a deadline ends an execution that is delayed, retried, interrupted, suspended, blocked or held', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const deadlineAt = 1
  const ids = [
    await given.delayed({ deadlineAt }),
    await given.retrying({ deadlineAt }),
    await given.interrupted({ deadlineAt }),
    await given.resumable({ deadlineAt }),
    await given.suspended({ deadlineAt }),
    await given.blocked({ deadlineAt }),
    await given.rateLimited({ deadlineAt }),
    await given.heldByOperator({ deadlineAt }),
  ]
  expect(await executionDeadline.runOnce(sql)).toMatchObject({ processed: ids.length, errors: 0 })
  for (const id of ids) expect((await engine.executions.describe(id))?.publicState).toBe('expired')
})

test('DEAD-08 no deadline, a later one, or one at this very millisecond changes nothing', async () => {
  const { sql, clock } = await setup()
  await clock.freeze()
  const now = await clock.now()
  const given = factory(sql)
  await given.waiting()
  await given.active({ deadlineAt: now + 1000 })
  await given.suspended({ deadlineAt: now })
  expect(await withoutWriting(sql, () => executionDeadline.runOnce(sql))).toMatchObject({ processed: 0, errors: 0 })
})

test('a deadline passes over ended executions', async () => {
  const { engine, sql, clock } = await setup()
  const claim = await claimed(engine, { deadline: '1m' })
  await engine.executions.complete(fenceOf(claim))
  await clock.advance('1h')
  expect(await withoutWriting(sql, () => executionDeadline.runOnce(sql))).toMatchObject({ processed: 0, errors: 0 })
})
