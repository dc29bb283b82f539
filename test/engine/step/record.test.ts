import { expect, test } from 'vitest'
import { leaseExpiry } from '../../../src/engine/duties/lease-expiry.ts'
import { limits } from '../../../src/model/limits.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { fenceOf, held, take } from '../execution/holder.ts'
import * as stored from '../../support/stored.ts'

const one = new TextEncoder().encode('1')
const two = new TextEncoder().encode('"two"')

test('the steps of a holder are listed in the order in which they were recorded', async () => {
  const { engine } = await setup()
  const claim = await held(engine)
  const fence = fenceOf(claim)
  const first = await engine.steps.record({ ...fence, name: 'b', kind: 'step', state: 'succeeded', result: one })
  await engine.steps.record({ ...fence, name: 'a', kind: 'step', state: 'failed', tryCount: 3, durationMs: 7 })
  await engine.steps.record({ ...fence, name: 'a', index: 1, kind: 'sleep', state: 'pending', dueIn: '1h' })
  expect(first).toEqual({
    kind: 'step_recorded',
    executionId: claim.executionId,
    recordedAt: expect.any(Number),
    dueAt: null,
  })
  const { steps } = await engine.steps.list(claim.executionId)
  expect(steps).toMatchObject([
    { number: 1, name: 'b', index: 0, kind: 'step', state: 'succeeded', result: one, resultEncoding: 'json' },
    { number: 2, name: 'a', index: 0, state: 'failed', tryCount: 3, durationMs: 7, attemptIndex: 0, leaseEpoch: 1 },
    { number: 3, name: 'a', index: 1, kind: 'sleep', state: 'pending', dueAt: expect.any(Number) },
  ])
  expect(steps[2]!.dueAt! - steps[2]!.recordedAt).toBe(3_600_000)
})

test('many steps of many executions share a statement, and each gets its own answer', async () => {
  const { engine } = await setup()
  const claims = [await held(engine), await held(engine), await held(engine)]
  const answers = await engine.steps.recordMany([
    ...claims.flatMap((claim) =>
      ['x', 'y', 'z'].map((name) => ({ ...fenceOf(claim), name, kind: 'step', state: 'succeeded' }) as const),
    ),
    { ...fenceOf(claims[0]!), leaseEpoch: 9, name: 'late', kind: 'step', state: 'succeeded' },
    { ...fenceOf(claims[1]!), name: '', kind: 'step', state: 'succeeded' },
  ])
  expect(answers.map((answer) => (answer.kind === 'refused' ? answer.error.code : answer.kind))).toEqual([
    ...Array.from({ length: 9 }, () => 'step_recorded'),
    'stale_lease',
    'invalid_input',
  ])
  for (const { executionId } of claims) {
    const { steps } = await engine.steps.list(executionId)
    expect(steps.map(({ number, name }) => [number, name])).toEqual([
      [1, 'x'],
      [2, 'y'],
      [3, 'z'],
    ])
  }
})

test('an ended step is never overwritten; an open one is', async () => {
  const { engine } = await setup()
  const claim = await held(engine)
  const step = { ...fenceOf(claim), name: 's', kind: 'step' } as const
  await engine.steps.record({ ...step, state: 'pending', tryCount: 1, dueIn: '1s' })
  await engine.steps.record({ ...step, state: 'failed', tryCount: 2, result: two })
  await engine.steps.record({ ...step, state: 'succeeded', tryCount: 3, result: one })
  await engine.steps.record({ ...step, state: 'succeeded', tryCount: 4, result: two })
  await engine.steps.record({ ...step, state: 'failed', tryCount: 5 })
  const { steps } = await engine.steps.list(claim.executionId)
  expect(steps).toMatchObject([{ state: 'succeeded', tryCount: 3, result: one, dueAt: null }])
})

test('a name that was recorded as another kind is refused', async () => {
  const { engine } = await setup()
  const claim = await held(engine)
  await engine.steps.record({ ...fenceOf(claim), name: 's', kind: 'step', state: 'succeeded' })
  const error = await refusal(
    'step_kind_conflict',
    engine.steps.record({ ...fenceOf(claim), name: 's', kind: 'sleep', state: 'pending' }),
  )
  expect(error.message).toContain('has recorded "s" as a step, but now it is a sleep')
})

test('a worker that has lost its lease records nothing, and the next holder reads all recorded steps', async () => {
  const { engine, sql, clock } = await setup()
  const claim = await held(engine)
  await engine.steps.record({ ...fenceOf(claim), name: 'before', kind: 'step', state: 'succeeded' })
  await clock.advance('2m')
  const late = { ...fenceOf(claim), name: 'late', kind: 'step', state: 'succeeded' } as const
  await refusal('lease_expired', engine.steps.record(late))
  await leaseExpiry.runOnce(sql)
  const next = await take(engine)
  await refusal('stale_lease', engine.steps.record(late))
  const { steps } = await engine.steps.list(next.executionId)
  expect(steps).toMatchObject([{ name: 'before', leaseEpoch: 1, attemptIndex: 0 }])
})

test('a generation takes 10,000 steps', async () => {
  const { engine, sql } = await setup()
  const claim = await held(engine)
  const step = { ...fenceOf(claim), kind: 'step', state: 'succeeded' } as const
  await engine.steps.record({ ...step, name: 'first' })
  await stored.steps.change(sql, { total_count: limits.stepCount - 1 })
  const answers = await engine.steps.recordMany(['last', 'over', 'over too'].map((name) => ({ ...step, name })))
  expect(answers).toMatchObject([
    { kind: 'step_recorded' },
    { kind: 'refused', error: { code: 'step_limit' } },
    { kind: 'refused', error: { code: 'step_limit' } },
  ])
  await engine.steps.record({ ...step, name: 'last' })
  const found = await stored.steps.pick(sql, ['step_name'], {}, 'step_no')
  expect(found.map((row) => row['step_name'])).toEqual(['first', 'last'])
  await stored.steps.change(sql, 'total_count = step_no')
})

test('a generation takes 64 MiB of results, and a result that is written again counts once', async () => {
  const { engine, sql } = await setup()
  const claim = await held(engine)
  const step = { ...fenceOf(claim), kind: 'step' } as const
  await engine.steps.record({ ...step, name: 'a', state: 'failed', result: new Uint8Array(1000) })
  await stored.steps.change(sql, { total_bytes: limits.stepBytes - 500 })
  const error = await refusal(
    'step_limit',
    engine.steps.record({ ...step, name: 'b', state: 'succeeded', result: new Uint8Array(501) }),
  )
  expect(error.message).toContain('10000 steps or 64 MiB of them; continue with ctx.restart(input)')
  await engine.steps.record({ ...step, name: 'a', state: 'succeeded', result: new Uint8Array(1500) })
  await refusal('step_limit', engine.steps.record({ ...step, name: 'c', state: 'succeeded', result: one }))
})

test('bad input is refused before anything is written', async () => {
  const { engine, sql } = await setup()
  const fence = fenceOf(await held(engine))
  const step = { ...fence, name: 's', kind: 'step', state: 'succeeded' } as const
  const refused = [
    [{ ...step, name: 'x'.repeat(257) }, 'name is at least 257 bytes long'],
    [{ ...step, name: 'a\nb' }, 'with a control character'],
    [{ ...step, index: -1 }, 'index is -1'],
    [{ ...step, index: 10_000 }, 'index is 10000'],
    [{ ...step, kind: 'stop' as 'step' }, 'did you mean step?'],
    [{ ...step, state: 'done' as 'failed' }, 'state is "done"'],
    [{ ...step, tryCount: 1.5 }, 'tryCount is 1.5'],
    [{ ...step, dueIn: '1s' as const, dueAt: 5 }, 'dueIn is given together with dueAt'],
    [{ ...step, dueIn: -1 }, 'dueIn is -1'],
    [{ ...step, originId: 'x' }, 'originId is "x"; it must be a uuid'],
    [{ ...step, result: 'x' as unknown as Uint8Array }, 'result is "x"; it must be bytes'],
  ] as const
  for (const [request, sentence] of refused) {
    const error = await refusal('invalid_input', engine.steps.record(request))
    expect(error.message).toContain(sentence)
  }
  const large = new Uint8Array(limits.stepResultBytes + 1)
  const error = await refusal('payload_too_large', engine.steps.record({ ...step, result: large }))
  expect(error.message).toContain('the result of step "s" is 1048577 bytes')
  expect(await stored.steps.all(sql)).toEqual([])
})
