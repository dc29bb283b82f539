import { expect, test } from 'vitest'
import { formatExecutionId, mintExecutionId, parseExecutionId } from '../../../src/model/id.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import * as stored from '../../support/stored.ts'

const request = {
  kind: 'charge',
  lane: 'payments',
  idempotencyKey: 'order 7',
  payload: new TextEncoder().encode('{"amount":7}'),
  tags: { b: '2', a: '1' },
  policy: { retry: { attempts: 2 }, maxReplayCount: 3 },
  priority: 3,
}

test('the same request under the same key is a duplicate of the first', async () => {
  const { engine, sql } = await setup()
  const first = await engine.executions.create(request)
  const policy = { maxReplayCount: 3, retry: { attempts: 2 } }
  const again = { ...request, tags: { a: '1', b: '2' }, policy, creator: 'another caller' }
  const second = await withoutWriting(sql, () => engine.executions.create(again))
  expect(first.kind).toBe('created')
  expect(second).toEqual({ kind: 'duplicate', executionId: first.executionId, publicState: 'waiting' })
})

test.each([
  ['payload', { payload: new TextEncoder().encode('{"amount":8}') }],
  ['kind', { kind: 'refund' }],
  ['lane', { lane: 'other' }],
  ['tags', { tags: { a: '1' } }],
  ['policy', { policy: { retry: { attempts: 3 } } }],
  ['priority', { priority: 4 }],
  ['delay', { delay: '1m' }],
  ['deadline', { deadline: '1m' }],
  ['version', { version: '2' }],
  ['required capabilities', { requiredCapabilities: ['gpu'] }],
  ['encoding', { payloadEncoding: 'text' }],
] as const)('another %s under the same key is a conflict that names the first', async (_, other) => {
  const { engine, sql } = await setup()
  const first = await engine.executions.create(request)
  const error = await refusal('idempotency_conflict', engine.executions.create({ ...request, ...other }))
  expect(error.details).toMatchObject({ idempotencyKey: 'order 7', executionId: first.executionId })
  expect(error.message).toContain(first.executionId)
  expect(await stored.executions.all(sql)).toHaveLength(1)
})

test('a key holds within its namespace', async () => {
  const { engine } = await setup()
  const a = await engine.executions.create({ ...request, namespace: 'a' })
  const b = await engine.executions.create({ ...request, namespace: 'b', priority: 4 })
  expect([a.kind, b.kind]).toEqual(['created', 'created'])
})

test('a key is free again at the very moment of its expiry', async () => {
  const { engine, clock } = await setup()
  await clock.freeze()
  const first = await engine.executions.create({ ...request, idempotencyTtl: '1m' })
  await clock.advance(59_999)
  expect(await engine.executions.create({ ...request, idempotencyTtl: '1m' })).toMatchObject({ kind: 'duplicate' })
  await clock.advance(1)
  const second = await engine.executions.create({ ...request, priority: 9 })
  expect(second.kind).toBe('created')
  expect(second.executionId).not.toBe(first.executionId)
})

test('a key is remembered for a day by default', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  await engine.executions.create(request)
  expect(await stored.idempotencyKeys.pick(sql, ['expires_at_ms'])).toEqual([
    { expires_at_ms: (await clock.now()) + 86_400_000 },
  ])
})

test('an id given with a key must carry the partition of the key', async () => {
  const { engine, sql } = await setup()
  const right = mintExecutionId({ namespace: 'default', idempotencyKey: 'order 7' })
  const { partition, uuid } = parseExecutionId(right)
  const wrong = formatExecutionId((partition + 1) % 256, uuid)
  const error = await withoutWriting(sql, () =>
    refusal('invalid_partition', engine.executions.create({ ...request, executionId: wrong })),
  )
  expect(error.details).toMatchObject({ wanted: partition })
  expect(await engine.executions.create({ ...request, executionId: right })).toMatchObject({ executionId: right })
})

test('a second id under the same key returns the first', async () => {
  const { engine } = await setup()
  const [one, two] = [0, 1].map(() => mintExecutionId({ namespace: 'default', idempotencyKey: 'order 7' }))
  await engine.executions.create({ ...request, executionId: one! })
  expect(await engine.executions.create({ ...request, executionId: two! })).toMatchObject({
    kind: 'duplicate',
    executionId: one,
  })
})

test('a repeated id under a new key is a duplicate and does not take the key', async () => {
  const { engine } = await setup()
  const executionId = mintExecutionId({ namespace: 'default', idempotencyKey: 'order 7' })
  await engine.executions.create({ kind: 'k', executionId })
  expect(await engine.executions.create({ ...request, executionId })).toMatchObject({ kind: 'duplicate', executionId })
  expect(await engine.executions.create(request)).toMatchObject({ kind: 'created' })
})

test('the same key twice in one call creates one execution', async () => {
  const { engine, sql } = await setup()
  const answers = await engine.executions.createMany([request, request, { ...request, priority: 8 }])
  expect(answers.map((answer) => answer.kind)).toEqual(['created', 'duplicate', 'refused'])
  expect(answers[2]).toMatchObject({ error: { code: 'idempotency_conflict' } })
  expect(await stored.executions.all(sql)).toHaveLength(1)
})

test('one id under two keys in one call creates one execution', async () => {
  const { engine, sql } = await setup()
  const executionId = mintExecutionId({ namespace: 'default', idempotencyKey: 'order 7' })
  const answers = await engine.executions.createMany([
    { kind: 'k', executionId },
    { ...request, executionId },
  ])
  expect(answers.map((answer) => answer.kind)).toEqual(['created', 'duplicate'])
  expect(await stored.executions.all(sql)).toHaveLength(1)
})
