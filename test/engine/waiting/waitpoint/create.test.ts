import { expect, test } from 'vitest'
import type { WaitpointCreated } from '../../../../src/engine/waiting/waitpoint/create.ts'
import { mintExecutionId } from '../../../../src/model/id.ts'
import { limits } from '../../../../src/model/limits.ts'
import { refusal } from '../../../support/refusal.ts'
import { setup } from '../../../support/setup.ts'
import { withoutWriting } from '../../../support/written.ts'
import { fenceOf, held, take } from '../../execution/holder.ts'
import { answer } from '../suspension/waiting.ts'
import * as stored from '../../../support/stored.ts'

test('WPT-10 a waitpoint may be created before its suspension, and each has an id and a token of its own', async () => {
  const { engine, clock } = await setup()
  await clock.freeze()
  const claim = await held(engine)
  const { executionId } = claim
  const now = await engine.serverTime()
  const request = { ...fenceOf(claim), key: 'k', expiresIn: '60s' } as const
  const first = await engine.waitpoints.create(request)
  expect(first).toEqual({
    kind: 'waitpoint_created',
    executionId,
    waitpointId: expect.stringMatching(/^\{fp:\d+\}:/),
    key: 'k',
    token: expect.stringMatching(/^[^:]+:[\da-f]{64}$/),
    expiresAt: now + 60_000,
  })
  const second = await engine.waitpoints.create(request)
  expect(second.waitpointId).not.toBe(first.waitpointId)
  expect(second.token).not.toBe(first.token)
  expect((await engine.waitpoints.list(executionId)).waitpoints).toMatchObject([
    { state: 'pending', expiresAt: now + 60_000, requiredSignalNames: [], activatedAt: null },
    { state: 'pending' },
  ])
  expect(await engine.executions.describe(executionId)).toMatchObject({ publicState: 'active' })
})

test('one without an expiry stays as long as the execution lives', async () => {
  const { engine, clock } = await setup()
  const claim = await held(engine)
  const made = await engine.waitpoints.create({ ...fenceOf(claim), key: 'k' })
  expect(made.expiresAt).toBeNull()
  await clock.advance('10s')
  expect(await answer(engine, made)).toMatchObject({ effect: 'buffered_for_pending_waitpoint' })
})

test('many created at once, of one execution and of several, are each separate', async () => {
  const { engine } = await setup()
  const claims = [await held(engine), await held(engine)]
  const made = await Promise.all(
    ['a', 'b', 'c'].flatMap((key) => claims.map((claim) => engine.waitpoints.create({ ...fenceOf(claim), key }))),
  )
  expect(new Set(made.map(({ token }) => token)).size).toBe(6)
  for (const { executionId } of claims) {
    const { waitpoints } = await engine.waitpoints.list(executionId)
    expect(waitpoints.map(({ key }) => key).toSorted()).toEqual(['a', 'b', 'c'])
  }
})

test('each create writes to the execution, so an operation that began before must notice it', async () => {
  const { engine, sql } = await setup()
  const claim = await held(engine)
  const versions = new Set<unknown>()
  for (const key of ['a', 'b', 'c']) {
    await engine.waitpoints.create({ ...fenceOf(claim), key })
    const [row] = await stored.executions.versions(sql)
    versions.add(row!['xmin'])
  }
  expect(versions.size).toBe(3)
})

test('only the holder creates waitpoints', async () => {
  const { engine, sql, clock } = await setup()
  const claim = await held(engine)
  await engine.waitpoints.create({ ...fenceOf(claim), key: 'k' })
  const request = { ...fenceOf(claim), key: 'k' }
  await withoutWriting(sql, async () => {
    await refusal('stale_lease', engine.waitpoints.create({ ...request, leaseEpoch: 9 }))
    await refusal('execution_not_found', engine.waitpoints.create({ ...request, executionId: mintExecutionId() }))
    await refusal('invalid_input', engine.waitpoints.create({ ...request, key: '' }))
    await refusal('invalid_input', engine.waitpoints.create({ ...request, key: 'k'.repeat(257) }))
  })
  await clock.advance('10m')
  await withoutWriting(sql, () => refusal('lease_expired', engine.waitpoints.create(request)))
})

test('an execution has at most a thousand that no suspension has used, also when they arrive in one set', async () => {
  const { engine, sql } = await setup()
  const fence = fenceOf(await held(engine))
  await engine.waitpoints.create({ ...fence, key: 'k' })
  const changed = { waitpoint_id: 'gen_random_uuid()' }
  await stored.waitpoints.multiply(sql, limits.pendingWaitpointCount - 3, changed)
  const made = await Promise.allSettled(['a', 'b', 'c'].map((key) => engine.waitpoints.create({ ...fence, key })))
  expect(made.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'rejected'])
  expect(made[2]).toMatchObject({ reason: { code: 'waitpoint_limit_exceeded', retryable: false } })
  await withoutWriting(sql, () => refusal('waitpoint_limit_exceeded', engine.waitpoints.create({ ...fence, key: 'd' })))
  const { waitpointId } = (made[0] as PromiseFulfilledResult<WaitpointCreated>).value
  const condition = { kind: 'signal', waitpoint: 'a' } as const
  await engine.executions.suspend({ ...fence, condition, waitpoints: [{ waitpointId }] })
  await engine.executions.resume({ executionId: fence.executionId })
  expect(await engine.waitpoints.create({ ...fenceOf(await take(engine)), key: 'd' })).toMatchObject({ key: 'd' })
})
