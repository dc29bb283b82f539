// A duty runs before its interval is over when a timer is due. The intervals here are so long that no other cause could
// have started it.
import { expect, onTestFinished, test } from 'vitest'
import { openEngine } from '../../../src/engine/engine.ts'
import type { SuperviseOptions } from '../../../src/engine/duties/supervisor.ts'
import type { ExecutionId } from '../../../src/model/id.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import { factory } from '../../support/factory.ts'
import { patience } from '../../support/patience.ts'
import { setup } from '../../support/setup.ts'
import { take } from '../execution/holder.ts'
import { answer, waiting } from '../waiting/suspension/waiting.ts'
import * as stored from '../../support/stored.ts'

const until = { interval: 5 }
const duties = ['delayed-promoter', 'lease-expiry', 'suspension-timeout', 'suspension-wake']
const hourly: SuperviseOptions = { intervals: Object.fromEntries(duties.map((duty) => [duty, '1h'])) }

/** An engine with a supervisor whose duties have just run, and whose next regular runs are an hour away. */
async function supervised(sql: Sql) {
  const { engine, supervisor } = openEngine(sql)
  const running = supervisor(hourly)
  onTestFinished(() => running.stop())
  running.start()
  await expect.poll(() => duties.every((duty) => running.reports.has(duty)), until).toBe(true)
  const state = async (id: ExecutionId) => (await engine.executions.describe(id))?.publicState
  return { engine, running, state }
}

test('an execution with a short delay is promoted at its time', async () => {
  const { sql } = await setup()
  const { engine, running, state } = await supervised(sql)
  const { executionId } = await engine.executions.create({ kind: 'k', delay: 100 })
  await expect.poll(() => state(executionId), until).toBe('waiting')
  const keyed = await engine.executions.create({ kind: 'k', delay: 100, idempotencyKey: 'key' })
  await expect.poll(() => state(keyed.executionId), until).toBe('waiting')
  await running.stop()
})

test('an execution that its holder delays or fails with a short back-off is promoted at its time', async () => {
  const { sql } = await setup()
  const { engine, running, state } = await supervised(sql)
  const policy = { retry: { attempts: 3, backoff: { type: 'fixed' as const, delayMs: 50 } } }
  const { executionId } = await engine.executions.create({ kind: 'k', policy })
  const claim = async () => {
    const worker = { workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'], leaseTtl: '1h' as const }
    const { executionId, leaseId, leaseEpoch } = (await engine.executions.claim(worker)).claims[0]!
    return { executionId, leaseId, leaseEpoch }
  }
  await engine.executions.delay({ ...(await claim()), for: 60 })
  await expect.poll(() => state(executionId), until).toBe('waiting')
  await engine.executions.fail({ ...(await claim()), reason: 'broke' })
  await expect.poll(() => state(executionId), until).toBe('waiting')
  await running.stop()
})

test.each([
  ['of a condition that nothing early can meet', { kind: 'signal', waitpoint: 'answer' }],
  ['of a condition that is evaluated first', { kind: 'signal', name: 'answer' }],
] as const)('a short timeout %s fires at its time', async (_, condition) => {
  const { sql } = await setup()
  const { engine, running, state } = await supervised(sql)
  const { claim } = await waiting(engine, { condition, timeout: 100 })
  await expect.poll(() => state(claim.executionId), until).toBe('failed')
  // Far enough ahead that a busy machine sends the request before it.
  const timeoutAt = (await engine.serverTime()) + patience(1500)
  const fixed = await waiting(engine, { condition, timeoutAt, timeoutBehaviour: 'expire' })
  await expect.poll(() => state(fixed.claim.executionId), until).toBe('expired')
  await running.stop()
})

test('a near point in time wakes at its time, whether it is near at once or after a signal', async () => {
  const { sql } = await setup()
  const { engine, running, state } = await supervised(sql)
  const at = (await engine.serverTime()) + 100
  const near = await waiting(engine, { condition: { kind: 'time', at } })
  await expect.poll(() => state(near.claim.executionId), until).toBe('resumable')
  await take(engine)
  const later = (await engine.serverTime()) + 300
  const members = [{ kind: 'signal', waitpoint: 'answer' } as const, { kind: 'time', at: later } as const]
  const both = await waiting(engine, { condition: { kind: 'allOf', members } })
  await answer(engine, both.waitpoint)
  await expect.poll(() => state(both.claim.executionId), until).toBe('resumable')
  await running.stop()
})

test('a resume delay that begins when time alone satisfies a condition ends at its time', async () => {
  const { sql } = await setup()
  const { engine, running, state } = await supervised(sql)
  const at = (await engine.serverTime()) + 100
  const { claim } = await waiting(engine, { condition: { kind: 'time', at }, resumeDelay: 200 })
  await expect.poll(() => state(claim.executionId), until).toBe('resumable')
  await running.stop()
})

test('a run of the duty reports when the next timer is due', async () => {
  const { sql, clock } = await setup()
  const given = factory(sql)
  const now = await clock.now()
  const first = await given.delayed({ until: now + 300 })
  const second = await given.delayed({ until: now + 600 })
  const held = await given.active({ expiresAt: now + 400 })
  const { running, state } = await supervised(sql)
  await expect
    .poll(() => Promise.all([first, second, held].map(state)), until)
    .toEqual(['waiting', 'waiting', 'waiting'])
  await running.stop()
})

test('many short delays in a row report the first, and the duty finds the later ones by then', async () => {
  const { sql } = await setup()
  const { engine, running, state } = await supervised(sql)
  const created = await engine.executions.createMany(
    Array.from({ length: 20 }, (_, index) => ({ kind: 'k', delay: 100 + index * 20 })),
  )
  const ids = created.flatMap((answer) => (answer.kind === 'created' ? [answer.executionId] : []))
  const states = async () => new Set(await Promise.all(ids.map(state)))
  await expect.poll(states, until).toEqual(new Set(['waiting']))
  await running.stop()
  expect(await stored.executions.all(sql, { delay_until_ms: stored.present })).toEqual([])
})
