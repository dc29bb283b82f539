import { expect, test } from 'vitest'
import type { CompleteRequest } from '../../../src/engine/execution/complete.ts'
import { limits } from '../../../src/model/limits.ts'
import { factory } from '../../support/factory.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { badFences, twoHeld } from './bad-fence.ts'
import { fenceOf, held, lastFence, leaseEvents, take } from './holder.ts'
import * as stored from '../../support/stored.ts'
import { interruptAll } from '../../support/changes.ts'

const bytes = new Uint8Array([0, 159, 146, 150, 255])

test('ATT-01 complete stores the result and ends', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const claim = await held(engine)
  await clock.advance('5s')
  const answer = await engine
    .as({ actor: 'ann' })
    .executions.complete({ ...fenceOf(claim), result: bytes, resultEncoding: 'raw' })
  expect(answer).toEqual({ kind: 'completed', executionId: claim.executionId })
  expect(await engine.executions.describe(claim.executionId)).toMatchObject({
    publicState: 'completed',
    endedAt: await clock.now(),
    lease: null,
    currentAttempt: null,
    state: {
      lifecyclePhase: 'terminal',
      ownershipState: 'unowned',
      eligibilityState: 'not_applicable',
      attemptState: 'attempt_terminal',
      terminalOutcome: 'success',
    },
  })
  expect(await engine.executions.result(claim.executionId)).toEqual({
    kind: 'completed',
    result: bytes,
    encoding: 'raw',
  })
  expect(await stored.attempts.pick(sql, ['outcome', 'ended_at_ms', 'lease_epoch'])).toEqual([
    { outcome: 'success', ended_at_ms: await clock.now(), lease_epoch: 1 },
  ])
  expect(await stored.endings.pick(sql, ['outcome', 'actor'])).toEqual([{ outcome: 'success', actor: 'ann' }])
  expect(await leaseEvents(sql)).toEqual(['acquired', 'revoked'])
})

test('EXEC-25 a result returns byte for byte, and a running execution has none', async () => {
  const { engine } = await setup()
  const claim = await held(engine)
  expect(await engine.executions.result(claim.executionId)).toEqual({ kind: 'pending', publicState: 'active' })
  const every = Uint8Array.from({ length: 256 }, (_, index) => index)
  await engine.executions.complete({ ...fenceOf(claim), result: every })
  expect(await engine.executions.result(claim.executionId)).toEqual({
    kind: 'completed',
    result: every,
    encoding: 'json',
  })
})

test('ATT-07 complete without bytes stores no result; zero bytes are a result', async () => {
  const { engine } = await setup()
  const [none, empty] = await twoHeld(engine)
  await engine.executions.complete(none)
  await engine.executions.complete({ ...empty, result: new Uint8Array() })
  expect(await engine.executions.result(none.executionId)).toEqual({ kind: 'completed', result: null, encoding: null })
  expect(await engine.executions.result(empty.executionId)).toEqual({
    kind: 'completed',
    result: new Uint8Array(),
    encoding: 'json',
  })
})

test('ATT-02 complete with a wrong epoch is refused, and the execution still runs', async () => {
  const { engine, sql } = await setup()
  const claim = await held(engine)
  const error = await withoutWriting(sql, () =>
    refusal('stale_lease', engine.executions.complete({ ...fenceOf(claim), leaseEpoch: 8 })),
  )
  expect(error.details).toMatchObject({ leaseEpoch: 8, currentLeaseEpoch: 1, publicState: 'active' })
})

test.each(badFences)(
  'complete with $name is refused, writes nothing and harms no neighbour',
  async ({ wrong, code }) => {
    const { engine, sql } = await setup()
    const [one, other] = await twoHeld(engine)
    await withoutWriting(sql, () => refusal(code, engine.executions.complete(wrong(one, other))))
    const answers = await engine.executions.completeMany([wrong(one, other), other])
    expect(answers).toMatchObject([{ kind: 'refused', error: { code } }, { kind: 'completed' }])
    expect((await engine.executions.describe(one.executionId))?.publicState).toBe('active')
  },
)

const wrongResults: Record<string, [Partial<Record<keyof CompleteRequest | 'reslut', unknown>>, string]> = {
  'a result that is too large': [{ result: new Uint8Array(limits.resultBytes + 1) }, 'payload_too_large'],
  'a result that is no bytes': [{ result: '{}' }, 'invalid_input'],
  'an encoding that is empty': [{ result: bytes, resultEncoding: '' }, 'invalid_input'],
  'an unknown field': [{ reslut: bytes }, 'invalid_input'],
}

test.each(Object.entries(wrongResults))('%s is refused at its position', async (_, [wrong, code]) => {
  const { engine, sql } = await setup()
  const [one, other] = await twoHeld(engine)
  const request = { ...one, ...wrong } as CompleteRequest
  await withoutWriting(sql, () => refusal(code as 'invalid_input', engine.executions.complete(request)))
  const answers = await engine.executions.completeMany([request, other, null as never])
  expect(answers.map((answer) => answer.kind)).toEqual(['refused', 'completed', 'refused'])
})

test('the largest result is stored', async () => {
  const { engine } = await setup()
  const claim = await held(engine)
  await engine.executions.complete({ ...fenceOf(claim), result: new Uint8Array(limits.resultBytes) })
  const answer = await engine.executions.result(claim.executionId)
  expect(answer?.kind === 'completed' && answer.result?.byteLength).toBe(limits.resultBytes)
})

test('ATT-05 complete on an expired lease is refused, also before the duty has processed it', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const claim = await held(engine)
  await clock.advance(claim.leaseExpiresAt - (await clock.now()))
  await withoutWriting(sql, () => refusal('lease_expired', engine.executions.complete(fenceOf(claim))))
})

test('complete in the last millisecond of the lease is accepted', async () => {
  const { engine, clock } = await setup()
  await clock.freeze()
  const claim = await held(engine)
  await clock.advance(claim.leaseExpiresAt - (await clock.now()) - 1)
  expect(await engine.executions.complete(fenceOf(claim))).toMatchObject({ kind: 'completed' })
})

test('one expired lease does not stop the others of its set', async () => {
  const { engine, clock } = await setup()
  const [early, late] = await twoHeld(engine)
  await clock.advance('20s')
  await engine.executions.renew({ workerInstanceId: 'w-1', leases: [late], leaseTtl: '10m' })
  await clock.advance('1m')
  expect(await engine.executions.completeMany([early, late])).toMatchObject([
    { kind: 'refused', error: { code: 'lease_expired' } },
    { kind: 'completed' },
  ])
})

test.each([
  ['lapsed', 'lease_expired'],
  ['revoked', 'lease_revoked'],
] as const)(
  'complete after the lease was %s returns that, and stale_lease once another worker has one',
  async (how, code) => {
    const { engine, sql } = await setup()
    const old = fenceOf(await held(engine))
    await interruptAll(sql, how)
    await withoutWriting(sql, () => refusal(code, engine.executions.complete(old)))
    const now = await take(engine, { workerInstanceId: 'w-2' })
    const error = await withoutWriting(sql, () => refusal('stale_lease', engine.executions.complete(old)))
    expect(error.details).toMatchObject({ leaseEpoch: 1, currentLeaseEpoch: 2 })
    expect(await engine.executions.complete(fenceOf(now))).toMatchObject({ kind: 'completed' })
    await withoutWriting(sql, () => refusal('execution_not_active', engine.executions.complete(old)))
  },
)

test('ATT-06 complete after an operator has revoked the lease is refused', async () => {
  const { engine, sql } = await setup()
  const fence = fenceOf(await held(engine))
  await engine.leases.revoke({ executionId: fence.executionId })
  await withoutWriting(sql, () => refusal('lease_revoked', engine.executions.complete(fence)))
})

test.each(['failed', 'cancelled', 'expired', 'skipped'] as const)(
  'complete of an execution that is %s returns the ending, also to the last holder',
  async (state) => {
    const { engine, sql } = await setup()
    const fence = await lastFence(sql, await factory(sql)[state]())
    const error = await withoutWriting(sql, () => refusal('execution_not_active', engine.executions.complete(fence)))
    expect(error.details).toMatchObject({
      publicState: state,
      lifecyclePhase: 'terminal',
      terminalOutcome: state,
      attemptIndex: 0,
    })
  },
)

test('a repeat of complete by the same holder returns the first answer, and the first result stays', async () => {
  const { engine, sql } = await setup()
  const claim = await held(engine)
  const first = await engine.executions.complete({ ...fenceOf(claim), result: bytes })
  await withoutWriting(sql, async () => {
    const again = await engine.executions.complete({ ...fenceOf(claim), result: new Uint8Array([1]) })
    expect(again).toEqual(first)
    await refusal('execution_not_active', engine.executions.complete({ ...fenceOf(claim), leaseEpoch: 2 }))
    await refusal('execution_not_active', engine.executions.fail({ ...fenceOf(claim), reason: 'too late' }))
    await refusal('execution_not_active', engine.executions.delay({ ...fenceOf(claim), for: '1m' }))
    await refusal('execution_not_active', engine.executions.release(fenceOf(claim)))
  })
})

test('a repeat in the same call is answered twice and ends the execution once', async () => {
  const { engine, sql } = await setup()
  const fence = fenceOf(await held(engine))
  const answers = await engine.executions.completeMany([fence, fence])
  expect(answers.map((answer) => answer.kind)).toEqual(['completed', 'completed'])
  expect(await stored.endings.all(sql)).toHaveLength(1)
})

test('hundreds are completed at once, each with its own result', async () => {
  const { engine } = await setup()
  await engine.executions.createMany(Array.from({ length: 250 }, () => ({ kind: 'k' })))
  const { claims } = await engine.executions.claim({
    workerId: 'w',
    workerInstanceId: 'w-1',
    lanes: ['default'],
    max: 250,
  })
  const results = claims.map((claim, index) => ({ ...fenceOf(claim), result: Buffer.from(`${index}`) }))
  const answers = await engine.executions.completeMany(results)
  expect(answers.every((answer) => answer.kind === 'completed')).toBe(true)
  const last = await engine.executions.result(claims[249]!.executionId)
  expect(last?.kind === 'completed' && Buffer.from(last.result!).toString()).toBe('249')
})
