import { expect, test } from 'vitest'
import { suspensionTimeout } from '../../../src/engine/duties/suspension-timeout.ts'
import { suspensionWake } from '../../../src/engine/duties/suspension-wake.ts'
import { closeReasonOfTimeout } from '../../../src/model/suspension.ts'
import { factory } from '../../support/factory.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { held } from '../execution/holder.ts'
import { answer, suspend, waiting } from '../waiting/suspension/waiting.ts'
import { suspensionOf } from './suspension-row.ts'
import * as stored from '../../support/stored.ts'

test('TMO-03 an escalated execution continues to wait and reports that, once; its waitpoints stay open', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const executionId = await factory(sql).suspended({ timeoutAt: 1, timeoutBehaviour: 'escalate' })
  expect(await suspensionTimeout.runOnce(sql)).toMatchObject({ processed: 1, errors: 0 })
  expect((await engine.executions.describe(executionId))?.publicState).toBe('suspended')
  expect(await suspensionOf(sql, executionId)).toMatchObject({
    is_open: true,
    escalated_at_ms: await clock.now(),
    timeout_at_ms: null,
    wake_at_ms: null,
  })
  expect(await stored.waitpoints.pick(sql, ['state'])).toEqual([{ state: 'active' }])
  expect(await stored.events.pick(sql, ['event_type', 'reason', 'actor', 'details'])).toEqual([
    { event_type: 'escalated', reason: 'suspension_timeout_escalate', actor: 'suspension-timeout', details: {} },
  ])
  await clock.advance('1h')
  expect(await withoutWriting(sql, () => suspensionTimeout.runOnce(sql))).toMatchObject({ processed: 0 })
})

test('an escalation with a second deadline ends at that one', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const second = { secondTimeoutMs: 60_000, secondBehaviour: 'expire' } as const
  const executionId = await factory(sql).suspended({ timeoutAt: 1, timeoutBehaviour: 'escalate', ...second })
  await suspensionTimeout.runOnce(sql)
  const nextTimeoutAt = (await clock.now()) + 60_000
  expect(await stored.events.pick(sql, ['details'])).toEqual([{ details: { nextTimeoutAt } }])
  await clock.advance(60_000)
  expect(await withoutWriting(sql, () => suspensionTimeout.runOnce(sql))).toMatchObject({ processed: 0 })
  await clock.advance(1)
  expect(await suspensionTimeout.runOnce(sql)).toMatchObject({ processed: 1 })
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'expired',
    failureReason: 'suspension_timeout_expire',
  })
})

test.each([
  ['fail', 'failed'],
  ['cancel', 'cancelled'],
  ['expire', 'expired'],
  ['auto_resume_with_timeout_signal', 'resumable'],
] as const)('the second deadline does what the suspend requested: %s', async (behaviour, state) => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const escalation = { timeout: '1m', behaviour } as const
  const timing = { timeout: '1h', timeoutBehaviour: 'escalate', escalation } as const
  // One statement suspends the first, and a decision the second: a signal by that name might have arrived before.
  const [fresh, judged] = [await held(engine), await held(engine)]
  await suspend(engine, fresh, timing)
  await suspend(engine, judged, { ...timing, condition: { kind: 'signal', name: 'go' } })
  await clock.advance(3_600_001)
  expect(await suspensionTimeout.runOnce(sql)).toMatchObject({ processed: 2, errors: 0 })
  const escalatedAt = await clock.now()
  for (const { executionId } of [fresh, judged]) {
    expect(await engine.suspensions.describe(executionId)).toMatchObject({
      closedAt: null,
      escalatedAt,
      timeoutAt: escalatedAt + 60_000,
    })
  }
  await clock.advance(60_001)
  expect(await suspensionTimeout.runOnce(sql)).toMatchObject({ processed: 2, errors: 0 })
  for (const { executionId } of [fresh, judged]) {
    expect((await engine.executions.describe(executionId))?.publicState).toBe(state)
    expect(await engine.suspensions.describe(executionId)).toMatchObject({
      closeReason: closeReasonOfTimeout[behaviour],
      escalatedAt,
    })
  }
})

test('a signal answers an escalated suspension, and its second deadline is gone', async () => {
  const { engine, sql, clock } = await setup()
  const escalation = { timeout: '1m', behaviour: 'fail' } as const
  const timing = { timeout: '1h', timeoutBehaviour: 'escalate', escalation } as const
  const { claim, waitpoint } = await waiting(engine, timing)
  await clock.advance('61m')
  await suspensionTimeout.runOnce(sql)
  expect(await answer(engine, waitpoint)).toMatchObject({ effect: 'resume_condition_satisfied' })
  await clock.advance('1h')
  expect(await withoutWriting(sql, () => suspensionTimeout.runOnce(sql))).toMatchObject({ processed: 0 })
  expect((await engine.executions.describe(claim.executionId))?.publicState).toBe('resumable')
})

test('an escalation satisfies the leaves that waited for the deadline', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const signal = { kind: 'signal', waitpoint: 'answer' } as const
  const timeout = { kind: 'timeout' } as const
  const escalating = { timeoutAt: 1, timeoutBehaviour: 'escalate' } as const
  const either = await given.suspended({ ...escalating, condition: { kind: 'anyOf', members: [signal, timeout] } })
  const both = await given.suspended({ ...escalating, condition: { kind: 'allOf', members: [signal, timeout] } })
  expect(await suspensionTimeout.runOnce(sql)).toMatchObject({ processed: 2, errors: 0 })
  expect(await suspensionWake.runOnce(sql)).toMatchObject({ processed: 2, errors: 0 })
  expect((await engine.executions.describe(either))?.publicState).toBe('resumable')
  expect((await engine.executions.describe(both))?.publicState).toBe('suspended')
  expect(await suspensionOf(sql, either)).toMatchObject({
    close_reason: 'resumed',
    outcome: { satisfied: true, winners: { '<root>': 'members[1]' } },
  })
  // Evaluated now, and not again before a signal arrives.
  expect(await suspensionOf(sql, both)).toMatchObject({ wake_at_ms: null })
})
