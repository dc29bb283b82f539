import { expect, test } from 'vitest'
import { retention } from '../../../src/engine/duties/retention.ts'
import { parseExecutionId, type ExecutionId } from '../../../src/model/id.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { factory } from '../../support/factory.ts'
import { setup } from '../../support/setup.ts'
import { contents, withoutWriting } from '../../support/written.ts'
import { claimed, fenceOf } from './claimed.ts'
import * as stored from '../../support/stored.ts'

const day = 86_400_000
const forAWeek = retention(7 * day)

async function left(sql: Sql): Promise<unknown[]> {
  const found = await stored.executions.pick(sql, ['execution_id'], {}, 'terminal_at_ms, execution_id')
  return found.map((row) => row['execution_id'])
}

function uuids(...ids: readonly ExecutionId[]): string[] {
  return ids.map((id) => parseExecutionId(id).uuid)
}

test('EXEC-36 endings of every kind that are old enough are deleted, and newer ones stay', async () => {
  const { sql, clock } = await setup()
  await clock.freeze()
  const given = factory(sql)
  const now = await clock.now()
  const old = { endedAt: now - 7 * day - 1, lane: 'a' }
  await given.completed(old)
  await given.failed({ ...old, lane: 'b' })
  await given.cancelled({ ...old, neverRan: true })
  await given.expired(old)
  await given.skipped({ ...old, neverRan: true })
  const kept = [await given.completed({ endedAt: now - 7 * day, lane: 'a' }), await given.failed({ endedAt: now })]
  expect(await forAWeek.runOnce(sql)).toEqual({ processed: 5, errors: 0, isFull: false, effects: {} })
  expect(await left(sql)).toEqual(uuids(...kept))
  await clock.advance(1)
  expect(await forAWeek.runOnce(sql)).toMatchObject({ processed: 1 })
  expect(await left(sql)).toEqual(uuids(kept[1]!))
})

test('EXEC-36 the oldest of a queue are deleted first, at most as many as a run takes', async () => {
  const { sql } = await setup()
  const given = factory(sql)
  const ids: ExecutionId[] = []
  for (const endedAt of [3, 1, 5, 2, 4]) ids[endedAt - 1] = await given.completed({ endedAt })
  expect(await forAWeek.runOnce(sql, { batch: 2 })).toMatchObject({ processed: 2, isFull: true })
  expect(await left(sql)).toEqual(uuids(...ids.slice(2)))
  expect(await forAWeek.runOnce(sql, { batch: 4 })).toMatchObject({ processed: 3, isFull: false })
  expect(await left(sql)).toEqual([])
})

test('an execution is deleted with every row that belongs to it, and no row of others', async () => {
  const { engine, sql, clock } = await setup()
  await engine.executions.create({ kind: 'other', idempotencyKey: 'other', tags: { a: 'b' }, delay: '30d' })
  const before = await contents(sql)
  const request = {
    idempotencyKey: 'key',
    tags: { a: 'b', c: 'd' },
    payload: Buffer.from('in'),
    payloadEncoding: 'raw',
  }
  const { executionId } = await engine.executions.create({ kind: 'other', ...request })
  const worker = { workerId: 'w', workerInstanceId: 'w-1' }
  const { grantId } = await engine.executions.grant({ executionId, ...worker })
  const claim = await engine.executions.claimById({ executionId, grantId, ...worker })
  await engine.executions.progress({ ...fenceOf(claim), percent: 50 })
  await engine.steps.record({ ...fenceOf(claim), name: 's', kind: 'step', state: 'succeeded' })
  await engine.executions.complete({ ...fenceOf(claim), result: Buffer.from('out'), resultEncoding: 'raw' })
  await clock.advance('8d')
  expect(await forAWeek.runOnce(sql)).toMatchObject({ processed: 1, errors: 0 })
  expect(await engine.executions.describe(executionId)).toBeNull()
  // The log has a retention of its own.
  const { ff_event: _, ...after } = await contents(sql)
  expect(before).toMatchObject(after)
})

test('EXEC-37 only executions that match the filter are deleted', async () => {
  const { sql } = await setup()
  const given = factory(sql)
  await given.failed({ endedAt: 1, namespace: 'a' })
  const there = await given.failed({ endedAt: 2 })
  const tagged = await given.failed({ endedAt: 3, namespace: 'b', tags: { instance: 'one' } })
  const other = await given.failed({ endedAt: 4, namespace: 'b', tags: { instance: 'two' } })
  expect(await forAWeek.runOnce(sql, { filter: { namespace: 'a' } })).toMatchObject({ processed: 1 })
  expect(await left(sql)).toEqual(uuids(there, tagged, other))
  const tag = { key: 'instance', value: 'one' }
  expect(await forAWeek.runOnce(sql, { filter: { namespace: 'a', tag } })).toMatchObject({ processed: 0 })
  expect(await forAWeek.runOnce(sql, { filter: { tag } })).toMatchObject({ processed: 1 })
  expect(await left(sql)).toEqual(uuids(there, other))
})

test('an execution that has not ended stays, however old', async () => {
  const { sql } = await setup()
  const given = factory(sql)
  const old = { createdAt: 1 }
  await given.waiting(old)
  await given.active(old)
  await given.suspended({ ...old, since: 1 })
  await given.delayed({ ...old, until: 1 })
  expect(await withoutWriting(sql, () => retention(0).runOnce(sql))).toMatchObject({ processed: 0 })
})

test('a child stays while its parent lives, and is deleted when that has ended', async () => {
  const { engine, sql } = await setup()
  const given = factory(sql)
  const parentId = await given.waiting()
  const child = await given.completed({ endedAt: 1, parentId })
  expect(await forAWeek.runOnce(sql)).toMatchObject({ processed: 0 })
  await engine.executions.cancel({ executionId: parentId })
  expect(await forAWeek.runOnce(sql)).toMatchObject({ processed: 1 })
  expect(await engine.executions.describe(child)).toBeNull()
})

test('an execution that owes a dispatch stays until it is done', async () => {
  const { sql } = await setup()
  const owing = await factory(sql).completed({ endedAt: 1 })
  const dispatch = { execution_id: parseExecutionId(owing).uuid, generation: 0, created_at_ms: 1, outcome: 'success' }
  await stored.dispatches.add(sql, dispatch)
  expect(await withoutWriting(sql, () => forAWeek.runOnce(sql))).toMatchObject({ processed: 0 })
  await stored.dispatches.remove(sql)
  expect(await forAWeek.runOnce(sql)).toMatchObject({ processed: 1 })
})

test('an execution stays as long as its idempotency key holds, and is deleted with it', async () => {
  const { engine, sql, clock } = await setup()
  const request = { kind: 'k', idempotencyKey: 'order 7', idempotencyTtl: '30d' as const }
  const { executionId } = await engine.executions.create(request)
  await engine.executions.cancel({ executionId })
  await clock.advance('29d')
  expect(await forAWeek.runOnce(sql)).toMatchObject({ processed: 0 })
  expect(await engine.executions.create(request)).toMatchObject({ kind: 'duplicate', executionId })
  await clock.advance('2d')
  expect(await forAWeek.runOnce(sql)).toMatchObject({ processed: 1 })
  expect(await stored.idempotencyKeys.all(sql)).toEqual([])
  expect(await engine.executions.create(request)).toMatchObject({ kind: 'created' })
})

test('a replayed execution is not old any more, and its second ending counts anew', async () => {
  const { engine, sql, clock } = await setup()
  const claim = await claimed(engine)
  await engine.executions.complete(fenceOf(claim))
  await clock.advance('8d')
  await engine.executions.replay({ executionId: claim.executionId })
  expect(await forAWeek.runOnce(sql)).toMatchObject({ processed: 0 })
  await engine.executions.cancel({ executionId: claim.executionId })
  await clock.advance('6d')
  expect(await forAWeek.runOnce(sql)).toMatchObject({ processed: 0 })
  await clock.advance('2d')
  expect(await forAWeek.runOnce(sql)).toMatchObject({ processed: 1 })
})

test('an execution that cannot be deleted is quarantined, and its neighbours are deleted', async () => {
  const { sql } = await setup()
  const given = factory(sql)
  for (let count = 0; count < 4; count++) await given.completed({ endedAt: 1 })
  const bad = await given.completed({ endedAt: 1 })
  const match = { execution_id: bad }
  const accept = await stored.executions.refuse(sql, 'delete', { match, message: 'another transaction needs this row' })
  const lines: string[] = []
  const logger = { ...console, error: (line: string) => void lines.push(line) }
  expect(await forAWeek.runOnce(sql, { logger })).toMatchObject({ processed: 4, errors: 1 })
  expect(lines[0]).toContain(bad)
  expect(await forAWeek.runOnce(sql)).toMatchObject({ processed: 0, errors: 0 })
  expect(await left(sql)).toEqual(uuids(bad))
  await accept()
})
