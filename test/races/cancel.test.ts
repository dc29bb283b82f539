import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import { parseExecutionId, type ExecutionId } from '../../src/model/id.ts'
import { hold } from '../support/barrier.ts'
import { factory } from '../support/factory.ts'
import { rows } from '../support/raw.ts'
import { refusal } from '../support/refusal.ts'
import { setup } from '../support/setup.ts'
import { secondEngine } from './second-engine.ts'
import * as stored from '../support/stored.ts'
import { expireByHand, claimByHand } from '../support/changes.ts'

// Counts this database only: other tests have waiters of their own.
const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
const change = stored.executions.changing({ retry_count: 1 }, 'execution_id = $1')
const uuidOf = (id: ExecutionId) => [parseExecutionId(id).uuid]

test('two cancels at once end the execution once, and both succeed', async () => {
  const { engine, sql, url } = await setup()
  const other = await secondEngine(url)
  const executionId = await factory(sql).active()
  const held = await hold(url, stored.executions.lockingTable('share'))
  const cancels = [engine, other].map((one, index) => one.executions.cancel({ executionId, reason: `${index}` }))
  await held.waiters(2)
  await held.release()
  const answers = await Promise.all(cancels)
  expect(answers.map((answer) => answer.kind).toSorted()).toEqual(['already_cancelled', 'cancelled'])
  const winner = answers.findIndex((answer) => answer.kind === 'cancelled')
  expect((await engine.executions.describe(executionId))?.cancellationReason).toBe(`${winner}`)
  expect(await stored.endings.all(sql)).toHaveLength(1)
})

test('two engines that cancel the same two hundred in opposite order end each of them once', async () => {
  const { engine, sql, url } = await setup()
  const other = await secondEngine(url)
  const created = await engine.executions.createMany(Array.from({ length: 200 }, () => ({ kind: 'k' })))
  const ids = created.map((answer) => (answer.kind === 'refused' ? expect.unreachable() : answer.executionId))
  const held = await hold(url, stored.executions.lockingTable('share'))
  const cancels = [
    engine.executions.cancelMany(ids.map((executionId) => ({ executionId }))),
    other.executions.cancelMany(ids.toReversed().map((executionId) => ({ executionId }))),
  ]
  await held.waiters(2)
  await held.release()
  const [one, two] = (await Promise.all(cancels)).map((answers) => answers.map((answer) => answer.kind))
  ids.forEach((_, index) => {
    expect(new Set([one![index], two!.toReversed()[index]])).toEqual(new Set(['already_cancelled', 'cancelled']))
  })
  expect(await stored.endings.count(sql)).toBe(200)
})

test('a locked row does not delay the rest of its set, and is cancelled when the lock is released', async () => {
  const { engine, sql, url } = await setup()
  const given = factory(sql)
  const ids = [await given.waiting(), await given.active(), await given.suspended()]
  const held = await hold(url, change, uuidOf(ids[1]!))
  const cancels = ids.map((executionId) => engine.executions.cancel({ executionId }))
  expect(await cancels[0]).toMatchObject({ kind: 'cancelled', from: 'waiting' })
  expect(await cancels[2]).toMatchObject({ kind: 'cancelled', from: 'suspended' })
  // The lock does not delay the next set either.
  expect(await engine.executions.cancel({ executionId: await given.waiting() })).toMatchObject({ kind: 'cancelled' })
  await held.waiters(1)
  await held.release()
  expect(await cancels[1]).toMatchObject({ kind: 'cancelled', from: 'active' })
})

test('a row that stays held is contended after the lock timeout, and unchanged', async () => {
  const { engine, sql, url } = await setup()
  const executionId = await factory(sql).waiting()
  const held = await hold(url, change, uuidOf(executionId))
  const error = await refusal('contended', engine.executions.cancel({ executionId }))
  expect(error.retryable).toBe(true)
  await held.release()
  expect(await engine.executions.describe(executionId)).toMatchObject({ publicState: 'waiting', retryCount: 0 })
  expect(await engine.executions.cancel({ executionId })).toMatchObject({ kind: 'cancelled' })
})

test('a cancel that waited decides by the state it finds after the wait, not by the one before', async () => {
  const { engine, sql, url } = await setup()
  const executionId = await factory(sql).waiting()
  const ending = new pg.Client(url)
  await ending.connect()
  onTestFinished(() => ending.end())
  await ending.query('begin')
  await ending.query(expireByHand, uuidOf(executionId))
  const cancel = engine.executions.cancel({ executionId })
  const refused = refusal('execution_not_cancellable', cancel)
  await expect.poll(() => rows(sql, waiting), { interval: 1 }).toHaveLength(1)
  await ending.query('commit')
  expect((await refused).details).toMatchObject({ publicState: 'expired' })
  expect(await stored.endings.all(sql)).toHaveLength(1)
})

test('a tag of a row that stays held is contended', async () => {
  const { engine, sql, url } = await setup()
  const executionId = await factory(sql).waiting()
  await hold(url, change, uuidOf(executionId))
  await refusal('contended', engine.executions.setTag(executionId, 'a', 'b'))
  expect(await engine.executions.getTag(executionId, 'a')).toBeNull()
})

test('of two that set the 64th tag at once, one is refused', async () => {
  const { engine, sql, url } = await setup()
  const other = await secondEngine(url)
  const tags = Object.fromEntries(Array.from({ length: 63 }, (_, index) => [`t${index}`, 'x']))
  const executionId = await factory(sql).waiting({ tags })
  const held = await hold(url, change, uuidOf(executionId))
  const writes = Promise.allSettled([
    engine.executions.setTag(executionId, 'a', '1'),
    other.executions.setTag(executionId, 'b', '1'),
  ])
  await held.waiters(2)
  await held.release()
  const outcomes = (await writes).map((outcome) => (outcome.status === 'fulfilled' ? 'set' : outcome.reason.code))
  expect(new Set(outcomes)).toEqual(new Set(['invalid_tag', 'set']))
  expect(await stored.executionTags.count(sql)).toBe(64)
})

test('cancels beside claims leave no lease and no ready row behind, whichever is first', async () => {
  const { engine, url } = await setup()
  const claimer = new pg.Client(url)
  await claimer.connect()
  onTestFinished(() => claimer.end())
  for (let round = 0; round < 5; round += 1) {
    const created = await engine.executions.createMany(Array.from({ length: 500 }, () => ({ kind: 'k' })))
    const ids = created.flatMap((answer) => (answer.kind === 'refused' ? [] : [answer.executionId]))
    const over = new AbortController()
    const cancels = engine.executions
      .cancelMany(ids.map((executionId) => ({ executionId })))
      .finally(() => over.abort())
    while (!over.signal.aborted) await claimer.query(claimByHand)
    expect((await cancels).map((answer) => answer.kind)).toEqual(ids.map(() => 'cancelled'))
  }
})

test('rows that are locked for long do not delay the rest of the process', async () => {
  const { engine, url } = await setup()
  const created = await engine.executions.createMany(Array.from({ length: 20 }, () => ({ kind: 'k' })))
  const ids = created.flatMap((answer) => (answer.kind === 'refused' ? [] : [answer.executionId]))
  const held = await hold(url, stored.executions.changing({ retry_count: 1 }))
  const cancels = engine.executions.cancelMany(ids.map((executionId) => ({ executionId })))
  await held.waiters(1)
  for (let count = 0; count < 10; count += 1) await engine.executions.create({ kind: 'k' })
  expect((await engine.executions.list({ limit: 100 })).executions).toHaveLength(30)
  await held.waiters(1)
  await held.release()
  expect((await cancels).map((answer) => answer.kind)).toEqual(ids.map(() => 'cancelled'))
})
