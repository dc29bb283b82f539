// The ends of a suspension against each other at the same moment: on one execution, fifty times each. One wins, the
// others are refused, and the execution continues once.
import { expect, onTestFinished, test } from 'vitest'
import type { Engine } from '../../src/engine/contract.ts'
import { executionDeadline } from '../../src/engine/duties/execution-deadline.ts'
import { suspensionTimeout } from '../../src/engine/duties/suspension-timeout.ts'
import { suspensionWake } from '../../src/engine/duties/suspension-wake.ts'
import { checkInvariants } from '../../src/engine/invariants.ts'
import { openPostgres } from '../../src/sql/postgres.ts'
import type { Sql } from '../../src/sql/sql.ts'
import { fenceOf, take } from '../engine/execution/holder.ts'
import { setup } from '../support/setup.ts'
import { codeOf, meet } from './meeting.ts'
import { engines } from './second-engine.ts'
import { deliver, itsTimeHasCome, satisfiedByAnything, suspended } from './suspended.ts'
import { patience } from '../support/patience.ts'
import * as stored from '../support/stored.ts'

const times = 50

async function another(url: string): Promise<Sql> {
  const sql = await openPostgres({ url, schema: 'flowfabric' })
  onTestFinished(() => sql.close())
  return sql
}

test('of twenty signals that can close one suspension, one does, and as many as it needs are taken', async () => {
  const { engine, sql, url } = await setup()
  const senders = await engines(url, 4)
  const condition = { kind: 'count', n: 5, distinct: 'signals', waitpoints: ['answer'] } as const
  for (let round = 1; round <= times; round += 1) {
    const [waiting] = await suspended(engine, 1, { condition })
    const contenders = senders.map((sender) => () => {
      return Promise.all(Array.from({ length: 5 }, () => deliver(sender, waiting!)))
    })
    const effects = (await meet(url, contenders, { first: round % senders.length })).flat()
    expect(effects.filter((effect) => effect === 'resume_condition_satisfied')).toHaveLength(1)
    expect(effects.filter((effect) => effect === 'appended_to_waitpoint')).toHaveLength(4)
    expect(effects.filter((effect) => effect === 'waitpoint_closed')).toHaveLength(15)
    expect(await resumedCount(sql)).toBe(round)
    expect(await checkInvariants(sql)).toEqual([])
    const claim = await take(engine)
    expect(claim.resumption?.signals).toHaveLength(5)
    await engine.executions.complete(fenceOf(claim))
  }
})

test.each([
  ['fail', 'failed', 'target_not_signalable'],
  ['auto_resume_with_timeout_signal', 'resumable', 'waitpoint_closed'],
] as const)(
  'TMO-06 of a signal and a timeout (%s) one wins, never both',
  async (timeoutBehaviour, state, code) => {
    const { engine, sql, url } = await setup()
    const other = await another(url)
    const wins = new Set<string>()
    for (let round = 1; round <= times; round += 1) {
      const [waiting] = await suspended(engine, 1, { timeout: '1h', timeoutBehaviour })
      await stored.suspensions.change(sql, { timeout_at_ms: 1 }, { timeout_at_ms: stored.present })
      const signal = () => deliver(engine, waiting!)
      const timeout = async () => `${(await suspensionTimeout.runOnce(other)).processed} timed out`
      // Without a gate: the duty takes several statements, and would never be the first behind one.
      const lateBy = 2 * ((round % 16) - 8)
      const outcome = (await Promise.all([after(sql, lateBy).then(signal), after(other, -lateBy).then(timeout)])).join(
        ' / ',
      )
      wins.add(outcome)
      expect(['resume_condition_satisfied / 0 timed out', `${code} / 1 timed out`]).toContain(outcome)
      const isSignalled = outcome.startsWith('resume')
      expect((await engine.executions.describe(waiting!.executionId))?.publicState).toBe(
        isSignalled ? 'resumable' : state,
      )
      expect(await checkInvariants(sql)).toEqual([])
      if (!isSignalled && state === 'failed') continue
      const claim = await take(engine)
      expect(claim.resumption?.signals.map(({ name }) => name)).toEqual([isSignalled ? 'yes' : 'timeout'])
      await engine.executions.complete(fenceOf(claim))
    }
    expect(wins.size).toBe(2)
  },
  patience(60_000),
)

test('of a signal and a timeout that escalates both count, and it does not escalate after the signal', async () => {
  const { engine, sql, url } = await setup()
  const other = await another(url)
  const escalation = { timeout: '1h', behaviour: 'fail' } as const
  const met = new Set<string>()
  for (let round = 1; round <= times; round += 1) {
    const [waiting] = await suspended(engine, 1, { timeout: '1h', timeoutBehaviour: 'escalate', escalation })
    await stored.suspensions.change(sql, { timeout_at_ms: 1 }, { timeout_at_ms: stored.present })
    const lateBy = 2 * ((round % 16) - 8)
    const [effect, run] = await Promise.all([
      after(sql, lateBy).then(() => deliver(engine, waiting!)),
      after(other, -lateBy).then(() => suspensionTimeout.runOnce(other)),
    ])
    expect(effect).toBe('resume_condition_satisfied')
    const { events } = await engine.events.timeline(waiting!.executionId)
    const kinds = events.map(({ kind }) => kind).filter((kind) => kind === 'escalated' || kind === 'resumed')
    expect(kinds).toEqual(run.processed === 1 ? ['escalated', 'resumed'] : ['resumed'])
    met.add(kinds.join())
    expect(await suspensionTimeout.runOnce(sql)).toMatchObject({ processed: 0 })
    expect(await checkInvariants(sql)).toEqual([])
    await engine.executions.complete(fenceOf(await take(engine)))
  }
  expect(met.size).toBe(2)
})

test('of a signal and a cancel the cancel ends it, and an earlier signal has only resumed it', async () => {
  const { engine, sql, url } = await setup()
  const [other] = await engines(url, 1)
  for (let round = 1; round <= times; round += 1) {
    const [waiting] = await suspended(engine, 1)
    const { executionId } = waiting!
    const signal = () => deliver(engine, waiting!)
    const cancel = () => codeOf(other!.executions.cancel({ executionId }))
    const outcome = (await meet(url, [signal, cancel], { first: round % 2 })).join(' / ')
    expect(['resume_condition_satisfied / cancelled', 'target_not_signalable / cancelled']).toContain(outcome)
    expect((await engine.executions.describe(executionId))?.publicState).toBe('cancelled')
    expect(await endingCount(sql)).toBe(round)
    expect(await openCount(sql)).toBe(0)
    expect(await checkInvariants(sql)).toEqual([])
  }
})

test('of a signal and a deadline the deadline ends it, at once or after the signal has resumed it', async () => {
  const { engine, sql, url } = await setup()
  const other = await another(url)
  for (let round = 1; round <= times; round += 1) {
    const [waiting] = await suspended(engine, 1)
    await stored.executions.change(sql, { deadline_at_ms: 1 }, { lifecycle_phase: 'suspended' })
    const signal = () => deliver(engine, waiting!)
    const expire = async () => `${(await executionDeadline.runOnce(other)).processed} expired`
    const outcome = (await meet(url, [signal, expire], { first: round % 2 })).join(' / ')
    expect(outcome).toMatch(/^resume_condition_satisfied \/ [01] expired$|^target_not_signalable \/ 1 expired$/)
    await executionDeadline.runOnce(sql)
    expect((await engine.executions.describe(waiting!.executionId))?.publicState).toBe('expired')
    expect(await endingCount(sql)).toBe(round)
    expect(await openCount(sql)).toBe(0)
    expect(await checkInvariants(sql)).toEqual([])
  }
})

test('a point in time, a timeout and a signal at once wake it once', async () => {
  const { engine, sql, url } = await setup()
  const [one, two] = [await another(url), await another(url)]
  for (let round = 1; round <= times; round += 1) {
    const timeoutBehaviour = 'auto_resume_with_timeout_signal'
    const [waiting] = await suspended(engine, 1, { condition: satisfiedByAnything, timeout: '1h', timeoutBehaviour })
    await sql.script(itsTimeHasCome)
    await stored.suspensions.change(sql, { timeout_at_ms: 1 }, { timeout_at_ms: stored.present })
    const signal = () => deliver(engine, waiting!)
    const dutyRuns = [suspensionTimeout, suspensionWake].map(
      (duty, index) => async () => `${(await duty.runOnce([one, two][index]!)).processed}`,
    )
    await meet(url, [signal, ...dutyRuns], { first: round % 3 })
    expect(await resumedCount(sql)).toBe(round)
    expect(await checkInvariants(sql)).toEqual([])
    await engine.executions.complete(fenceOf(await take(engine)))
  }
})

test('a key is rotated while tokens are created and used: within the grace each of them counts', async () => {
  const { engine, url } = await setup()
  const [rotator] = await engines(url, 1)
  for (let round = 1; round <= times; round += 1) {
    const rotating = rotate(rotator!, '1h')
    const waiting = await suspended(engine, 4)
    await rotating
    const effects = await Promise.all([...waiting.map((each) => deliver(engine, each)), rotate(rotator!, '1h')])
    expect(effects.slice(0, 4)).toEqual(waiting.map(() => 'resume_condition_satisfied'))
    for (let count = 0; count < 4; count += 1) await engine.executions.complete(fenceOf(await take(engine)))
  }
})

test('a key that is rotated without grace: its token counts before or not at all', async () => {
  const { engine, sql, url } = await setup()
  const [rotator] = await engines(url, 1)
  for (let round = 1; round <= times; round += 1) {
    const [waiting] = await suspended(engine, 1)
    const [effect] = await Promise.all([deliver(engine, waiting!), rotate(rotator!, 0)])
    expect(['resume_condition_satisfied', 'invalid_token']).toContain(effect)
    const { publicState } = (await engine.executions.describe(waiting!.executionId))!
    expect(publicState).toBe(effect === 'invalid_token' ? 'suspended' : 'resumable')
    await engine.executions.cancel({ executionId: waiting!.executionId })
  }
  expect(await checkInvariants(sql)).toEqual([])
})

/** Some moments later: so many round trips, or none. */
async function after(sql: Sql, count: number): Promise<void> {
  for (let done = 0; done < count; done += 1) await sql.script('select')
}

async function rotate({ signingKeys }: Engine, grace: string | number): Promise<string> {
  return (await signingKeys.rotate({ grace: grace as '1h' })).kind
}

async function resumedCount(sql: Sql): Promise<number> {
  return (await stored.events.all(sql, { event_type: 'resumed' })).length
}

async function endingCount(sql: Sql): Promise<number> {
  return (await stored.endings.all(sql)).length
}

/** Suspensions and waitpoints that nothing has closed. */
async function openCount(sql: Sql): Promise<number> {
  const suspensionCount = await stored.suspensions.count(sql, { closed_at_ms: null })
  return suspensionCount + (await stored.waitpoints.count(sql, `state <> 'closed'`))
}
