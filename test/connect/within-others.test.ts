// A transaction of the caller beside those of others: parents, keys, locks and snapshots, and its refusals.
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { mintExecutionId } from '../../src/model/id.ts'
import { hold } from '../support/barrier.ts'
import { refusal } from '../support/refusal.ts'
import { ff, isOrdered, nextOrder, pool, prepareApplications, url, withPg, worker } from './applications.ts'
import * as stored from '../support/stored.ts'

prepareApplications()

test('a child is submitted with its parent locked, and the next run of the duty does the work that a cancel owes', async () => {
  const { executions } = ff.engine
  const { executionId: parentId } = await executions.create({ kind: 'k', lane: 'parents' })
  const { executionId } = await withPg.transaction(nextOrder(), (tx) =>
    ff.within(tx).submit({ kind: 'k', lane: 'parents', parentId, onParentEnd: 'cancel' }),
  )
  expect((await executions.list({ parentId })).executions).toMatchObject([{ executionId }])
  await withPg.transaction(nextOrder(), (tx) => ff.within(tx).cancel({ executionId: parentId }))
  const supervisor = ff.supervise()
  onTestFinished(() => supervisor.stop())
  await expect.poll(async () => (await executions.describe(executionId))?.publicState).toBe('cancelled')
})

test('a refusal leaves the transaction unchanged', async () => {
  const ended = (await ff.engine.executions.create({ kind: 'k', lane: 'refused' })).executionId
  await ff.engine.executions.cancel({ executionId: ended })
  const order = nextOrder()
  const executionId = mintExecutionId()
  await withPg.transaction(order, async (tx) => {
    const within = ff.within(tx)
    await refusal('execution_not_found', within.cancel({ executionId }))
    await refusal('target_not_signalable', within.signal({ executionId: ended, name: 'n' }))
    await refusal('invalid_input', within.submit({ kind: '' }))
    await within.submit({ kind: 'k', idempotencyKey: 'same', priority: 1 })
    await refusal('idempotency_conflict', within.submit({ kind: 'k', idempotencyKey: 'same', priority: 2 }))
    await within.submit({ executionId, kind: 'k' })
  })
  expect(await isOrdered(order)).toBe(true)
  expect(await ff.engine.executions.describe(executionId)).not.toBeNull()
})

test('a create waits for a key that another transaction is about to use, and then returns the duplicate', async () => {
  const request = { kind: 'k', lane: 'raced', idempotencyKey: 'raced' }
  await ff.engine.executions.create({ ...request, idempotencyKey: 'first' })
  const first = new pg.Client(url)
  await first.connect()
  onTestFinished(() => first.end())
  await first.query('begin')
  const winner = await ff.within(first).submit(request)
  const second = withPg.transaction(nextOrder(), (tx) => ff.within(tx).submit(request))
  await expect
    .poll(async () => (await pool.query(`select from pg_locks where not granted`)).rowCount)
    .toBeGreaterThan(0)
  await first.query('commit')
  expect(await second).toMatchObject({ kind: 'duplicate', executionId: winner.executionId })
})

test('rows from after the snapshot of a stricter transaction are contended, and the transaction can continue', async () => {
  const { executions } = ff.engine
  const { executionId } = await executions.create({ kind: 'k', lane: 'strict' })
  const client = new pg.Client(url)
  await client.connect()
  onTestFinished(() => client.end())
  await client.query('begin isolation level repeatable read')
  await client.query('select 1 from orders')
  await executions.changePriority({ executionId, priority: 5 })
  await executions.create({ kind: 'k', lane: 'strict', idempotencyKey: 'strict' })
  const within = ff.within(client)
  await refusal('contended', within.cancel({ executionId }))
  await refusal('contended', within.submit({ kind: 'k', lane: 'strict', idempotencyKey: 'strict' }))
  const { executionId: own } = await within.submit({ kind: 'k', lane: 'strict' })
  await client.query('commit')
  expect(await executions.describe(own)).toMatchObject({ publicState: 'waiting' })
})

test("an execution that another transaction locks for too long, by the settings of the caller's, is contended", async () => {
  const { executionId } = await ff.engine.executions.create({ kind: 'k', lane: 'held' })
  const held = await hold(url, stored.executions.lockingRows('update'))
  const order = nextOrder()
  await withPg.transaction(order, async (tx) => {
    await (tx as pg.Client).query(`set local lock_timeout = '50ms'`)
    await refusal('contended', ff.within(tx).cancel({ executionId }))
  })
  expect(await isOrdered(order)).toBe(true)
  await held.release()
})

test('calls that are made at once run one after the other', async () => {
  const lane = 'at-once'
  await withPg.transaction(nextOrder(), (tx) =>
    Promise.all(Array.from({ length: 20 }, (_, index) => ff.within(tx).submit({ kind: 'k', lane, priority: index }))),
  )
  expect((await ff.engine.executions.claim({ ...worker, lanes: [lane], max: 100 })).claims).toHaveLength(20)
})
