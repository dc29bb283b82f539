// Claims that compete with each other and with other operations for the same rows.
import { randomInt } from 'node:crypto'
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { parseExecutionId, type ExecutionId } from '../../src/model/id.ts'
import { hold } from '../support/barrier.ts'
import { factory } from '../support/factory.ts'
import { rows } from '../support/raw.ts'
import { setup } from '../support/setup.ts'
import { fenceOf, take, worker } from '../engine/execution/holder.ts'
import { engines, secondEngine } from './second-engine.ts'
import * as stored from '../support/stored.ts'
import { nowMs } from '../support/changes.ts'

const times = 50
// Counts this database only: other tests have waiters of their own.
const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
const change = stored.executions.changing({ retry_count: 1 }, 'execution_id = $1')
const uuidOf = (id: ExecutionId) => parseExecutionId(id).uuid

test('of twenty claimers of one execution one wins, and the others get none', async () => {
  const { engine, sql, url } = await setup()
  const claimers = await engines(url, 20)
  for (let round = 1; round <= times; round += 1) {
    const { executionId } = await engine.executions.create({ kind: 'k' })
    const held = await hold(url, stored.executions.lockingTable('share'))
    const claims = claimers.map((one, index) => one.executions.claim({ ...worker, workerInstanceId: `w-${index}` }))
    await held.waiters(20)
    await held.release()
    const won = (await Promise.all(claims)).flatMap((answer) => answer.claims)
    expect(won).toMatchObject([{ executionId, leaseEpoch: 1 }])
    await engine.executions.complete(fenceOf(won[0]!))
  }
  expect(await stored.events.count(sql, { event_type: 'acquired' })).toBe(times)
})

test('twenty claimers share a queue: each execution is claimed by one of them, and none remains', async () => {
  const { engine, sql, url } = await setup()
  const claimers = await engines(url, 20)
  await engine.executions.createMany(Array.from({ length: 400 }, () => ({ kind: 'k' })))
  const held = await hold(url, stored.executions.lockingTable('share'))
  const claims = claimers.map((one) => one.executions.claim({ ...worker, max: 50 }))
  await held.waiters(20)
  await held.release()
  const won = (await Promise.all(claims)).flatMap((answer) => answer.claims)
  for (;;) {
    const { claims: rest } = await engine.executions.claim({ ...worker, max: 50 })
    if (rest.length === 0) break
    won.push(...rest)
  }
  expect(new Set(won.map((claim) => claim.executionId)).size).toBe(400)
  expect(won).toHaveLength(400)
  expect(await stored.ready.all(sql)).toEqual([])
})

test('RACE-01 a row that another transaction locks does not delay a claim, and is claimed when the lock is released', async () => {
  const { engine, sql, url } = await setup()
  for (let round = 1; round <= times; round += 1) {
    const first = await factory(sql).waiting({ priority: 9 })
    await factory(sql).waiting({ priority: 1 })
    const held = await hold(url, change, [uuidOf(first)])
    expect(await take(engine)).toMatchObject({ priority: 1 })
    expect((await engine.executions.claim(worker)).claims).toEqual([])
    await held.release()
    expect((await take(engine)).executionId).toBe(first)
  }
})

test('RACE-02 a claim that cannot serve an execution never blocks one that can', async () => {
  const { engine, url } = await setup()
  const [able, ...unable] = await engines(url, 4)
  for (let round = 1; round <= times; round += 1) {
    const { executionId } = await engine.executions.create({ kind: 'k', requiredCapabilities: ['gpu'] })
    const claims = unable.map((one) => one.executions.claim({ ...worker, capabilities: ['cpu'] }))
    const claim = await take(able!, { capabilities: ['gpu', 'cpu'] })
    expect(claim.executionId).toBe(executionId)
    expect((await Promise.all(claims)).flatMap((answer) => answer.claims)).toEqual([])
    await able!.executions.complete(fenceOf(claim))
  }
})

test('a create of another engine wakes a waiting claim', async () => {
  const { engine, url } = await setup()
  const waiting = await engines(url, 3)
  // Until they listen, a hint arrives only with the next poll; the earlier claim makes them listen.
  await Promise.all(waiting.map((one) => one.executions.claim({ ...worker, lanes: ['nothing'], wait: 50 })))
  for (let round = 1; round <= 20; round += 1) {
    const claims = waiting.map((one) => one.executions.claim({ ...worker, wait: '1m' }))
    const made = await engine.executions.createMany(waiting.map(() => ({ kind: `k${round}` })))
    const ids = made.map((answer) => (answer.kind === 'refused' ? expect.unreachable() : answer.executionId))
    const won = (await Promise.all(claims)).flatMap((answer) => answer.claims.map((claim) => claim.executionId))
    expect(won.toSorted()).toEqual(ids.toSorted())
  }
})

test('claims and cancels of the same executions never deadlock', async () => {
  const { engine, sql, url } = await setup()
  const other = await secondEngine(url)
  for (let round = 1; round <= times; round += 1) {
    const made = await engine.executions.createMany(Array.from({ length: 20 }, () => ({ kind: 'k' })))
    const ids = made.map((answer) => (answer.kind === 'refused' ? expect.unreachable() : answer.executionId))
    const held = await hold(url, stored.executions.lockingTable('share'))
    const claim = engine.executions.claim({ ...worker, max: 20 })
    const cancel = other.executions.cancelMany(ids.map((executionId) => ({ executionId })))
    await held.waiters(2)
    await held.release()
    const [{ claims }, cancelled] = await Promise.all([claim, cancel])
    expect(cancelled.map((answer) => answer.kind)).toEqual(ids.map(() => 'cancelled'))
    const late = await engine.executions.completeMany(claims.map(fenceOf))
    expect(late.every((answer) => answer.kind === 'refused')).toBe(true)
  }
  expect(await stored.endings.count(sql)).toBe(20 * times)
  expect(await stored.ready.all(sql)).toEqual([])
})

// The claim is stopped after its snapshot and before its locks: the first row has a grant, and checking it reads the
// clock, which waits. The function is volatile, because the planner would also read a stable one, before the snapshot is
// taken.
async function stopBeforeLocks(url: string, sql: Parameters<typeof rows>[0]) {
  const key = randomInt(2 ** 30)
  const [clock] = await rows(sql, `select pg_get_functiondef('${nowMs}'::regprocedure) as text`)
  const stopper = new pg.Client(url)
  await stopper.connect()
  onTestFinished(() => stopper.end())
  await stopper.query(`
    create or replace function ${nowMs} returns bigint language plpgsql volatile as $$
    begin
      if current_setting('application_name') = 'stopped' then
        perform pg_advisory_lock_shared(${key});
        perform pg_advisory_unlock_shared(${key});
      end if;
      return floor(extract(epoch from clock_timestamp()) * 1000)::bigint;
    end $$`)
  const held = await hold(url, `select pg_advisory_xact_lock(${key})`)
  return {
    ...held,
    restoreClock: () => stopper.query(clock!['text'] as string),
  }
}

test('a claim takes nothing that was claimed and given back between its read and its lock', async () => {
  const { engine, sql, url } = await setup()
  const granted = await factory(sql).waiting({ priority: 9 })
  const executionId = await factory(sql).waiting({ priority: 1 })
  await engine.executions.grant({ executionId: granted, workerId: 'x', workerInstanceId: 'x' })
  const late = await secondEngine(`${url}${url.includes('?') ? '&' : '?'}application_name=stopped`)
  const stop = await stopBeforeLocks(url, sql)
  const lateClaim = late.executions.claim({ ...worker, workerInstanceId: 'late', max: 2 })
  await stop.waiters(1)
  const first = await take(engine)
  expect(first.executionId).toBe(executionId)
  await engine.executions.release(fenceOf(first))
  await stop.release()
  const { claims } = await lateClaim
  await stop.restoreClock()
  // Whether or not a second query got it: a running execution is not in the queue.
  expect(await stored.ready.pick(sql, ['execution_id'], {}, 'rank')).toEqual([
    { execution_id: uuidOf(granted) },
    ...(claims.length === 0 ? [{ execution_id: uuidOf(executionId) }] : []),
  ])
})

test('a claim by grant that waited leaves no ready row behind, though the execution was moved meanwhile', async () => {
  const { engine, sql, url } = await setup()
  const executionId = await factory(sql).waiting({ priority: 1 })
  const mine = { executionId, workerId: 'w', workerInstanceId: 'w-1' }
  const { grantId } = await engine.executions.grant(mine)
  const moving = new pg.Client(url)
  await moving.connect()
  onTestFinished(() => moving.end())
  await moving.query('begin')
  await moving.query(stored.executions.changing({ priority: 5 }))
  await moving.query(stored.ready.changing({ neg_priority: -5 }))
  const claim = engine.executions.claimById({ ...mine, grantId })
  await expect.poll(() => rows(sql, waiting), { interval: 1 }).toHaveLength(1)
  await moving.query('commit')
  expect(await claim).toMatchObject({ executionId, priority: 5 })
  expect(await stored.ready.all(sql)).toEqual([])
})
