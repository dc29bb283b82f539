import { expect, test } from 'vitest'
import type { DelayRequest } from '../../../src/engine/execution/give-back.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { badFences, twoHeld } from './bad-fence.ts'
import { fenceOf, held, leaseEvents, take } from './holder.ts'
import * as stored from '../../support/stored.ts'
import { interruptAll, promoteAll } from '../../support/changes.ts'

test('ATT-17 a delay gives the lease back until then, and keeps the attempt', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const claim = await held(engine)
  const until = (await clock.now()) + 90_000
  expect(await engine.executions.delay({ ...fenceOf(claim), until, reason: 'cool off' })).toEqual({
    kind: 'delayed',
    executionId: claim.executionId,
    delayUntil: until,
  })
  expect(await engine.executions.describe(claim.executionId)).toMatchObject({
    publicState: 'delayed',
    blockingReason: 'waiting_for_delay',
    delayUntil: until,
    lease: null,
    retryCount: 0,
    totalAttemptCount: 1,
    currentAttempt: { attemptIndex: 0 },
    state: {
      lifecyclePhase: 'runnable',
      ownershipState: 'unowned',
      eligibilityState: 'not_eligible_until_time',
      attemptState: 'attempt_interrupted',
      interruption: 'delayed',
    },
  })
  expect(await stored.attempts.pick(sql, ['outcome', 'ended_at_ms', 'next_at_ms'])).toEqual([
    { outcome: 'interrupted', ended_at_ms: null, next_at_ms: until },
  ])
  expect(await leaseEvents(sql)).toEqual(['acquired', 'revoked'])
  expect(await stored.events.pick(sql, ['reason'], { event_type: 'delayed' })).toEqual([{ reason: 'cool off' }])
})

test('a delay may be a duration, and counts from now', async () => {
  const { engine, clock } = await setup()
  await clock.freeze()
  const claim = await held(engine)
  const answer = await engine.executions.delay({ ...fenceOf(claim), for: '2h' })
  expect(answer).toMatchObject({ delayUntil: (await clock.now()) + 7_200_000 })
})

test('a delayed execution continues the same attempt, as often as it is delayed', async () => {
  const { engine, sql } = await setup()
  let claim = await held(engine)
  for (const epoch of [2, 3, 4]) {
    await engine.executions.delay({ ...fenceOf(claim), for: '1m' })
    await promoteAll(sql)
    claim = await take(engine)
    expect(claim).toMatchObject({ attemptIndex: 0, leaseEpoch: epoch, reason: 'resume', retryCount: 0 })
  }
  await engine.executions.complete(fenceOf(claim))
  expect(await stored.attempts.pick(sql, ['attempt_index', 'outcome'])).toEqual([
    { attempt_index: 0, outcome: 'success' },
  ])
})

test.each([{ until: 0 }, { until: 1000 }, { for: 0 }])('a delay into the past (%o) means now', async (when) => {
  const { engine } = await setup()
  const claim = await held(engine)
  expect(await engine.executions.delay({ ...fenceOf(claim), ...when })).toMatchObject({
    kind: 'delayed',
    delayUntil: null,
  })
  expect(await engine.executions.describe(claim.executionId)).toMatchObject({
    publicState: 'waiting',
    delayUntil: null,
  })
  expect((await take(engine)).executionId).toBe(claim.executionId)
})

test('a delay until this very millisecond means now', async () => {
  const { engine, clock } = await setup()
  await clock.freeze()
  const claim = await held(engine)
  const answer = await engine.executions.delay({ ...fenceOf(claim), until: await clock.now() })
  expect(answer).toMatchObject({ delayUntil: null })
})

test.each(badFences)('delay with $name is refused, writes nothing and harms no neighbour', async ({ wrong, code }) => {
  const { engine, sql } = await setup()
  const [one, other] = await twoHeld(engine)
  const bad = { ...wrong(one, other), for: '1m' } as const
  await withoutWriting(sql, () => refusal(code, engine.executions.delay(bad)))
  const answers = await engine.executions.delayMany([bad, { ...other, for: '1m' }])
  expect(answers).toMatchObject([{ kind: 'refused', error: { code } }, { kind: 'delayed' }])
})

const wrongDelays: Record<string, Record<string, unknown>> = {
  'neither a duration nor a time': {},
  both: { for: '1m', until: 1 },
  'a duration below nought': { for: -1 },
  'a duration that cannot be read': { for: 'soon' },
  'a time below nought': { until: -1 },
  'half a millisecond': { until: 1.5 },
  'a time after the year 9999': { until: 253_402_300_800_000 },
  'a reason that cannot be stored': { for: 1, reason: '\0' },
  'an unknown field': { for: 1, delayUntil: 2 },
}

test.each(Object.entries(wrongDelays))('a delay with %s is refused at its position', async (_, wrong) => {
  const { engine, sql } = await setup()
  const [one, other] = await twoHeld(engine)
  const bad = { ...one, ...wrong } as DelayRequest
  await withoutWriting(sql, () => refusal('invalid_input', engine.executions.delay(bad)))
  const answers = await engine.executions.delayMany([bad, { ...other, for: '1m' }])
  expect(answers.map((answer) => answer.kind)).toEqual(['refused', 'delayed'])
})

test('a repeat of delay by the same holder returns the first answer, also when another worker has the lease', async () => {
  const { engine, sql } = await setup()
  const claim = await held(engine)
  const request = { ...fenceOf(claim), for: '1m' } as const
  const answer = await engine.executions.delay(request)
  const again = () => withoutWriting(sql, () => engine.executions.delay(request))
  expect(await again()).toEqual(answer)
  await promoteAll(sql)
  expect(await again()).toEqual(answer)
  const next = await take(engine, { workerInstanceId: 'w-2' })
  expect(await again()).toEqual(answer)
  await withoutWriting(sql, () => refusal('stale_lease', engine.executions.release(fenceOf(claim))))
  await engine.executions.complete(fenceOf(next))
  expect(await again()).toEqual(answer)
})

test.each([{ for: '1m' }, { for: 0 }, { until: 1 }, { until: 4_000_000_000_000 }] as const)(
  'a repeat of a delay %o returns the first answer after the execution was cancelled',
  async (when) => {
    const { engine, sql } = await setup()
    const claim = await held(engine)
    const delay = () => engine.executions.delay({ ...fenceOf(claim), ...when })
    const answer = await delay()
    await engine.executions.cancel({ executionId: claim.executionId })
    expect(await withoutWriting(sql, delay)).toEqual(answer)
  },
)

test.each([
  ['lapsed', 'lease_expired'],
  ['revoked', 'lease_revoked'],
] as const)('a delay after the lease was %s changes nothing', async (how, code) => {
  const { engine, sql } = await setup()
  const fence = fenceOf(await held(engine))
  await interruptAll(sql, how)
  await withoutWriting(sql, () => refusal(code, engine.executions.delay({ ...fence, for: '1m' })))
})

test('a delay of an execution with a stop request ends it cancelled, and a repeat reports that', async () => {
  const { engine, sql } = await setup()
  const claim = await held(engine)
  await engine.executions.cancel({ executionId: claim.executionId, grace: '1h' })
  const request = { ...fenceOf(claim), for: '1m' } as const
  expect(await engine.executions.delay(request)).toEqual({ kind: 'cancelled', executionId: claim.executionId })
  expect(await withoutWriting(sql, () => engine.executions.delay(request))).toMatchObject({ kind: 'cancelled' })
  expect(await stored.endings.pick(sql, ['outcome'])).toEqual([{ outcome: 'cancelled' }])
  await engine.executions.replay({ executionId: claim.executionId })
  expect(await withoutWriting(sql, () => engine.executions.delay(request))).toMatchObject({ kind: 'cancelled' })
})
