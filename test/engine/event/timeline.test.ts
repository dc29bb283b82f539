import { expect, test } from 'vitest'
import { localCaller } from '../../../src/engine/kernel/caller.ts'
import { timeline } from '../../../src/engine/event/timeline.ts'
import { formatExecutionId, mintExecutionId, parseExecutionId } from '../../../src/model/id.ts'
import { factory } from '../../support/factory.ts'
import { refusal } from '../../support/refusal.ts'
import { setup } from '../../support/setup.ts'
import { withoutWriting } from '../../support/written.ts'
import * as stored from '../../support/stored.ts'

const worker = { workerId: 'worker', workerInstanceId: 'worker-1' }

async function withHistory() {
  const { engine, sql } = await setup()
  const { executionId } = await engine.executions.create({ kind: 'k', lane: 'a', namespace: 'tenant-a' })
  await engine.executions.create({ kind: 'k', lane: 'b' })
  await engine.executions.claim({ ...worker, lanes: ['b'] })
  for (let round = 0; round < 2; round += 1) {
    const { claims } = await engine.executions.claim({ ...worker, lanes: ['a'] })
    const { leaseId, leaseEpoch } = claims[0]!
    const fence = { executionId, leaseId, leaseEpoch }
    await (round === 0 ? engine.executions.release(fence) : engine.executions.complete(fence))
  }
  return { sql, executionId }
}

test('a timeline is the events of one execution, in order', async () => {
  const { sql, executionId } = await withHistory()
  const { events, nextCursor } = await timeline(sql, localCaller, executionId)
  expect(events.map((event) => event.kind)).toEqual(['acquired', 'released', 'acquired', 'ended'])
  expect(events.every((event) => event.executionId === executionId)).toBe(true)
  expect(events.map((event) => event.leaseEpoch)).toEqual([1, 1, 2, 2])
  expect(nextCursor).toBeNull()
})

test('a timeline has pages', async () => {
  const { sql, executionId } = await withHistory()
  const first = await timeline(sql, localCaller, executionId, { limit: 3 })
  expect(first.events).toHaveLength(3)
  const second = await timeline(sql, localCaller, executionId, { limit: 3, cursor: first.nextCursor! })
  expect(second.events.map((event) => event.kind)).toEqual(['ended'])
  expect(second.nextCursor).toBeNull()
  expect(await timeline(sql, localCaller, executionId, { limit: 0 })).toEqual({ events: [], nextCursor: null })
})

test('the timeline of a foreign or unknown execution is empty', async () => {
  const { sql, executionId } = await withHistory()
  const empty = { events: [], nextCursor: null }
  expect(await timeline(sql, { ...localCaller, namespace: 'tenant-b' }, executionId)).toEqual(empty)
  expect((await timeline(sql, { ...localCaller, namespace: 'tenant-a' }, executionId)).events).toHaveLength(4)
  expect(await timeline(sql, localCaller, mintExecutionId())).toEqual(empty)
  const { partition, uuid } = parseExecutionId(executionId)
  expect(await timeline(sql, localCaller, formatExecutionId((partition + 1) % 256, uuid))).toEqual(empty)
})

test('a timeline refuses a bad id, cursor or field', async () => {
  const { sql, executionId } = await withHistory()
  await refusal('invalid_id', timeline(sql, localCaller, 'x'))
  await refusal('invalid_cursor', timeline(sql, localCaller, executionId, { cursor: 'x' }))
  await refusal('invalid_input', timeline(sql, localCaller, executionId, { limit: -1 }))
  await refusal('invalid_input', timeline(sql, localCaller, executionId, { after: 'x' } as object))
})

test('OPS-11 the database refuses an event of an unknown type', async () => {
  const { sql } = await setup()
  const executionId = await factory(sql).waiting()
  const event = { occurred_at_ms: 1, execution_id: parseExecutionId(executionId).uuid, generation: 0, actor: 'ann' }
  const place = { partition_key: 1, namespace: 'default' }
  const write = (type: string) => stored.events.add(sql, { ...event, ...place, event_type: type })
  await withoutWriting(sql, () => expect(write('budget_reset_by_hand')).rejects.toThrow('invalid input value for enum'))
  await write('priority_changed')
})
