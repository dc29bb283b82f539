// Endings of executions that also close other rows, beside endings that do not.
import { expect, test } from 'vitest'
import type { Engine } from '../../../src/engine/contract.ts'
import type { Claim } from '../../../src/engine/execution/claim.ts'
import { executionDeadline } from '../../../src/engine/duties/execution-deadline.ts'
import { leaseExpiry } from '../../../src/engine/duties/lease-expiry.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { setup } from '../../support/setup.ts'
import { answer, waiting } from '../waiting/suspension/waiting.ts'
import { fenceOf, held, take } from '../execution/holder.ts'
import * as stored from '../../support/stored.ts'

async function withWaitpoint(engine: Engine): Promise<Claim> {
  const claim = await held(engine)
  await engine.waitpoints.create({ ...fenceOf(claim), key: 'early' })
  return claim
}

const waitpointStates = (sql: Sql) => stored.waitpoints.pick(sql, ['state', 'close_reason'])

type End = (engine: Engine, claims: readonly Claim[]) => Promise<readonly { readonly kind: string }[]>

test.each<[string, string, End]>([
  ['complete', 'completed', (engine, claims) => engine.executions.completeMany(claims.map(fenceOf))],
  [
    'fail',
    'failed',
    (engine, claims) => engine.executions.failMany(claims.map((claim) => ({ ...fenceOf(claim), reason: 'broken' }))),
  ],
  [
    'cancel by the holder',
    'cancelled',
    (engine, claims) => engine.executions.cancelMany(claims.map((claim) => fenceOf(claim))),
  ],
])('%s closes waitpoints that were created ahead, in a set with executions that have none', async (_, kind, end) => {
  const { engine, sql } = await setup()
  const claims = [await held(engine), await withWaitpoint(engine), await held(engine), await withWaitpoint(engine)]
  const answers = await end(engine, claims)
  expect(answers.map((each) => each.kind)).toEqual([kind, kind, kind, kind])
  const reason = kind === 'cancelled' ? 'cancelled' : 'never_committed'
  const closed = { state: 'closed', close_reason: reason }
  expect(await waitpointStates(sql)).toEqual([closed, closed])
  expect((await end(engine, claims)).map((each) => each.kind)).toEqual([kind, kind, kind, kind])
})

test('a delay, a release and a retry leave waitpoints open that were created ahead', async () => {
  const { engine, sql } = await setup()
  const first = await withWaitpoint(engine)
  expect(await engine.executions.delay({ ...fenceOf(first), for: '1h' })).toMatchObject({ kind: 'delayed' })
  const second = await withWaitpoint(engine)
  expect(await engine.executions.release(fenceOf(second))).toMatchObject({ kind: 'released' })
  const third = await take(engine)
  expect(third.executionId).toBe(second.executionId)
  await engine.executions.complete(fenceOf(third))
  const states = (await stored.waitpoints.all(sql, {}, 'waitpoint_id')).map((row) => row['state'])
  expect(states).toEqual(['pending', 'closed'])
})

test('an execution with a stop request that is given back closes waitpoints that were created ahead', async () => {
  const { engine, sql } = await setup()
  const claim = await withWaitpoint(engine)
  await engine.executions.cancel({ executionId: claim.executionId, grace: '1m' })
  expect(await engine.executions.release(fenceOf(claim))).toMatchObject({ kind: 'cancelled' })
  expect(await waitpointStates(sql)).toEqual([{ state: 'closed', close_reason: 'cancelled' }])
})

test('a deadline closes the suspension with the execution', async () => {
  const { engine, sql, clock } = await setup()
  const { claim } = await waiting(engine, { timeout: '2h' }, { deadline: '1h' })
  await clock.advance('61m')
  expect(await executionDeadline.runOnce(sql)).toMatchObject({ processed: 1, errors: 0 })
  expect(await engine.executions.describe(claim.executionId)).toMatchObject({ publicState: 'expired' })
  expect(await engine.suspensions.describe(claim.executionId)).toMatchObject({
    closeReason: 'expired',
    timeoutAt: null,
  })
  expect(await waitpointStates(sql)).toEqual([{ state: 'closed', close_reason: 'expired' }])
})

test('an expiry at the reclaim limit closes waitpoints that were created ahead', async () => {
  const { engine, sql, clock } = await setup()
  const claim = await held(engine, { policy: { maxReclaimCount: 0 } })
  await engine.waitpoints.create({ ...fenceOf(claim), key: 'early' })
  await clock.advance('10m')
  expect(await leaseExpiry.runOnce(sql)).toMatchObject({ processed: 1, errors: 0 })
  expect(await engine.executions.describe(claim.executionId)).toMatchObject({ publicState: 'failed' })
  expect(await waitpointStates(sql)).toEqual([{ state: 'closed', close_reason: 'never_committed' }])
})

test('an ending with signals that no wait took reports how many', async () => {
  const { engine, sql } = await setup()
  const claim = await held(engine)
  const { executionId } = claim
  for (const name of ['a', 'b', 'c']) await engine.signals.send({ executionId, name })
  await engine.executions.trySuspend({ ...fenceOf(claim), condition: { kind: 'signal', name: 'b' } })
  const neighbour = await held(engine)
  await engine.executions.completeMany([fenceOf(neighbour), fenceOf(claim)])
  const events = await stored.events.pick(sql, ['details'], { event_type: 'ended' }, 'details nulls first')
  expect(events).toEqual([{ details: null }, { details: { untakenSignals: 2 } }])
})

test('an ending whose signals were all taken reports none', async () => {
  const { engine, sql } = await setup()
  const claim = await held(engine)
  await engine.signals.send({ executionId: claim.executionId, name: 'a' })
  await engine.executions.trySuspend({ ...fenceOf(claim), condition: { kind: 'signal', name: 'a' } })
  await engine.executions.complete(fenceOf(claim))
  const events = await stored.events.pick(sql, ['details'], { event_type: 'ended' })
  expect(events).toEqual([{ details: null }])
})

test('a resumed execution ends like any other', async () => {
  const { engine } = await setup()
  const { waitpoint } = await waiting(engine)
  await answer(engine, waitpoint)
  const claim = await take(engine)
  expect(await engine.executions.complete({ ...fenceOf(claim), result: Buffer.from('1') })).toMatchObject({
    kind: 'completed',
  })
})
