import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { hold } from '../support/barrier.ts'
import { factory } from '../support/factory.ts'
import { setup } from '../support/setup.ts'
import { startLossyProxy } from './lossy-proxy.ts'
import { secondEngine } from './second-engine.ts'
import * as stored from '../support/stored.ts'

async function terminateWaiting(url: string): Promise<number> {
  const client = new pg.Client(url)
  await client.connect()
  onTestFinished(() => client.end())
  const { rowCount } = await client.query(
    `select pg_terminate_backend(pid) from pg_stat_activity
     where datname = current_database() and wait_event_type = 'Lock' and pid <> pg_backend_pid()`,
  )
  return rowCount ?? 0
}

test('a create whose connection is killed while it waits is sent again and created once', async () => {
  const { engine, sql, url } = await setup()
  await engine.executions.create({ kind: 'k' })
  const held = await hold(url, stored.executions.lockingTable('share'))
  const create = engine.executions.create({ kind: 'k' })
  await held.waiters(1)
  expect(await terminateWaiting(url)).toBe(1)
  await held.waiters(1)
  await held.release()
  expect(await create).toMatchObject({ kind: 'created' })
  expect(await stored.executions.all(sql)).toHaveLength(2)
})

test.each([
  ['plain', {}],
  ['delayed', { delay: '5m' }],
  ['with a key', { idempotencyKey: 'order 7' }],
] as const)(
  'a create, %s, that was committed and whose reply was lost is sent again and returns created, once',
  async (_, fields) => {
    const { sql, url } = await setup()
    const proxy = await startLossyProxy(url)
    const engine = await secondEngine(proxy.url)
    await engine.executions.create({ kind: 'k' })
    proxy.loseNextReply()
    const answer = await engine.executions.create({ kind: 'k', ...fields })
    expect(proxy.lostCount()).toBe(1)
    expect(answer).toMatchObject({ kind: 'created', publicState: 'delay' in fields ? 'delayed' : 'waiting' })
    expect(await stored.executions.all(sql)).toHaveLength(2)
    expect(await engine.executions.describe(answer.executionId)).not.toBeNull()
  },
)

test('a whole set whose reply was lost is created once', async () => {
  const { sql, url } = await setup()
  const proxy = await startLossyProxy(url)
  const engine = await secondEngine(proxy.url)
  await engine.executions.create({ kind: 'k' })
  proxy.loseNextReply()
  const answers = await engine.executions.createMany(Array.from({ length: 100 }, () => ({ kind: 'k' })))
  expect(proxy.lostCount()).toBe(1)
  expect(answers.every((answer) => answer.kind === 'created')).toBe(true)
  expect(await stored.executions.count(sql)).toBe(101)
})

test('a cancel whose reply was lost ends the execution once and succeeds', async () => {
  const { engine: direct, sql, url } = await setup()
  const proxy = await startLossyProxy(url)
  const engine = await secondEngine(proxy.url)
  const given = factory(sql)
  await engine.executions.cancel({ executionId: await given.waiting() })
  const executionId = await given.active()
  proxy.loseNextReply()
  await engine.executions.cancel({ executionId, reason: 'why' })
  expect(proxy.lostCount()).toBe(1)
  expect(await direct.executions.describe(executionId)).toMatchObject({
    publicState: 'cancelled',
    cancellationReason: 'why',
  })
  expect(await stored.endings.all(sql)).toHaveLength(2)
})
