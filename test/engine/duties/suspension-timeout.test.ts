import { expect, test } from 'vitest'
import { suspensionTimeout } from '../../../src/engine/duties/suspension-timeout.ts'
import { parseExecutionId, type ExecutionId } from '../../../src/model/id.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { factory } from '../../support/factory.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { fenceOf, take } from '../execution/holder.ts'
import { answer, waiting } from '../waiting/suspension/waiting.ts'
import { claimNext } from './claimed.ts'
import { suspensionOf } from './suspension-row.ts'
import * as stored from '../../support/stored.ts'

const endings = [
  ['fails', 'fail', 'failed', 'failed'],
  ['cancels', 'cancel', 'cancelled', 'cancelled'],
  ['expires', 'expire', 'expired', 'expired'],
] as const

test.each(endings)(
  'TMO-01, TMO-02, TMO-03 a timeout that %s ends the execution so, with its reason and one event',
  async (_, behaviour, state, outcome) => {
    const { engine, sql } = await setup()
    const executionId = await factory(sql).suspended({ timeoutAt: 1, timeoutBehaviour: behaviour })
    expect(await suspensionTimeout.runOnce(sql)).toEqual({
      processed: 1,
      errors: 0,
      isFull: false,
      effects: { readyQueueIds: [], pendingDispatch: 0, stoppedRunIds: [], wroteEvents: true },
    })
    const reason = `suspension_timeout_${behaviour}`
    expect(await engine.executions.describe(executionId)).toMatchObject({
      publicState: state,
      state: {
        lifecyclePhase: 'terminal',
        ownershipState: 'unowned',
        eligibilityState: 'not_applicable',
        attemptState: 'attempt_terminal',
      },
      endedAt: expect.any(Number),
      ...(behaviour === 'cancel' ? { cancellationReason: reason } : { failureReason: reason }),
    })
    expect(await stored.endings.pick(sql, ['outcome', 'reason', 'actor'])).toEqual([
      { outcome, reason, actor: 'suspension-timeout' },
    ])
    const category = behaviour === 'cancel' ? null : 'timeout'
    expect(await stored.attempts.pick(sql, ['outcome', 'failure_reason', 'failure_category'])).toEqual([
      { outcome, failure_reason: reason, failure_category: category },
    ])
    expect(await suspensionOf(sql, executionId)).toMatchObject({
      close_reason: `timed_out_${behaviour}`,
      is_open: false,
      timeout_at_ms: null,
    })
  },
)

test('TMO-09 the waitpoints of a suspension that timed out close with it', async () => {
  const { sql } = await setup()
  const given = factory(sql)
  const waitpoints = ['a', 'b']
  const condition = {
    kind: 'allOf',
    members: waitpoints.map((waitpoint) => ({ kind: 'signal' as const, waitpoint })),
  } as const
  await given.suspended({ timeoutAt: 1, condition, waitpoints })
  await given.suspended({ waitpoints: ['answer'] })
  await suspensionTimeout.runOnce(sql)
  const columns = ['waitpoint_key', 'state', 'close_reason'] as const
  expect(await stored.waitpoints.pick(sql, columns, {}, 'waitpoint_key')).toEqual([
    { waitpoint_key: 'a', state: 'closed', close_reason: 'timed_out_fail' },
    { waitpoint_key: 'answer', state: 'active', close_reason: null },
    { waitpoint_key: 'b', state: 'closed', close_reason: 'timed_out_fail' },
  ])
})

test.each([
  ['fail', 'target_not_signalable'],
  ['auto_resume_with_timeout_signal', 'waitpoint_closed'],
] as const)('TMO-09 they are not listed any more, and their tokens are late (%s)', async (timeoutBehaviour, code) => {
  const { engine, sql, clock } = await setup()
  const { claim, waitpoint } = await waiting(engine, { timeout: '1h', timeoutBehaviour })
  await clock.advance('61m')
  await suspensionTimeout.runOnce(sql)
  expect((await engine.waitpoints.list(claim.executionId)).waitpoints).toEqual([])
  const state = (await engine.executions.describe(claim.executionId))?.publicState
  await refusal(code, answer(engine, waitpoint))
  expect((await engine.executions.describe(claim.executionId))?.publicState).toBe(state)
})

test('TMO-04 a timeout that resumes sends a real signal, and continues the same attempt', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const now = await clock.now()
  const executionId = await factory(sql).suspended({
    timeoutAt: now - 1,
    timeoutBehaviour: 'auto_resume_with_timeout_signal',
    resumeDelayMs: 60_000,
  })
  expect(await suspensionTimeout.runOnce(sql)).toMatchObject({
    processed: 1,
    errors: 0,
    effects: { readyQueueIds: [expect.any(Number)] },
  })
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'resumable',
    state: { attemptState: 'attempt_interrupted', interruption: 'timed_out' },
  })
  const { suspension_id: suspensionId } = await stored.suspensions.one(sql)
  const columns = ['signal_name', 'source_type', 'source_identity', 'payload', 'effect', 'accepted_at_ms'] as const
  expect(await stored.signals.pick(sql, [...columns, 'taken_at_ms', 'suspension_id'])).toEqual([
    {
      signal_name: 'timeout',
      source_type: 'system',
      source_identity: 'suspension_timeout',
      payload: null,
      effect: 'resume_condition_satisfied',
      accepted_at_ms: now,
      taken_at_ms: now,
      suspension_id: suspensionId,
    },
  ])
  expect(await suspensionOf(sql, executionId)).toMatchObject({
    is_open: false,
    close_reason: 'timed_out_auto_resume',
    outcome: { satisfied: false, signals: [] },
  })
  expect(await stored.events.pick(sql, ['event_type', 'reason', 'actor'])).toEqual([
    { event_type: 'signalled', reason: 'timeout', actor: 'suspension-timeout' },
    { event_type: 'resumed', reason: 'suspension_timeout_auto_resume', actor: 'suspension-timeout' },
  ])
  expect(await suspensionTimeout.runOnce(sql)).toMatchObject({ processed: 0 })
  expect(await claimNext(engine)).toMatchObject({ executionId, reason: 'resume', attemptIndex: 0, leaseEpoch: 2 })
})

test('a timeout that resumes records which leaves the earlier signals satisfied', async () => {
  const { sql } = await setup()
  const executionId = await factory(sql).suspended({
    timeoutAt: 1,
    timeoutBehaviour: 'auto_resume_with_timeout_signal',
    condition: {
      kind: 'anyOf',
      members: [{ kind: 'count', n: 2, distinct: 'signals', waitpoints: ['answer'] }, { kind: 'timeout' }],
    },
  })
  const signalId = await signalled(sql, executionId)
  await suspensionTimeout.runOnce(sql)
  expect(await suspensionOf(sql, executionId)).toMatchObject({
    close_reason: 'timed_out_auto_resume',
    outcome: { satisfied: true, winners: { '<root>': 'members[1]' }, satisfiers: { 'members[0]': [signalId] } },
  })
})

test('TMO-05 a deadline at this very millisecond, later, or none changes nothing', async () => {
  const { sql, clock } = await setup()
  await clock.freeze()
  const now = await clock.now()
  const given = factory(sql)
  await given.suspended({ timeoutAt: now })
  await given.suspended({ timeoutAt: now + 1, timeoutBehaviour: 'auto_resume_with_timeout_signal' })
  await given.suspended()
  expect(await withoutWriting(sql, () => suspensionTimeout.runOnce(sql))).toMatchObject({ processed: 0, errors: 0 })
  await clock.advance(1)
  expect(await suspensionTimeout.runOnce(sql)).toMatchObject({ processed: 1 })
})

const timing = { timeout: '1h', timeoutBehaviour: 'auto_resume_with_timeout_signal' } as const

test('TMO-07 a claim after a timeout that resumes carries the signals accepted before it, and which leaves they satisfied', async () => {
  const { engine, sql, clock } = await setup()
  const leaf = (waitpoint: string) => ({ kind: 'signal', waitpoint }) as const
  const condition = { kind: 'allOf', members: [leaf('a'), leaf('b')] } as const
  const { claim, suspension } = await waiting(engine, { condition, ...timing })
  expect(await answer(engine, suspension.waitpoints[0]!)).toMatchObject({ effect: 'appended_to_waitpoint' })
  await clock.advance('61m')
  await suspensionTimeout.runOnce(sql)
  const expected = { satisfied: false, satisfiedLeaves: ['members[0]'], winners: {} }
  const { resumption } = await take(engine)
  expect(resumption).toMatchObject({ closeReason: 'timed_out_auto_resume', ...expected, hasMoreSignals: false })
  expect(resumption!.signals.map(({ name, waitpointKey }) => [name, waitpointKey])).toEqual([
    ['approved', 'a'],
    ['timeout', null],
  ])
  const [accepted] = resumption!.signals
  expect((await engine.suspensions.describe(claim.executionId))?.outcome).toEqual({
    ...expected,
    satisfiers: { 'members[0]': [accepted!.signalId] },
    signals: [accepted!.signalId],
  })
})

test('a signal by name that counted at a timeout is not given to the next wait; one that did not count is', async () => {
  const { engine, sql, clock } = await setup()
  const condition = { kind: 'count', n: 3, name: 'vote', distinct: 'sources' } as const
  const { claim } = await waiting(engine, { condition, ...timing })
  const { executionId } = claim
  for (const actor of ['ann', 'ann', 'bob']) await engine.as({ actor }).signals.send({ executionId, name: 'vote' })
  await clock.advance('61m')
  await suspensionTimeout.runOnce(sql)
  const resumed = await take(engine)
  const sources = resumed.resumption!.signals.map(({ source }) => source.identity)
  expect(sources).toEqual(['ann', 'bob', 'suspension_timeout'])
  const next = { condition: { kind: 'signal', name: 'vote' } } as const
  expect(await engine.executions.trySuspend({ ...fenceOf(resumed), ...next })).toMatchObject({
    kind: 'already_satisfied',
    resumption: { satisfied: true, satisfiedLeaves: ['<root>'], signals: [{ source: { identity: 'ann' } }] },
  })
  expect(await engine.executions.trySuspend({ ...fenceOf(resumed), ...next })).toMatchObject({ kind: 'suspended' })
})

test('a suspension whose point in time came before its deadline wakes and does not time out', async () => {
  const { engine, sql } = await setup()
  const condition = { kind: 'time', at: 1 } as const
  const executionId = await factory(sql).suspended({ timeoutAt: 2, wakeAt: 1, condition, waitpoints: [] })
  expect(await suspensionTimeout.runOnce(sql)).toMatchObject({ processed: 1, errors: 0 })
  expect((await engine.executions.describe(executionId))?.publicState).toBe('resumable')
  expect(await suspensionOf(sql, executionId)).toMatchObject({ close_reason: 'resumed' })
})

test('TMO-08 a run takes the earliest, a limited number, of every behaviour', async () => {
  const { sql } = await setup()
  const given = factory(sql)
  const auto = 'auto_resume_with_timeout_signal'
  const ids: ExecutionId[] = []
  for (const timeoutAt of [3, 1, 4, 2]) ids[timeoutAt - 1] = await given.suspended({ timeoutAt })
  for (const timeoutAt of [6, 5]) ids[timeoutAt - 1] = await given.suspended({ timeoutAt, timeoutBehaviour: auto })
  expect(await suspensionTimeout.runOnce(sql, { batch: 2 })).toMatchObject({ processed: 2, isFull: true })
  expect(await open(sql)).toEqual(uuids(ids.slice(2)))
  expect(await suspensionTimeout.runOnce(sql, { batch: 3 })).toMatchObject({ processed: 3, isFull: true })
  expect(await open(sql)).toEqual(uuids(ids.slice(5)))
  expect(await suspensionTimeout.runOnce(sql, { batch: 3 })).toMatchObject({ processed: 1, isFull: false })
})

test('TMO-08 only suspensions that match the filter time out', async () => {
  const { sql } = await setup()
  const given = factory(sql)
  const auto = 'auto_resume_with_timeout_signal'
  await given.suspended({ timeoutAt: 1, namespace: 'a' })
  await given.suspended({ timeoutAt: 1, namespace: 'a', timeoutBehaviour: auto })
  await given.suspended({ timeoutAt: 1, tags: { instance: 'one' }, timeoutBehaviour: auto })
  const other = await given.suspended({ timeoutAt: 1, tags: { instance: 'two' } })
  expect(await suspensionTimeout.runOnce(sql, { filter: { namespace: 'a' } })).toMatchObject({ processed: 2 })
  const tag = { key: 'instance', value: 'one' }
  expect(await suspensionTimeout.runOnce(sql, { filter: { tag } })).toMatchObject({ processed: 1 })
  expect(await open(sql)).toEqual(uuids([other]))
})

test.each(['fail', 'auto_resume_with_timeout_signal'] as const)(
  'TMO-08 a suspension that the database refuses is quarantined and tried again, and its neighbours time out (%s)',
  async (timeoutBehaviour) => {
    const { sql, clock } = await setup()
    const given = factory(sql)
    for (let count = 0; count < 4; count++) await given.suspended({ timeoutAt: 1, timeoutBehaviour })
    const bad = await given.suspended({ timeoutAt: 1, timeoutBehaviour })
    const match = { execution_id: bad }
    const accept = await stored.executions.refuse(sql, 'update', { match, message: 'not this one' })
    const lines: string[] = []
    const logger = { ...console, error: (line: string) => void lines.push(line) }
    expect(await suspensionTimeout.runOnce(sql, { logger })).toMatchObject({ processed: 4, errors: 1 })
    expect(lines).toEqual([expect.stringContaining(bad)])
    expect(lines[0]).toContain(`timeout behaviour ${timeoutBehaviour}: not this one`)
    expect(await suspensionTimeout.runOnce(sql)).toMatchObject({ processed: 0, errors: 0 })
    await accept()
    await clock.advance('1m')
    expect(await suspensionTimeout.runOnce(sql)).toMatchObject({ processed: 1, errors: 0 })
    expect(await stored.quarantine.all(sql)).toEqual([])
  },
)

async function open(sql: Sql): Promise<unknown[]> {
  const found = await stored.suspensions.pick(sql, ['execution_id'], { closed_at_ms: null }, 'timeout_at_ms')
  return found.map((row) => row['execution_id'])
}

function uuids(ids: readonly ExecutionId[]): string[] {
  return ids.map((id) => parseExecutionId(id).uuid)
}

/** A signal through the waitpoint `answer` that was not enough. */
async function signalled(sql: Sql, executionId: ExecutionId): Promise<string> {
  const signalId = '0190a000-0000-7000-8000-00000000000a'
  const { uuid } = parseExecutionId(executionId)
  const [waitpoint] = await stored.waitpoints.pick(sql, ['waitpoint_id', 'suspension_id', 'created_at_ms'], {
    execution_id: uuid,
  })
  await stored.signals.add(sql, {
    execution_id: uuid,
    signal_no: 1,
    signal_id: signalId,
    waitpoint_id: waitpoint!['waitpoint_id'],
    suspension_id: waitpoint!['suspension_id'],
    accepted_at_ms: waitpoint!['created_at_ms'],
    generation: 0,
    effect: 'appended_to_waitpoint',
    waitpoint_key: 'answer',
    signal_name: 'yes',
    signal_category: 'external',
    source_type: 'token',
    source_identity: 'one',
  })
  return signalId
}
