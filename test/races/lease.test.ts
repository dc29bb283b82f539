// Writes of a holder that compete with each other, an operator, or a new holder.
import pg from 'pg'
import { expect, onTestFinished, test } from 'vitest'
import type { Engine } from '../../src/engine/contract.ts'
import type { Fence } from '../../src/engine/transition/fence.ts'
import { parseExecutionId, type ExecutionId } from '../../src/model/id.ts'
import { fenceOf, held, take, worker } from '../engine/execution/holder.ts'
import type { Sql } from '../../src/sql/sql.ts'
import { hold } from '../support/barrier.ts'
import { rows } from '../support/raw.ts'
import { refusal } from '../support/refusal.ts'
import { setup } from '../support/setup.ts'
import { withoutWriting } from '../support/written.ts'
import { codeOf } from './meeting.ts'
import { secondEngine } from './second-engine.ts'
import * as stored from '../support/stored.ts'
import { interruptAll } from '../support/changes.ts'

const times = 50
// Counts this database only: other tests have waiters of their own.
const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`
const change = stored.executions.changing('retry_count = retry_count', 'execution_id = $1')
const everything = stored.executions.lockingTable('share')
const uuidOf = (id: ExecutionId) => [parseExecutionId(id).uuid]

const completionEvents = (sql: Sql) => stored.endings.count(sql)

test('a zombie that completes at the same time as its successor is refused, and one ending is written', async () => {
  const { engine, sql, url } = await setup()
  const other = await secondEngine(url)
  for (let round = 1; round <= times; round += 1) {
    const zombie = await held(engine)
    await interruptAll(sql, 'lapsed')
    const successor = await take(other, { workerInstanceId: 'w-2' })
    const barrier = await hold(url, everything)
    const late = codeOf(engine.executions.complete({ ...fenceOf(zombie), result: Buffer.from('zombie') }))
    const due = codeOf(other.executions.complete({ ...fenceOf(successor), result: Buffer.from('successor') }))
    await barrier.waiters(2)
    await barrier.release()
    expect(await due).toBe('completed')
    expect(['stale_lease', 'execution_not_active']).toContain(await late)
    const answer = await engine.executions.result(zombie.executionId)
    expect(answer?.kind === 'completed' && Buffer.from(answer.result!).toString()).toBe('successor')
    expect(await completionEvents(sql)).toBe(round)
  }
})

test('a zombie that completes during its takeover changes nothing', async () => {
  const { engine, sql, url } = await setup()
  const other = await secondEngine(url)
  for (let round = 1; round <= times; round += 1) {
    const zombie = await held(engine)
    await interruptAll(sql, 'lapsed')
    const barrier = await hold(url, everything)
    const late = codeOf(engine.executions.complete(fenceOf(zombie)))
    const claim = other.executions.claim({ ...worker, workerInstanceId: 'w-2' })
    await barrier.waiters(2)
    await barrier.release()
    expect(['lease_expired', 'stale_lease']).toContain(await late)
    const { claims } = await claim
    // The zombie may have locked the row for a moment, and then the claim passes over it.
    const successor = claims[0] ?? (await take(other))
    expect(successor).toMatchObject({ executionId: zombie.executionId, leaseEpoch: 2 })
    await other.executions.complete(fenceOf(successor))
  }
  expect(await completionEvents(sql)).toBe(times)
})

test('of a cancel and a complete one wins, the other is refused, and one event is written', async () => {
  const { engine, sql, url } = await setup()
  const other = await secondEngine(url)
  for (let round = 1; round <= times; round += 1) {
    const claim = await held(engine)
    const { executionId } = claim
    const barrier = await hold(url, everything)
    // The first at the barrier mostly wins, so they take turns.
    const cancelFirst = round % 2 === 0 ? codeOf(other.executions.cancel({ executionId })) : undefined
    if (cancelFirst !== undefined) await barrier.waiters(1)
    const complete = codeOf(engine.executions.complete(fenceOf(claim)))
    if (cancelFirst === undefined) await barrier.waiters(1)
    const cancel = cancelFirst ?? codeOf(other.executions.cancel({ executionId }))
    await barrier.waiters(2)
    await barrier.release()
    const outcome = `${await complete} / ${await cancel}`
    expect(['completed / execution_not_cancellable', 'execution_not_active / cancelled']).toContain(outcome)
    const ended = outcome.startsWith('completed') ? 'completed' : 'cancelled'
    expect((await engine.executions.describe(executionId))?.publicState).toBe(ended)
    expect(await completionEvents(sql)).toBe(round)
    expect(await stored.leases.all(sql)).toEqual([])
  }
})

test('of a fail and a cancel one wins, and a retry is never left behind an ending', async () => {
  const { engine, sql, url } = await setup()
  const other = await secondEngine(url)
  const policy = { retry: { attempts: 5, backoff: { type: 'fixed', delayMs: 0 } } } as const
  for (let round = 1; round <= times; round += 1) {
    const claim = await held(engine, { policy })
    const barrier = await hold(url, everything)
    const fail = codeOf(engine.executions.fail({ ...fenceOf(claim), reason: 'r' }))
    const cancel = codeOf(other.executions.cancel({ executionId: claim.executionId }))
    await barrier.waiters(2)
    await barrier.release()
    expect(['retry_scheduled', 'execution_not_active']).toContain(await fail)
    expect(await cancel).toBe('cancelled')
    expect(await stored.ready.all(sql)).toEqual([])
  }
  expect(await completionEvents(sql)).toBe(times)
})

const verbs: Readonly<Record<string, (engine: Engine, fence: Fence) => Promise<unknown>>> = {
  complete: ({ executions }, fence) => executions.complete(fence),
  fail: ({ executions }, fence) => executions.fail({ ...fence, reason: 'r' }),
  delay: ({ executions }, fence) => executions.delay({ ...fence, for: '1m' }),
  release: ({ executions }, fence) => executions.release(fence),
  progress: ({ executions }, fence) => executions.progress({ ...fence, percent: 1 }),
  cancel: ({ executions }, { executionId }) => executions.cancel({ executionId }),
  changePriority: ({ executions }, { executionId }) => executions.changePriority({ executionId, priority: 7 }),
  revoke: ({ leases }, { executionId }) => leases.revoke({ executionId }),
}

test.each(Object.entries(verbs))(
  'a row that another transaction locks does not delay the rest of a set (%s)',
  async (_, write) => {
    const { engine, url } = await setup()
    for (let round = 1; round <= times; round += 1) {
      await engine.executions.createMany(Array.from({ length: 3 }, () => ({ kind: 'k' })))
      const { claims } = await engine.executions.claim({ ...worker, max: 3 })
      const barrier = await hold(url, change, uuidOf(claims[1]!.executionId))
      const [one, waiting, three] = claims.map((claim) => codeOf(write(engine, fenceOf(claim))))
      const done = await one
      expect(await three).toBe(done)
      await barrier.waiters(1)
      await barrier.release()
      expect(await waiting).toBe(done)
      await engine.executions.cancelMany(claims.map(({ executionId }) => ({ executionId })))
    }
  },
)

// All at once, because each waits for two seconds.
test('a write to a row that stays locked is contended, and works when the lock is released', async () => {
  const { engine, sql, url } = await setup()
  const writes = Object.values(verbs)
  await engine.executions.createMany(writes.map(() => ({ kind: 'k' })))
  const { claims } = await engine.executions.claim({ ...worker, max: writes.length })
  const writeAll = () => writes.map((write, index) => write(engine, fenceOf(claims[index]!)))
  const barrier = await hold(url, stored.executions.changing('retry_count = retry_count'))
  await withoutWriting(sql, () =>
    Promise.all(writeAll().map(async (work) => expect((await refusal('contended', work)).retryable).toBe(true))),
  )
  await barrier.release()
  expect(await Promise.all(writeAll().map(codeOf))).toEqual([
    'completed',
    'failed',
    'delayed',
    'released',
    'progress_recorded',
    'cancelled',
    'priority_changed',
    'revoked',
  ])
})

const renewed = async (engine: Engine, fence: Fence): Promise<string> => {
  const { leases } = await engine.executions.renew({ workerInstanceId: 'w-1', leases: [fence] })
  const [answer] = leases
  return answer?.kind === 'lost' ? answer.error.code : 'renewed'
}

test('a renewal and a complete at once: the execution completes, and no lease is left', async () => {
  const { engine, sql, url } = await setup()
  const other = await secondEngine(url)
  for (let round = 1; round <= times; round += 1) {
    const fence = fenceOf(await held(engine))
    const barrier = await hold(url, stored.leases.lockingTable('share'))
    const complete = codeOf(engine.executions.complete(fence))
    const renewal = renewed(other, fence)
    await barrier.waiters(2)
    await barrier.release()
    expect(await complete).toBe('completed')
    expect(['renewed', 'execution_not_active']).toContain(await renewal)
    expect(await stored.leases.all(sql)).toEqual([])
    expect(await renewed(other, fence)).toBe('execution_not_active')
  }
  expect(await completionEvents(sql)).toBe(times)
})

test('two renewals of one lease at once both keep it', async () => {
  const { engine, sql, url } = await setup()
  const other = await secondEngine(url)
  const fence = fenceOf(await held(engine))
  for (let round = 1; round <= times; round += 1) {
    const barrier = await hold(url, stored.leases.lockingTable('share'))
    const renewals = [renewed(engine, fence), renewed(other, fence)]
    await barrier.waiters(2)
    await barrier.release()
    expect(await Promise.all(renewals)).toEqual(['renewed', 'renewed'])
  }
  expect(await stored.leases.all(sql)).toHaveLength(1)
})

test('a lease whose row is locked is not lost, and delays none of the others', async () => {
  const { engine, url } = await setup()
  const [one, other] = [await held(engine), await held(engine)]
  await hold(url, stored.leases.lockingRows('update', 'execution_id = $1'), uuidOf(one.executionId))
  const { leases } = await engine.executions.renew({
    workerInstanceId: 'w-1',
    leases: [fenceOf(one), fenceOf(other)],
    leaseTtl: '1h',
  })
  expect(leases).toMatchObject([{ kind: 'renewed', expiresAt: one.leaseExpiresAt }, { kind: 'renewed' }])
  expect(leases[1]?.kind === 'renewed' && leases[1].expiresAt).toBeGreaterThan(other.leaseExpiresAt)
})

test('a write succeeds when its lease is renewed while it waits, though the lease had expired when the write began', async () => {
  const { engine, sql, clock, url } = await setup()
  const claim = await held(engine)
  const renewal = new pg.Client(url)
  await renewal.connect()
  onTestFinished(() => renewal.end())
  await renewal.query('begin')
  await renewal.query(stored.leases.changing('expires_at_ms = expires_at_ms + 3600000'))
  await clock.advance('5m')
  const complete = engine.executions.complete(fenceOf(claim))
  await expect.poll(() => rows(sql, waiting), { interval: 1 }).toHaveLength(1)
  await renewal.query('commit')
  expect(await complete).toMatchObject({ kind: 'completed' })
})

// In one statement, after a read, and without suspending.
test.each([
  ['suspend', { kind: 'signal', waitpoint: 'answer' }, 'suspended'],
  ['suspend', { kind: 'signal', name: 'go' }, 'suspended'],
  ['trySuspend', { kind: 'signal', name: 'go' }, 'already_satisfied'],
] as const)(
  'a %s for %o succeeds when its lease is renewed meanwhile, though the lease had expired when it began',
  async (verb, condition, kind) => {
    const { engine, sql, clock, url } = await setup()
    const claim = await held(engine)
    await engine.signals.send({ executionId: claim.executionId, name: 'go' })
    const renewal = new pg.Client(url)
    await renewal.connect()
    onTestFinished(() => renewal.end())
    await renewal.query('begin')
    await renewal.query(stored.leases.changing('expires_at_ms = expires_at_ms + 3600000'))
    await clock.advance('5m')
    const answer = codeOf(engine.executions[verb]({ ...fenceOf(claim), condition }))
    await expect.poll(() => rows(sql, waiting), { interval: 1 }).toHaveLength(1)
    await renewal.query('commit')
    expect(await answer).toBe(kind)
  },
)

test('a repeat that is sent while the first is in progress returns the same answer, and takes effect once', async () => {
  const { engine, sql, url } = await setup()
  const other = await secondEngine(url)
  for (let round = 1; round <= times; round += 1) {
    const fence = fenceOf(await held(engine))
    const barrier = await hold(url, everything)
    const twice = [engine, other].map((one) => codeOf(one.executions.complete(fence)))
    await barrier.waiters(2)
    await barrier.release()
    expect(await Promise.all(twice)).toEqual(['completed', 'completed'])
    expect(await completionEvents(sql)).toBe(round)
  }
})
