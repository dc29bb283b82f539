import { expect, inject, test } from 'vitest'
import { jsonCodec } from '../../../src/model/codec.ts'
import { formatExecutionId, mintExecutionId, parseExecutionId, partitionOfKey } from '../../../src/model/id.ts'
import { factory } from '../../support/factory.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import * as stored from '../../support/stored.ts'
import { inputsByKind } from '../../support/reads.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

test('EXEC-01 a new execution is runnable and waits for its first attempt', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const now = await clock.now()
  const executionId = formatExecutionId(7, parseExecutionId(mintExecutionId()).uuid)

  const answer = await engine.executions.create({
    executionId,
    kind: 'send-email',
    namespace: 'shop',
    lane: 'mail',
    payload: bytes('{"to":"a"}'),
    priority: 100,
    creator: 'checkout',
    tags: { customer: 'c1' },
  })

  const applied = { attempts: 1, attemptsFrom: 'default', lane: 'mail', laneFrom: 'request', isRegistered: false }
  expect(answer).toEqual({ kind: 'created', executionId, publicState: 'waiting', applied })
  expect(await engine.executions.describe(executionId)).toMatchObject({
    executionId,
    namespace: 'shop',
    lane: 'mail',
    kind: 'send-email',
    priority: 100,
    creator: 'checkout',
    tags: { customer: 'c1' },
    requiredCapabilities: [],
    flowId: null,
    parentId: null,
    createdAt: now,
    lastMutationAt: now,
    startedAt: null,
    deadlineAt: null,
    delayUntil: null,
    totalAttemptCount: 0,
    generation: 0,
    publicState: 'waiting',
    blockingReason: 'waiting_for_worker',
    blockingDetail: "waiting for a worker on lane 'mail'",
    state: {
      lifecyclePhase: 'runnable',
      ownershipState: 'unowned',
      eligibilityState: 'eligible_now',
      attemptState: 'pending_first_attempt',
      terminalOutcome: 'none',
      interruption: 'none',
    },
  })
  expect(await stored.executions.pick(sql, ['partition_key', 'attempt_index'])).toEqual([
    { partition_key: 7, attempt_index: 0 },
  ])
})

test('given fields are stored, and omitted ones are null', async () => {
  const { engine, sql } = await setup()
  await engine.executions.create({ kind: 'full', payload: new Uint8Array([0, 255, 128]), payloadEncoding: 'raw' })
  await engine.executions.create({ kind: 'bare' })
  await engine.executions.create({ kind: 'empty', payload: new Uint8Array() })
  const inputs = await inputsByKind(sql)
  expect(inputs.map((row) => ({ ...row, payload: row['payload'] && [...(row['payload'] as Uint8Array)] }))).toEqual([
    { kind: 'bare', payload: null, encoding: null, policy: null, key: null },
    { kind: 'empty', payload: [], encoding: 'json', policy: null, key: null },
    { kind: 'full', payload: [0, 255, 128], encoding: 'raw', policy: null, key: null },
  ])
})

test('a plain input is stored as the default codec stores it; one that JSON cannot hold is refused', async () => {
  const { engine } = await setup()
  const input = { at: new Date(0), lines: [1, 'ä', null], left: undefined }
  const { executionId } = await engine.executions.create({ kind: 'k', input })
  const { bytes: payload, encoding } = jsonCodec.encode(input)
  expect(await engine.executions.input(executionId)).toEqual({ payload, encoding })

  const { create, createMany } = engine.executions
  const both = await refusal('invalid_input', create({ kind: 'k', input: 1, payload: bytes('1') }))
  expect(both.message).toBe('input and payload are both given; give one of them')
  const map = await refusal('invalid_input', create({ kind: 'k', input: { seen: new Map() } }))
  expect(map.message).toContain('seen is a Map')
  const raw = await refusal('invalid_input', create({ kind: 'k', input: bytes('1') }))
  expect(raw.message).toBe('input is bytes; it must be JSON. Send bytes as payload')
  const encoded = { kind: 'k', input: 1, payloadEncoding: 'raw' }
  expect(await createMany([encoded, { kind: 'k', input: 0 }])).toMatchObject([
    { kind: 'refused', error: { code: 'invalid_input', details: { field: 'payloadEncoding' } } },
    { kind: 'created' },
  ])
})

test('EXEC-03 a repeated id is a duplicate, and the first execution stays unchanged', async () => {
  const { engine, sql } = await setup()
  const executionId = mintExecutionId()
  await engine.executions.create({ executionId, kind: 'first', payload: bytes('1'), priority: 5 })
  const again = { executionId, kind: 'second', lane: 'default', payload: bytes('2'), priority: 9 }
  // The queue of the second kind is interned before the create can know that it is a repeat.
  await engine.executions.create({ kind: 'second' })
  const answer = await withoutWriting(sql, () => engine.executions.create(again))
  expect(answer).toEqual({ kind: 'duplicate', executionId, publicState: 'waiting' })
})

test('a repeated id returns the state that the execution has reached', async () => {
  const { engine, sql } = await setup()
  const executionId = await factory(sql).failed()
  expect(await engine.executions.create({ executionId, kind: 'anything' })).toEqual({
    kind: 'duplicate',
    executionId,
    publicState: 'failed',
  })
})

test('an id that another namespace has is refused, and the answer reveals nothing of that execution', async () => {
  const { engine, sql } = await setup()
  const executionId = await factory(sql).failed({ namespace: 'theirs', reason: 'secret' })
  const error = await refusal(
    'execution_id_taken',
    engine.as({ namespace: 'ours' }).executions.create({ executionId, kind: 'k' }),
  )
  expect(error.message).not.toMatch(/theirs|failed|secret/)
})

test('the same uuid under another partition is another id, and refused', async () => {
  const { engine } = await setup()
  const { partition, uuid } = parseExecutionId((await engine.executions.create({ kind: 'k' })).executionId)
  const other = formatExecutionId((partition + 1) % 256, uuid)
  await refusal('execution_id_taken', engine.executions.create({ executionId: other, kind: 'k' }))
  expect(await engine.executions.describe(other)).toBeNull()
})

test('an id in capitals is the same id, and is returned as it is stored', async () => {
  const { engine } = await setup()
  const { executionId } = await engine.executions.create({ kind: 'k' })
  const { partition, uuid } = parseExecutionId(executionId)
  const shouted = formatExecutionId(partition, uuid.toUpperCase())
  expect(await engine.executions.create({ executionId: shouted, kind: 'k' })).toMatchObject({
    kind: 'duplicate',
    executionId,
  })
})

test('EXEC-04 the first use registers the lane, and the second leaves it unchanged', async () => {
  const { engine, clock } = await setup()
  await clock.freeze()
  const now = await clock.now()
  await engine.executions.create({ kind: 'k', namespace: 'a', lane: 'fresh' })
  const lane = { namespace: 'a', lane: 'fresh', state: 'active', registeredAt: now, registeredBy: 'create_execution' }
  expect((await engine.lanes.list()).lanes).toEqual([lane])

  await clock.advance('1h')
  await engine.executions.create({ kind: 'another', namespace: 'a', lane: 'fresh' })
  expect((await engine.lanes.list()).lanes).toEqual([lane])
})

test('EXEC-05 a policy is stored with its back-off written out, or as null', async () => {
  const { engine, sql } = await setup()
  const withPolicy = await engine.executions.create({
    kind: 'k',
    policy: { retry: { attempts: 3 }, attemptTimeoutMs: '30s' },
  })
  const without = await engine.executions.create({ kind: 'k' })
  expect((await engine.executions.describe(withPolicy.executionId))?.policy).toEqual({
    retry: { attempts: 3, backoff: { type: 'exponential', initialMs: 1000, maxMs: 60_000, multiplier: 2, jitter: 0 } },
    attemptTimeoutMs: 30_000,
  })
  expect((await engine.executions.describe(without.executionId))?.policy).toBeNull()
  expect(await stored.inputs.count(sql, { policy: null })).toBe(1)
})

// It cannot be sent over HTTP, which is another refusal.
test.skipIf(inject('overHttp'))('EXEC-05 a policy that contains itself is refused', async () => {
  const { engine, sql } = await setup()
  const endless: Record<string, unknown> = { attempts: 2 }
  endless['backoff'] = endless
  const error = await withoutWriting(sql, () =>
    refusal('invalid_policy', engine.executions.create({ kind: 'k', policy: { retry: endless } as never })),
  )
  expect(error.message).toContain('policy')
})

test('EXEC-07 a delayed execution waits for its time', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const until = (await clock.now()) + 300_000
  const byTime = await engine.executions.create({ kind: 'k', delayUntil: until })
  const byDuration = await engine.executions.create({ kind: 'k', delay: '5m' })
  for (const { executionId, publicState } of [byTime, byDuration]) {
    expect(publicState).toBe('delayed')
    expect(await engine.executions.describe(executionId)).toMatchObject({
      publicState: 'delayed',
      state: { lifecyclePhase: 'runnable', eligibilityState: 'not_eligible_until_time' },
      blockingReason: 'waiting_for_delay',
      blockingDetail: `delayed until ${new Date(until).toISOString()}`,
      delayUntil: until,
    })
  }
  // The columns that a claim reads.
  expect(await stored.ready.all(sql)).toEqual([])
})

test('a delay of zero, or until a past time, is no delay', async () => {
  const { engine, clock } = await setup()
  await clock.freeze()
  const now = await clock.now()
  for (const delay of [{ delay: 0 }, { delayUntil: now }, { delayUntil: now - 1 }]) {
    const { executionId, publicState } = await engine.executions.create({ kind: 'k', ...delay })
    expect(publicState).toBe('waiting')
    expect(await engine.executions.describe(executionId)).toMatchObject({ publicState: 'waiting', delayUntil: null })
  }
})

test('EXEC-08 a priority out of range is clamped, and the answer reports it', async () => {
  const { engine } = await setup()
  const high = await engine.executions.create({ kind: 'k', priority: 10_000 })
  const low = await engine.executions.create({ kind: 'k', priority: -5 })
  const within = await engine.executions.create({ kind: 'k', priority: 50 })
  expect(high).toMatchObject({ kind: 'created', adjusted: { priority: { given: 10_000, used: 9000 } } })
  expect(low).toMatchObject({ kind: 'created', adjusted: { priority: { given: -5, used: 0 } } })
  expect(within).not.toHaveProperty('adjusted')
  const stored = await Promise.all(
    [high, low, within].map(({ executionId }) => engine.executions.describe(executionId)),
  )
  expect(stored.map((execution) => execution?.priority)).toEqual([9000, 0, 50])
})

test('EXEC-40 a deadline is stored exactly, as a time or counted from now', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const deadlineAt = (await clock.now()) + 600_000
  const fixed = await engine.executions.create({ kind: 'k', deadlineAt })
  const counted = await engine.executions.create({ kind: 'k', deadline: '10m' })
  for (const { executionId } of [fixed, counted]) {
    expect((await engine.executions.describe(executionId))?.deadlineAt).toBe(deadlineAt)
  }
  const given = await stored.inputs.pick(
    sql,
    ['deadline_at_ms', 'deadline_after_ms'],
    {},
    'deadline_after_ms nulls first',
  )
  expect(given).toEqual([
    { deadline_at_ms: deadlineAt, deadline_after_ms: null },
    { deadline_at_ms: null, deadline_after_ms: 600_000 },
  ])
})

test('required capabilities are sorted, named once, and part of the queue', async () => {
  const { engine, sql } = await setup()
  const a = await engine.executions.create({ kind: 'k', requiredCapabilities: ['gpu', 'arm', 'gpu'] })
  await engine.executions.create({ kind: 'k', requiredCapabilities: ['arm', 'gpu'] })
  await engine.executions.create({ kind: 'k', requiredCapabilities: ['arm'] })
  expect(await engine.executions.describe(a.executionId)).toMatchObject({
    requiredCapabilities: ['arm', 'gpu'],
    blockingDetail: "waiting for a worker on lane 'default' with arm, gpu",
  })
  expect(await stored.queues.pick(sql, ['required_capabilities'], {}, 'required_capabilities')).toEqual([
    { required_capabilities: ['arm'] },
    { required_capabilities: ['arm', 'gpu'] },
  ])
})

test('the caller is the creator and sets the namespace, unless the request names them', async () => {
  const { engine } = await setup()
  const bound = engine.as({ namespace: 'a', actor: 'ann' })
  const { executionId } = await bound.executions.create({ kind: 'k' })
  expect(await engine.executions.describe(executionId)).toMatchObject({ namespace: 'a', creator: 'ann' })
  const named = await bound.executions.create({ kind: 'k', creator: 'bob', namespace: 'a' })
  expect(await engine.executions.describe(named.executionId)).toMatchObject({ namespace: 'a', creator: 'bob' })
  const unbound = await engine.executions.create({ kind: 'k' })
  expect(await engine.executions.describe(unbound.executionId)).toMatchObject({
    namespace: 'default',
    creator: 'local',
  })
})

test("a request for another namespace than the caller's is refused", async () => {
  const { engine, sql } = await setup()
  const bound = engine.as({ namespace: 'a' })
  await withoutWriting(sql, () => refusal('namespace_mismatch', bound.executions.create({ kind: 'k', namespace: 'b' })))
})

test('create writes no event', async () => {
  const { engine, sql } = await setup()
  await engine.executions.create({ kind: 'k', delay: '1m', idempotencyKey: 'x', tags: { a: 'b' } })
  expect(await stored.events.all(sql)).toEqual([])
})

test('an id without a key carries the partition of its uuid, one with a key that of the key', async () => {
  const { engine } = await setup()
  const keyed = await engine.executions.create({ kind: 'k', namespace: 'a', idempotencyKey: 'order 7' })
  expect(parseExecutionId(keyed.executionId).partition).toBe(partitionOfKey('a', 'order 7'))
})
