import { expect, test } from 'vitest'
import { mintExecutionId } from '../../src/model/id.ts'
import { hold } from '../support/barrier.ts'
import { refusal } from '../support/refusal.ts'
import { setup } from '../support/setup.ts'
import { engines, secondEngine } from './second-engine.ts'
import * as stored from '../support/stored.ts'

// Every statement that writes into the table waits at its start; when the lock is released, all of them run at once.
test('of two creates with one id at once, one creates and the other is its duplicate', async () => {
  const { engine, sql, url } = await setup()
  const other = await secondEngine(url)
  const executionId = mintExecutionId()
  const held = await hold(url, stored.executions.lockingTable('share'))
  const creates = [engine, other].map((one) => one.executions.create({ executionId, kind: 'k' }))
  await held.waiters(2)
  await held.release()
  const answers = await Promise.all(creates)
  expect(answers.map((answer) => answer.kind).toSorted()).toEqual(['created', 'duplicate'])
  expect(new Set(answers.map((answer) => answer.executionId))).toEqual(new Set([executionId]))
  expect(await stored.executions.all(sql)).toHaveLength(1)
})

test('of six creates with one key at once, one creates and the others are its duplicates', async () => {
  const { sql, url } = await setup()
  const all = await engines(url, 6)
  const held = await hold(url, stored.executions.lockingTable('share'))
  const creates = all.map((engine) => engine.executions.create({ kind: 'k', idempotencyKey: 'order 7' }))
  await held.waiters(6)
  await held.release()
  const answers = await Promise.all(creates)
  expect(answers.filter((answer) => answer.kind === 'created')).toHaveLength(1)
  expect(answers.filter((answer) => answer.kind === 'duplicate')).toHaveLength(5)
  expect(new Set(answers.map((answer) => answer.executionId)).size).toBe(1)
  expect(await stored.executions.all(sql)).toHaveLength(1)
})

test('of two requests that differ under one key at once, one creates and the other is a conflict', async () => {
  const { engine, sql, url } = await setup()
  const other = await secondEngine(url)
  const held = await hold(url, stored.executions.lockingTable('share'))
  const creates = [engine, other].map((one, priority) =>
    one.executions.create({ kind: 'k', idempotencyKey: 'x', priority }),
  )
  const settled = Promise.allSettled(creates)
  await held.waiters(2)
  await held.release()
  const outcomes = (await settled).map((outcome) =>
    outcome.status === 'fulfilled' ? outcome.value.kind : outcome.reason.code,
  )
  expect(new Set(outcomes)).toEqual(new Set(['created', 'idempotency_conflict']))
  expect(await stored.executions.all(sql)).toHaveLength(1)
})

test('of two creates at once under an expired key, one takes it', async () => {
  const { engine, sql, clock, url } = await setup()
  const other = await secondEngine(url)
  const first = await engine.executions.create({ kind: 'k', idempotencyKey: 'x', idempotencyTtl: '1m' })
  await clock.advance('2m')
  const held = await hold(url, stored.executions.lockingTable('share'))
  const creates = [engine, other].map((one) => one.executions.create({ kind: 'k', idempotencyKey: 'x' }))
  await held.waiters(2)
  await held.release()
  const answers = await Promise.all(creates)
  expect(answers.map((answer) => answer.kind).toSorted()).toEqual(['created', 'duplicate'])
  expect(new Set(answers.map((answer) => answer.executionId)).size).toBe(1)
  expect(answers[0]!.executionId).not.toBe(first.executionId)
  expect(await stored.executions.all(sql)).toHaveLength(2)
  expect(await stored.idempotencyKeys.all(sql)).toHaveLength(1)
})

test('RACE-03 two first uses of a lane at once register one lane, and both succeed', async () => {
  const { engine, sql, url } = await setup()
  const other = await secondEngine(url)
  const held = await hold(url, stored.lanes.lockingTable('share'))
  const creates = [engine, other].map((one) => one.executions.create({ kind: 'k', lane: 'new' }))
  await held.waiters(2)
  await held.release()
  const answers = await Promise.all(creates)
  expect(answers.map((answer) => answer.kind)).toEqual(['created', 'created'])
  expect(await stored.lanes.all(sql)).toHaveLength(1)
  expect(await stored.queues.all(sql)).toHaveLength(1)
})

test('a key that another transaction has taken and not committed is contended, and free after its rollback', async () => {
  const { engine, url } = await setup()
  const first = await engine.executions.create({ kind: 'k', idempotencyKey: 'seed' })
  expect(first.kind).toBe('created')
  const held = await hold(
    url,
    stored.idempotencyKeys.multiplying(1, { idempotency_key: `'x'`, execution_id: 'gen_random_uuid()' }),
  )
  const error = await refusal('contended', engine.executions.create({ kind: 'k', idempotencyKey: 'x' }))
  expect(error.retryable).toBe(true)
  expect(await engine.executions.create({ kind: 'k', idempotencyKey: 'y' })).toMatchObject({ kind: 'created' })
  await held.release()
  expect(await engine.executions.create({ kind: 'k', idempotencyKey: 'x' })).toMatchObject({ kind: 'created' })
})

test('a locked key does not delay the rest of its set, nor the sets after it', async () => {
  const { engine, url } = await setup()
  await engine.executions.create({ kind: 'k', idempotencyKey: 'seed' })
  const held = await hold(
    url,
    stored.idempotencyKeys.multiplying(1, { idempotency_key: `'x3'`, execution_id: 'gen_random_uuid()' }),
  )
  const creates = Array.from({ length: 8 }, (_, index) =>
    engine.executions.create({ kind: 'k', idempotencyKey: `x${index}` }),
  )
  const [waits] = creates.splice(3, 1)
  expect((await Promise.all(creates)).every((answer) => answer.kind === 'created')).toBe(true)
  expect(await engine.executions.create({ kind: 'k', idempotencyKey: 'later' })).toMatchObject({ kind: 'created' })
  // All this while, the create of the locked key still waits.
  await held.waiters(1)
  await held.release()
  expect(await waits).toMatchObject({ kind: 'created' })
})

test('creates without a key wait for no other transaction', async () => {
  const { engine, sql, url } = await setup()
  await engine.executions.create({ kind: 'k', idempotencyKey: 'seed' })
  const held = await hold(url, stored.executions.changing({ priority: 1 }))
  await hold(url, stored.idempotencyKeys.lockingRows('update'))
  const answers = await engine.executions.createMany(Array.from({ length: 20 }, () => ({ kind: 'k' })))
  expect(answers.every((answer) => answer.kind === 'created')).toBe(true)
  await held.release()
  expect(await stored.executions.all(sql)).toHaveLength(21)
})
