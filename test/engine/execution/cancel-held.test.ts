// The cancel of a holder, which names its lease.
import { expect, test } from 'vitest'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { badFences, twoHeld } from './bad-fence.ts'
import { fenceOf, held, take } from './holder.ts'
import * as stored from '../../support/stored.ts'
import { interruptAll } from '../../support/changes.ts'

test('a holder cancels its execution, and a repeat returns the first answer, also after a replay', async () => {
  const { engine, sql } = await setup()
  const fence = fenceOf(await held(engine))
  const { executionId } = fence
  const cancel = () => engine.as({ actor: 'worker' }).executions.cancel({ ...fence, reason: 'refused' })
  const answer = await cancel()
  expect(answer).toEqual({ kind: 'cancelled', executionId, from: 'active' })
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'cancelled',
    cancellationReason: 'refused',
    cancelledBy: 'worker',
  })
  expect(await withoutWriting(sql, cancel)).toEqual(answer)
  await engine.executions.replay({ executionId, reason: 'once more' })
  await take(engine)
  expect(await withoutWriting(sql, cancel)).toEqual(answer)
  expect(await stored.endings.pick(sql, ['outcome'])).toEqual([{ outcome: 'cancelled' }])
})

test("a holder's cancel after another's cancel of its lease returns cancelled too", async () => {
  const { engine, sql } = await setup()
  const fence = fenceOf(await held(engine))
  const { executionId } = fence
  await engine.executions.cancel({ executionId })
  const cancel = () => engine.executions.cancel(fence)
  expect(await withoutWriting(sql, cancel)).toEqual({ kind: 'cancelled', executionId, from: 'active' })
})

test('a cancel after the holder gave the execution back returns already cancelled', async () => {
  const { engine, sql } = await setup()
  const fence = fenceOf(await held(engine))
  const { executionId } = fence
  await engine.executions.release(fence)
  await engine.executions.cancel({ executionId })
  const cancel = () => engine.executions.cancel(fence)
  expect(await withoutWriting(sql, cancel)).toEqual({ kind: 'already_cancelled', executionId })
})

test('a holder whose lease is over cancels nothing', async () => {
  const { engine, sql } = await setup()
  const [released, completed] = await twoHeld(engine)
  await engine.executions.release(released)
  await engine.executions.complete(completed)
  await withoutWriting(sql, () => refusal('stale_lease', engine.executions.cancel(released)))
  await withoutWriting(sql, () => refusal('execution_not_active', engine.executions.cancel(completed)))
})

test.each([
  ['lapsed', 'lease_expired'],
  ['revoked', 'lease_revoked'],
] as const)('a cancel by a holder whose lease was %s changes nothing', async (how, code) => {
  const { engine, sql } = await setup()
  const fence = fenceOf(await held(engine))
  await interruptAll(sql, how)
  await withoutWriting(sql, () => refusal(code, engine.executions.cancel(fence)))
})

test.each(badFences)("a holder's cancel with $name is refused and harms no neighbour", async ({ wrong, code }) => {
  const { engine, sql } = await setup()
  const [one, other] = await twoHeld(engine)
  const bad = wrong(one, other)
  await withoutWriting(sql, () => refusal(code, engine.executions.cancel(bad)))
  const answers = await engine.executions.cancelMany([bad, other])
  expect(answers).toMatchObject([{ kind: 'refused', error: { code } }, { kind: 'cancelled' }])
})

test('a holder cannot set a grace', async () => {
  const { engine, sql } = await setup()
  const fence = fenceOf(await held(engine))
  await withoutWriting(sql, () => refusal('invalid_input', engine.executions.cancel({ ...fence, grace: '1m' })))
})
