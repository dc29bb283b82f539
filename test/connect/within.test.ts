// Inside a transaction of the caller's, with the clients that people hold.
import { drizzle } from 'drizzle-orm/node-postgres'
import { sql as drizzleSql } from 'drizzle-orm'
import { CamelCasePlugin, Kysely, PostgresDialect, sql as kyselySql } from 'kysely'
import pg from 'pg'
import { beforeAll, expect, inject, onTestFinished, test } from 'vitest'
import { connect } from '../../src/connect/connect.ts'
import type { FlowFabric } from '../../src/connect/flowfabric.ts'
import { mintExecutionId } from '../../src/model/id.ts'
import type { TransactionClient } from '../../src/sql/borrowed-client.ts'
import { createDatabase } from '../support/database.ts'
import { hold } from '../support/barrier.ts'
import { refusal } from '../support/refusal.ts'

let url = ''
let ff: FlowFabric
let pool: pg.Pool

beforeAll(async () => {
  const server = inject('postgres')
  const database = await createDatabase(server.url, undefined, server.template)
  url = database.url
  ff = await connect(url)
  pool = new pg.Pool({ connectionString: url, max: 4 })
  await pool.query('create table orders (id int primary key)')
  return async () => {
    await ff.close()
    await pool.end()
    await database.drop()
  }
})

interface Application {
  /** Runs the work in a transaction, beside an insert of its own; undone when the work throws. */
  transaction<T>(order: number, work: (tx: TransactionClient) => Promise<T>): Promise<T>
}

const withPg: Application = {
  async transaction(order, work) {
    const client = await pool.connect()
    try {
      await client.query('begin')
      await client.query('insert into orders values ($1)', [order])
      const result = await work(client)
      await client.query('commit')
      return result
    } catch (error) {
      await client.query('rollback')
      throw error
    } finally {
      client.release()
    }
  },
}

const withDrizzle: Application = {
  transaction: (order, work) =>
    drizzle(pool).transaction(async (tx) => {
      await tx.execute(drizzleSql`insert into orders values (${order})`)
      return work(tx)
    }),
}

// Not destroyed: the pool is shared.
const withKysely: Application = {
  transaction: (order, work) =>
    new Kysely<object>({ dialect: new PostgresDialect({ pool }), plugins: [new CamelCasePlugin()] })
      .transaction()
      .execute(async (tx) => {
        await kyselySql`insert into orders values (${order})`.execute(tx)
        return work(tx)
      }),
}

const applications = [
  ['pg', withPg],
  ['Drizzle', withDrizzle],
  ['Kysely', withKysely],
] as const

const worker = { workerId: 'w', workerInstanceId: 'w-1' }
let lastOrder = 0
const nextOrder = (): number => (lastOrder += 1)

async function isOrdered(order: number): Promise<boolean> {
  const { rowCount } = await pool.query('select from orders where id = $1', [order])
  return rowCount === 1
}

test.each(applications)(
  '%s: what is submitted can be claimed from the commit on, and not before',
  async (name, app) => {
    const lane = `commit-${name}`
    const order = nextOrder()
    const payload = new Uint8Array([0, 255, 7])
    const request = {
      kind: 'ship',
      lane,
      payload,
      tags: { a: 'b' },
      idempotencyKey: `k-${name}`,
      priority: 9001,
    } as const
    const created = await app.transaction(order, async (tx) => {
      const answer = await ff.within(tx).submit(request)
      expect(await ff.engine.executions.describe(answer.executionId)).toBeNull()
      expect((await ff.engine.executions.claim({ ...worker, lanes: [lane] })).claims).toEqual([])
      return answer
    })
    expect(created).toMatchObject({ kind: 'created', publicState: 'waiting', adjusted: { priority: { used: 9000 } } })
    const { claims } = await ff.engine.executions.claim({ ...worker, lanes: [lane] })
    expect(claims).toMatchObject([{ executionId: created.executionId, payload, tags: { a: 'b' } }])
    expect(await isOrdered(order)).toBe(true)
    const again = await app.transaction(nextOrder(), (tx) => ff.within(tx).submit(request))
    expect(again).toEqual({ kind: 'duplicate', executionId: created.executionId, publicState: 'active' })
  },
)

test.each(applications)('%s: a rollback leaves nothing', async (name, app) => {
  const executionId = mintExecutionId()
  const order = nextOrder()
  const { executionId: waiting } = await ff.engine.executions.create({ kind: 'k', lane: `rollback-${name}` })
  const work = app.transaction(order, async (tx) => {
    const within = ff.within(tx)
    await within.submit({ executionId, kind: 'ship' })
    await within.signal({ executionId: waiting, name: 'hello' })
    await within.cancel({ executionId: waiting })
    throw new Error('the card was refused')
  })
  await expect(work).rejects.toThrow('the card was refused')
  expect(await ff.engine.executions.describe(executionId)).toBeNull()
  expect(await ff.engine.executions.describe(waiting)).toMatchObject({ publicState: 'waiting' })
  expect((await ff.engine.signals.list(waiting)).signals).toEqual([])
  expect((await ff.engine.events.timeline(waiting)).events).toEqual([])
  expect(await isOrdered(order)).toBe(false)
})

test.each(applications)(
  '%s: a signal wakes what waits for it, and a cancel ends, with the commit',
  async (name, app) => {
    const lane = `signal-${name}`
    const { executions } = ff.engine
    const { executionId } = await executions.create({ kind: 'k', lane })
    const [claim] = (await executions.claim({ ...worker, lanes: [lane] })).claims
    const { leaseId, leaseEpoch } = claim!
    await executions.suspend({ executionId, leaseId, leaseEpoch, condition: { kind: 'signal', name: 'paid' } })
    const { executionId: other } = await executions.create({ kind: 'k', lane: `${lane}-other` })
    const answers = await app.transaction(nextOrder(), async (tx) => {
      const within = ff.within(tx)
      const told = await within.signal({ executionId, name: 'paid', payload: new Uint8Array([1]) })
      const cancelled = await within.cancel({ executionId: other, reason: 'not needed' })
      expect(await executions.describe(executionId)).toMatchObject({ publicState: 'suspended' })
      return [told, cancelled]
    })
    expect(answers).toMatchObject([{ effect: 'resume_condition_satisfied' }, { kind: 'cancelled', from: 'waiting' }])
    expect((await executions.claim({ ...worker, lanes: [lane] })).claims).toMatchObject([
      { executionId, reason: 'resume' },
    ])
    expect(await executions.describe(other)).toMatchObject({
      publicState: 'cancelled',
      cancellationReason: 'not needed',
    })
  },
)

test('whoever waits for work is woken by the commit, in this process and in others', async () => {
  const other = await connect(url)
  onTestFinished(() => other.close())
  for (const [who, lane] of [
    [ff, 'wake-1'],
    [other, 'wake-2'],
  ] as const) {
    await ff.engine.executions.create({ kind: 'k', lane })
    await who.engine.executions.claim({ ...worker, lanes: [lane] })
    const waiting = who.engine.executions.claim({ ...worker, lanes: [lane], wait: '20s' })
    await withPg.transaction(nextOrder(), (tx) => ff.within(tx).submit({ kind: 'k', lane }))
    expect((await waiting).claims).toHaveLength(1)
  }
})

test('the hint is part of the transaction: it is heard at the commit, and not after a rollback', async () => {
  const listener = new pg.Client(url)
  await listener.connect()
  onTestFinished(() => listener.end())
  const heard: string[] = []
  listener.on('notification', ({ payload }) => heard.push(payload ?? ''))
  await listener.query('listen "flowfabric flowfabric"')
  const client = new pg.Client(url)
  await client.connect()
  onTestFinished(() => client.end())
  await ff.engine.executions.create({ kind: 'k', lane: 'hinted' })
  await expect.poll(() => heard).toHaveLength(1)
  await client.query('begin')
  await ff.within(client).submit({ kind: 'k', lane: 'hinted' })
  await client.query('rollback')
  await client.query('begin')
  await ff.within(client).submit({ kind: 'k', lane: 'hinted' })
  // Answered after every notification that was sent before.
  await listener.query('select 1')
  expect(heard).toHaveLength(1)
  await client.query('commit')
  await expect.poll(() => heard).toHaveLength(2)
  expect(heard[1]).toBe(heard[0])
})

test('a child is submitted with its parent locked, and what a cancel owes others is met by the next sweep', async () => {
  const { executions } = ff.engine
  const { executionId: parentId } = await executions.create({ kind: 'k', lane: 'parents' })
  const { executionId } = await withPg.transaction(nextOrder(), (tx) =>
    ff.within(tx).submit({ kind: 'k', lane: 'parents', parentId, onParentEnd: 'cancel' }),
  )
  expect((await executions.list({ parentId })).executions).toMatchObject([{ executionId }])
  await withPg.transaction(nextOrder(), (tx) => ff.within(tx).cancel({ executionId: parentId }))
  const supervisor = ff.supervise()
  onTestFinished(() => supervisor.stop())
  await expect
    .poll(async () => (await executions.describe(executionId))?.publicState, { timeout: 20_000 })
    .toBe('cancelled')
})

test('a refusal leaves the transaction as it was', async () => {
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

test('a key that another transaction is about to use is waited for, and then met', async () => {
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

test('what came after the snapshot of a stricter transaction is contended, and the transaction goes on', async () => {
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

test('an execution that another holds for too long, by the settings of the transaction, is contended', async () => {
  const { executionId } = await ff.engine.executions.create({ kind: 'k', lane: 'held' })
  const held = await hold(url, 'select from flowfabric.ff_exec_core for update')
  const order = nextOrder()
  await withPg.transaction(order, async (tx) => {
    await (tx as pg.Client).query(`set local lock_timeout = '50ms'`)
    await refusal('contended', ff.within(tx).cancel({ executionId }))
  })
  expect(await isOrdered(order)).toBe(true)
  await held.release()
})

test('calls that are made at once go one after the other', async () => {
  const lane = 'at-once'
  await withPg.transaction(nextOrder(), (tx) =>
    Promise.all(Array.from({ length: 20 }, (_, index) => ff.within(tx).submit({ kind: 'k', lane, priority: index }))),
  )
  expect((await ff.engine.executions.claim({ ...worker, lanes: [lane], max: 100 })).claims).toHaveLength(20)
})

test('another schema is used there too, and an event that finds no block has one made', async () => {
  const elsewhere = await connect(url, { schema: 'other place' })
  onTestFinished(() => elsewhere.close())
  const { executionId } = await elsewhere.engine.executions.create({ kind: 'k' })
  await pool.query(`select setval('"other place".ff_event_id', 30000000)`)
  await withPg.transaction(nextOrder(), (tx) => elsewhere.within(tx).cancel({ executionId }))
  expect(await elsewhere.engine.executions.describe(executionId)).toMatchObject({ publicState: 'cancelled' })
})

test.each([
  ['a pool', () => pool, 'it is a pool, or stands on one'],
  ['Drizzle outside a transaction', () => drizzle(pool), 'it is a pool, or stands on one'],
  [
    'Kysely outside a transaction',
    () => new Kysely<object>({ dialect: new PostgresDialect({ pool }) }),
    'it is not in a transaction',
  ],
  ['something else', () => ({}), 'what was given is no client that is known'],
])('%s is refused', (_, given, why) => {
  expect(() => ff.within(given())).toThrow(`This works inside a transaction of your own, and ${why}. Give the client`)
})

test('a client without a transaction, or with one that has failed, is refused with the next act', async () => {
  const client = new pg.Client(url)
  await client.connect()
  onTestFinished(() => client.end())
  const submit = (): Promise<unknown> => ff.within(client).submit({ kind: 'k', lane: 'none' })
  expect((await refusal('no_transaction', submit())).message).toBe(
    'The client is not in a transaction. Send begin first, or call this inside one.',
  )
  await client.query('begin')
  await client.query('nonsense').catch(() => {})
  expect((await refusal('no_transaction', submit())).message).toMatch(/^The transaction has failed already/)
  await client.query('rollback')
})
