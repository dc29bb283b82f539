// Inside a transaction of the caller, with the common database clients.
import { drizzle } from 'drizzle-orm/node-postgres'
import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { connect } from '../../src/connect/connect.ts'
import { mintExecutionId } from '../../src/model/id.ts'
import { refusal } from '../support/refusal.ts'
import {
  applications,
  ff,
  isOrdered,
  nextOrder,
  pool,
  prepareApplications,
  url,
  withPg,
  worker,
} from './applications.ts'

prepareApplications()

test.each(applications)(
  '%s: a submitted execution can be claimed from the commit on, and not before',
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
  '%s: a signal wakes the execution that waits for it, and a cancel ends one, with the commit',
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
      const signalled = await within.signal({ executionId, name: 'paid', payload: new Uint8Array([1]) })
      const cancelled = await within.cancel({ executionId: other, reason: 'not needed' })
      expect(await executions.describe(executionId)).toMatchObject({ publicState: 'suspended' })
      return [signalled, cancelled]
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

test('another schema works there too, and an event that finds no block creates one', async () => {
  const elsewhere = await connect(url, { schema: 'other place' })
  onTestFinished(() => elsewhere.close())
  const { executionId } = await elsewhere.engine.executions.create({ kind: 'k' })
  await pool.query(`select setval('"other place".ff_event_id', 30000000)`)
  await withPg.transaction(nextOrder(), (tx) => elsewhere.within(tx).cancel({ executionId }))
  expect(await elsewhere.engine.executions.describe(executionId)).toMatchObject({ publicState: 'cancelled' })
})

test.each([
  ['a pool', () => pool, 'the client is a pool, or uses one'],
  ['Drizzle outside a transaction', () => drizzle(pool), 'the client is a pool, or uses one'],
  [
    'Kysely outside a transaction',
    () => new Kysely<object>({ dialect: new PostgresDialect({ pool }) }),
    'the client is not in a transaction',
  ],
  ['something else', () => ({}), 'the client is of an unknown kind'],
])('%s is refused', (_, given, why) => {
  expect(() => ff.within(given())).toThrow(
    `This call needs a client in an open transaction, but ${why}. Pass the pg client`,
  )
})

test('a client without a transaction, or with a failed one, is refused with the next action', async () => {
  const client = new pg.Client(url)
  await client.connect()
  onTestFinished(() => client.end())
  const submit = (): Promise<unknown> => ff.within(client).submit({ kind: 'k', lane: 'none' })
  expect((await refusal('no_transaction', submit())).message).toBe(
    'The client is not in a transaction. Send begin first, or call this inside a transaction.',
  )
  await client.query('begin')
  await client.query('nonsense').catch(() => {})
  expect((await refusal('no_transaction', submit())).message).toMatch(/^The transaction has already failed/)
  await client.query('rollback')
})

test.each(['ended by its own side', 'ended by the server'] as const)(
  'a client whose connection was %s is database_unreachable, and the caller may retry with another',
  async (how) => {
    const client = new pg.Client(url)
    client.on('error', () => {})
    await client.connect()
    await client.query('begin')
    if (how === 'ended by its own side') await client.end()
    else {
      const { rows } = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
      const ended = new Promise((resolve) => client.once('end', resolve))
      await pool.query('select pg_terminate_backend($1)', [rows[0]!.pid])
      await ended
    }
    const error = await refusal('database_unreachable', ff.within(client).submit({ kind: 'ship' }))
    expect(error.retryable).toBe(true)
    expect(error.message).toContain('The transaction was rolled back')
  },
)
