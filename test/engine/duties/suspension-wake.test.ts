import { expect, test } from 'vitest'
import { suspensionWake } from '../../../src/engine/duties/suspension-wake.ts'
import { attached } from '../../../src/model/attached.ts'
import { parseExecutionId, type ExecutionId } from '../../../src/model/id.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { factory } from '../../support/factory.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import { claimNext } from './claimed.ts'
import * as stored from '../../support/stored.ts'

const answer = { kind: 'signal', waitpoint: 'answer' } as const

test('a point in time wakes the execution from this very millisecond on, not before', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const at = (await clock.now()) + 10
  const condition = { kind: 'anyOf', members: [answer, { kind: 'time', at }] } as const
  const executionId = await factory(sql).suspended({ condition, wakeAt: at })
  await clock.advance(9)
  expect(await withoutWriting(sql, () => suspensionWake.runOnce(sql))).toMatchObject({ processed: 0, errors: 0 })
  await clock.advance(1)
  expect(await suspensionWake.runOnce(sql)).toEqual({
    processed: 1,
    errors: 0,
    isFull: false,
    effects: { readyQueueIds: [expect.any(Number)], wroteEvents: true },
  })
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'resumable',
    state: { interruption: 'timed_out' },
  })
  expect(await stored.suspensions.pick(sql, ['close_reason', 'closed_at_ms', 'wake_at_ms', 'outcome'])).toEqual([
    {
      close_reason: 'resumed',
      closed_at_ms: at,
      wake_at_ms: null,
      outcome: {
        satisfied: true,
        dueAt: null,
        winners: { '<root>': 'members[1]' },
        satisfiedLeaves: ['members[1]'],
        satisfiers: {},
        signals: [],
      },
    },
  ])
  expect(await stored.waitpoints.pick(sql, ['state', 'close_reason'])).toEqual([
    { state: 'closed', close_reason: 'resumed' },
  ])
  expect(await stored.events.pick(sql, ['event_type', 'actor'])).toEqual([
    { event_type: 'resumed', actor: 'suspension-wake' },
  ])
  expect(await claimNext(engine)).toMatchObject({ executionId, reason: 'resume', leaseEpoch: 2 })
})

test('a signal and a point in time: the signal is taken when the time has come, and only then', async () => {
  const { engine, sql } = await setup()
  const condition = {
    kind: 'allOf',
    members: [
      { kind: 'signal', name: 'go' },
      { kind: 'time', at: 5 },
    ],
  } as const
  const executionId = await factory(sql).suspended({ condition, wakeAt: 5, waitpoints: [] })
  const taken = await sentByName(sql, executionId, { signal_no: 1, signal_name: 'go' })
  await sentByName(sql, executionId, { signal_no: 2, signal_name: 'go' })
  await sentByName(sql, executionId, { signal_no: 3, signal_name: 'stop' })
  await sentByName(sql, executionId, { signal_no: 4, signal_name: 'go', generation: 7 })
  expect(await suspensionWake.runOnce(sql)).toMatchObject({ processed: 1, errors: 0 })
  expect(await engine.executions.describe(executionId)).toMatchObject({
    publicState: 'resumable',
    state: { interruption: 'signalled' },
  })
  const untaken = { signal_id: expect.any(String), taken_at_ms: null, suspension_id: null }
  expect(await stored.signals.pick(sql, ['signal_id', 'taken_at_ms', 'suspension_id'])).toEqual([
    { signal_id: taken, taken_at_ms: expect.any(Number), suspension_id: expect.any(String) },
    untaken,
    untaken,
    untaken,
  ])
  expect(await stored.suspensions.pick(sql, ['outcome'])).toMatchObject([{ outcome: { signals: [taken] } }])
})

test('a child that has ended counts, an unrelated execution never', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const stranger = await given.completed()
  const waitFor = async (child: (parent: ExecutionId) => Promise<ExecutionId>): Promise<ExecutionId> => {
    const executionId = await given.suspended({ wakeAt: 5, waitpoints: [] })
    const members = [{ kind: 'child', executionId: await child(executionId) }]
    const { uuid } = parseExecutionId(executionId)
    await stored.suspensions.change(
      sql,
      { condition: JSON.stringify({ kind: 'allOf', members }) },
      { execution_id: uuid },
    )
    return executionId
  }
  const done = await waitFor((parentId) => given.failed({ parentId }))
  const running = await waitFor((parentId) => given.active({ parentId }))
  const foreign = await waitFor(() => Promise.resolve(stranger))
  expect(await suspensionWake.runOnce(sql)).toMatchObject({ processed: 3, errors: 0 })
  const states = [done, running, foreign].map(async (id) => (await engine.executions.describe(id))?.publicState)
  expect(await Promise.all(states)).toEqual(['resumable', 'suspended', 'suspended'])
})

test('the resume delay applies: it is delayed first, and resumable after', async () => {
  const { engine, sql, clock } = await setup()
  await clock.freeze()
  const condition = { kind: 'time', at: 5 } as const
  const executionId = await factory(sql).suspended({ condition, wakeAt: 5, waitpoints: [], resumeDelayMs: 1000 })
  expect(await suspensionWake.runOnce(sql)).toMatchObject({ processed: 1, effects: { readyQueueIds: [] } })
  expect(await engine.executions.describe(executionId)).toMatchObject({ publicState: 'delayed' })
  expect(await claimNext(engine)).toBeUndefined()
})

test('a suspension that was evaluated and still waits is not read again before it is due', async () => {
  const { sql, clock } = await setup()
  await clock.freeze()
  const at = (await clock.now()) + 1000
  await factory(sql).suspended({ condition: { kind: 'time', at }, wakeAt: 5, waitpoints: [] })
  expect(await suspensionWake.runOnce(sql)).toMatchObject({ processed: 1, errors: 0 })
  expect(await stored.suspensions.pick(sql, ['wake_at_ms', 'closed_at_ms'])).toEqual([
    { wake_at_ms: at, closed_at_ms: null },
  ])
  expect(await withoutWriting(sql, () => suspensionWake.runOnce(sql))).toMatchObject({ processed: 0 })
})

test('a run takes the earliest, a limited number, of its namespace and tag', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const due = async (at: number, namespace: string, instance: string): Promise<ExecutionId> =>
    given.suspended({ condition: { kind: 'time', at }, wakeAt: at, waitpoints: [], namespace, tags: { instance } })
  const late = await due(3, 'a', 'one')
  const early = await due(1, 'a', 'one')
  await due(2, 'b', 'two')
  const tag = { key: 'instance', value: 'two' }
  expect(await suspensionWake.runOnce(sql, { filter: { namespace: 'a', tag } })).toMatchObject({ processed: 0 })
  expect(await suspensionWake.runOnce(sql, { filter: { tag } })).toMatchObject({ processed: 1 })
  expect(await suspensionWake.runOnce(sql, { batch: 1 })).toMatchObject({ processed: 1, isFull: true })
  expect((await engine.executions.describe(early))?.publicState).toBe('resumable')
  expect((await engine.executions.describe(late))?.publicState).toBe('suspended')
})

interface Sent {
  readonly signal_no: number
  readonly signal_name: string
  readonly generation?: number
}

async function sentByName(sql: Sql, executionId: ExecutionId, sent: Sent): Promise<string> {
  const signalId = crypto.randomUUID()
  const { uuid } = parseExecutionId(executionId)
  await stored.executions.change(sql, `attached = attached | ${attached.signals}`, { execution_id: uuid })
  await stored.signals.add(sql, {
    execution_id: uuid,
    signal_id: signalId,
    accepted_at_ms: sent.signal_no,
    generation: 0,
    effect: 'kept_for_condition',
    signal_category: 'external',
    source_type: 'token',
    source_identity: 'one',
    ...sent,
  })
  return signalId
}
