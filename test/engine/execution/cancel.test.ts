import { expect, test } from 'vitest'
import { formatExecutionId, mintExecutionId, parseExecutionId } from '../../../src/model/id.ts'
import { factory, type Factory } from '../../support/factory.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { bySets } from '../../../src/model/sets.ts'
import * as stored from '../../support/stored.ts'
import { countBusy } from '../../support/reads.ts'

const cancellable = [
  'waiting',
  'delayed',
  'retrying',
  'interrupted',
  'resumable',
  'active',
  'suspended',
  'blocked',
  'rateLimited',
  'heldByOperator',
] as const satisfies readonly (keyof Factory)[]

test.each(cancellable)(
  'EXEC-26 cancel ends an execution that is %s, and records the actor and the reason',
  async (state) => {
    const { engine, sql, clock } = await setup()
    const id = await factory(sql)[state]({ deadlineAt: (await clock.now()) + 1_000_000 })
    const before = await engine.executions.describe(id)
    await clock.advance('1m')
    await clock.freeze()
    const now = await clock.now()

    const answer = await engine.as({ actor: 'ann' }).executions.cancel({ executionId: id, reason: 'no longer needed' })

    expect(answer).toEqual({ kind: 'cancelled', executionId: id, from: before!.publicState })
    const ran = before!.totalAttemptCount > 0
    expect(await engine.executions.describe(id)).toMatchObject({
      publicState: 'cancelled',
      state: {
        lifecyclePhase: 'terminal',
        ownershipState: 'unowned',
        eligibilityState: 'not_applicable',
        attemptState: ran ? 'attempt_terminal' : 'pending_first_attempt',
        terminalOutcome: 'cancelled',
        interruption: 'none',
      },
      endedAt: now,
      lastMutationAt: now,
      cancellationReason: 'no longer needed',
      cancelledBy: 'ann',
      failureReason: null,
      delayUntil: null,
      deadlineAt: null,
      lease: null,
      currentAttempt: null,
      blockingReason: 'none',
    })
    expect(await countBusy(sql)).toBe(0)
    expect(await engine.executions.result(id)).toEqual({ kind: 'cancelled', reason: 'no longer needed' })
  },
)

test('cancel writes one completion event, with namespace, actor, reason and generation', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const executionId = await factory(sql).waiting({ namespace: 'shop' })
  const { partition, uuid } = parseExecutionId(executionId)
  await engine.as({ namespace: 'shop', actor: 'ann' }).executions.cancel({ executionId, reason: 'why' })
  expect(await stored.endings.all(sql)).toEqual([
    {
      event_id: 1,
      partition_key: partition,
      execution_id: uuid,
      flow_id: null,
      generation: 0,
      outcome: 'cancelled',
      reason: 'why',
      namespace: 'shop',
      actor: 'ann',
      key_id: null,
      on_behalf_of: null,
      occurred_at_ms: await clock.now(),
    },
  ])
  expect(await stored.leaseEvents.all(sql)).toEqual([])
})

test('LEASE-30 cancel of an execution without a lease writes no lease event', async () => {
  const { engine, sql } = await setup()
  const { executionId } = await engine.executions.create({ kind: 'k' })
  await engine.executions.cancel({ executionId })
  expect(await stored.leaseEvents.all(sql)).toEqual([])
  expect(await stored.endings.all(sql)).toHaveLength(1)
})

test('OPS-01 cancel of a leased execution ends its lease, records it as revoked, and leaves the epoch', async () => {
  const { engine, sql } = await setup()
  const leaseId = '0190a3c4-0000-4000-8000-000000000009'
  const held = { leaseId, leaseEpoch: 3, attemptIndex: 1, workerInstance: 'w1' }
  const executionId = await factory(sql).active(held)
  await engine.executions.cancel({ executionId })
  const events = await stored.leaseEvents.pick(sql, [
    'event_type',
    'lease_id',
    'lease_epoch',
    'attempt_index',
    'worker_instance_id',
    'reason',
  ])
  expect(events).toEqual([
    {
      event_type: 'revoked',
      lease_id: leaseId,
      lease_epoch: 3,
      attempt_index: 1,
      worker_instance_id: 'w1',
      reason: 'cancelled',
    },
  ])
  // The last holder's fence stays, so its late write can be answered with the reason.
  expect(await stored.executions.pick(sql, ['lease_id', 'lease_epoch'])).toEqual([
    { lease_id: leaseId, lease_epoch: 3 },
  ])
  const owner = ['lease_id', 'lease_epoch', 'worker_instance_id'] as const
  const attempts = await stored.attempts.pick(sql, ['attempt_index', 'outcome', ...owner, 'ended_at_ms'])
  expect(attempts).toEqual([
    {
      attempt_index: 1,
      outcome: 'cancelled',
      lease_id: leaseId,
      lease_epoch: 3,
      worker_instance_id: 'w1',
      ended_at_ms: expect.any(Number),
    },
  ])
})

test.each(['suspended', 'interrupted'] as const)(
  'cancel closes the attempt of an execution that is %s',
  async (state) => {
    const { engine, sql } = await setup()
    const executionId = await factory(sql)[state]()
    await engine.executions.cancel({ executionId, reason: 'why' })
    const attempts = await stored.attempts.pick(sql, ['outcome', 'failure_reason', 'ended_at_ms'])
    expect(attempts).toEqual([{ outcome: 'cancelled', failure_reason: 'why', ended_at_ms: expect.any(Number) }])
  },
)

test('cancel of a member or a child records the ending for those who wait for it', async () => {
  const { engine, sql } = await setup({ dispatch: false })
  const given = factory(sql)
  const parentId = await given.suspended()
  const member = await given.blocked()
  const child = await given.waiting({ parentId })
  const solo = await given.waiting()
  await engine.executions.cancelMany([member, child, solo].map((executionId) => ({ executionId })))
  const owed = await stored.dispatches.pick(
    sql,
    ['execution_id', 'parent_id', 'generation', 'outcome'],
    {},
    'execution_id',
  )
  expect(owed.map((row) => row['execution_id'])).toEqual(
    [member, child].map((id) => parseExecutionId(id).uuid).toSorted(),
  )
  expect(owed.find((row) => row['execution_id'] === parseExecutionId(child).uuid)).toMatchObject({
    parent_id: parseExecutionId(parentId).uuid,
    outcome: 'cancelled',
  })
})

test('OPS-02 an operator cancels a waiting execution, and no worker can claim it any more', async () => {
  const { engine, sql } = await setup()
  const executionId = await factory(sql).waiting()
  await engine.as({ actor: 'ann' }).executions.cancel({ executionId })
  expect(await engine.executions.describe(executionId)).toMatchObject({ publicState: 'cancelled', cancelledBy: 'ann' })
  const { claims } = await engine.executions.claim({ workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'] })
  expect(claims).toEqual([])
})

test('EXEC-30 an execution that is cancelled while it waits for a retry does not show the failed attempt as its own', async () => {
  const { engine, sql } = await setup()
  const executionId = await factory(sql).retrying()
  await engine.executions.cancel({ executionId, reason: 'not needed' })
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'cancelled',
    state: { terminalOutcome: 'cancelled', attemptState: 'attempt_terminal' },
    failureReason: null,
    cancellationReason: 'not needed',
  })
  // The attempt itself keeps its outcome.
  expect((await engine.attempts.list(executionId)).attempts).toMatchObject([{ attemptIndex: 0, outcome: 'retry' }])
})

test('EXEC-27, OPS-04 cancelling twice succeeds, keeps the first reason and writes nothing', async () => {
  const { engine, sql } = await setup()
  const { executionId } = await engine.executions.create({ kind: 'k' })
  await engine.executions.cancel({ executionId, reason: 'first' })
  const again = await withoutWriting(sql, () => engine.executions.cancel({ executionId, reason: 'second' }))
  expect(again).toEqual({ kind: 'already_cancelled', executionId })
  expect((await engine.executions.describe(executionId))?.cancellationReason).toBe('first')
})

test('EXEC-28, OPS-04 cancel after another ending is a conflict that names it, and changes nothing', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  for (const state of ['completed', 'failed', 'expired', 'skipped'] as const) {
    const executionId = await given[state]()
    const error = await withoutWriting(sql, () =>
      refusal('execution_not_cancellable', engine.executions.cancel({ executionId })),
    )
    expect(error.message).toContain(`${executionId} is ${state}`)
    expect(error.details).toEqual({ executionId, publicState: state })
    expect(error.status).toBe(409)
  }
})

test('EXEC-29, OPS-05 cancel of an id that does not exist is not found', async () => {
  const { engine, sql } = await setup()
  const executionId = mintExecutionId()
  const error = await withoutWriting(sql, () =>
    refusal('execution_not_found', engine.executions.cancel({ executionId })),
  )
  expect(error.message).toContain(executionId)
  expect(error.status).toBe(404)
})

test('an id whose partition is not that of the row is not found', async () => {
  const { engine, sql } = await setup()
  const { partition, uuid } = parseExecutionId(await factory(sql).waiting())
  const executionId = formatExecutionId((partition + 1) % 256, uuid)
  await withoutWriting(sql, () => refusal('execution_not_found', engine.executions.cancel({ executionId })))
})

test('a set answers each item at its position', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const [waiting, done, cancelled, active] = [
    await given.waiting(),
    await given.completed(),
    await given.cancelled(),
    await given.active(),
  ]
  const missing = mintExecutionId()
  const answers = await engine.executions.cancelMany([
    { executionId: active },
    { executionId: missing },
    { executionId: 'nonsense' },
    { executionId: done },
    { executionId: cancelled },
    { executionId: waiting },
  ])
  expect(answers).toMatchObject([
    { kind: 'cancelled', executionId: active, from: 'active' },
    { kind: 'refused', error: { code: 'execution_not_found' } },
    { kind: 'refused', error: { code: 'invalid_id' } },
    { kind: 'refused', error: { code: 'execution_not_cancellable' } },
    { kind: 'already_cancelled', executionId: cancelled },
    { kind: 'cancelled', executionId: waiting, from: 'waiting' },
  ])
})

test('the same execution twice in a set is cancelled once, with the first reason', async () => {
  const { engine, sql } = await setup()
  const executionId = await factory(sql).active()
  const answers = await engine.executions.cancelMany([
    { executionId, reason: 'first' },
    { executionId, reason: 'second' },
  ])
  expect(answers.map((answer) => answer.kind)).toEqual(['cancelled', 'already_cancelled'])
  expect((await engine.executions.describe(executionId))?.cancellationReason).toBe('first')
  expect(await stored.events.all(sql)).toHaveLength(1)
})

test.each([
  ['a NUL in the reason', 'a\0b'],
  ['a lone surrogate in the reason', 'a\uD800'],
  ['a reason of more than 4 KiB', 'x'.repeat(4097)],
  ['a reason that is a number', 7],
])('%s is refused, and nothing is written', async (_, reason) => {
  const { engine, sql } = await setup()
  const executionId = await factory(sql).waiting()
  await withoutWriting(sql, () => refusal('invalid_input', engine.executions.cancel({ executionId, reason } as never)))
})

test('a thousand are cancelled in one call', async () => {
  const { engine } = await setup()
  const created = await bySets(
    Array.from({ length: 1000 }, () => ({ kind: 'k' })),
    (set) => engine.executions.createMany(set),
  )
  const ids = created.map((answer) =>
    answer.kind === 'refused' ? expect.unreachable() : { executionId: answer.executionId },
  )
  const answers = await bySets(ids, (set) => engine.executions.cancelMany(set))
  expect(answers.filter((answer) => answer.kind === 'cancelled')).toHaveLength(1000)
  expect((await engine.executions.countByState()).cancelled).toEqual({ count: 1000, orMore: false })
})

test.each([null, undefined, 7, 'text'])(
  'an item that is %s is refused at its position, and its neighbours are cancelled',
  async (item) => {
    const { engine, sql } = await setup()
    const executionId = await factory(sql).waiting()
    const answers = await engine.executions.cancelMany([item as never, { executionId }])
    expect(answers).toMatchObject([{ kind: 'refused', error: { code: 'invalid_input' } }, { kind: 'cancelled' }])
  },
)
