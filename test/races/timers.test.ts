// Timers against other operations at the same moment: on one execution, fifty times each.
import { expect, onTestFinished, test } from 'vitest'
import { attemptTimeout } from '../../src/engine/duties/attempt-timeout.ts'
import { executionDeadline } from '../../src/engine/duties/execution-deadline.ts'
import { leaseExpiry, takeExpiredLeases } from '../../src/engine/duties/lease-expiry.ts'
import { checkInvariants } from '../../src/engine/invariants.ts'
import { parseExecutionId } from '../../src/model/id.ts'
import { openPostgres } from '../../src/sql/postgres.ts'
import type { Sql } from '../../src/sql/sql.ts'
import { fenceOf, held, take } from '../engine/execution/holder.ts'
import { setup } from '../support/setup.ts'
import { codeOf, meet } from './meeting.ts'
import * as stored from '../support/stored.ts'
import { nowMs } from '../support/changes.ts'

const times = 50

async function another(url: string): Promise<Sql> {
  const sql = await openPostgres({ url, schema: 'flowfabric' })
  onTestFinished(() => sql.close())
  return sql
}

test('a renewal at the moment of the expiry keeps the lease, or the lease expires; never both', async () => {
  const { engine, sql, clock, url } = await setup()
  const other = await another(url)
  for (let round = 1; round <= times; round += 1) {
    const claim = await held(engine)
    const fence = fenceOf(claim)
    const { uuid } = parseExecutionId(claim.executionId)
    await stored.leases.change(sql, `expires_at_ms = ${nowMs} + 15`)
    const [lease] = await stored.leases.pick(sql, ['expires_at_ms'])
    const expiresAt = lease!['expires_at_ms']
    const renewal = async () => {
      const [answer] = (await engine.executions.renew({ workerInstanceId: 'w-1', leases: [fence] })).leases
      return answer!.kind === 'lost' ? answer!.error.code : answer!.kind
    }
    // The duty read the lease as expired, and locks it at this moment.
    const expire = async () => `${(await takeExpiredLeases(other, [uuid])).processed} expired`
    // Opened a little before, at and after the last moment.
    const untilExpiry = async () => {
      while ((await clock.now()) < expiresAt - 1 + (round % 3)) await sql.script('select')
    }
    const outcome = await meet(url, [renewal, expire], { first: round % 2, beforeOpening: untilExpiry })
    // In exactly that millisecond it cannot be renewed and does not expire yet.
    expect(['renewed / 0 expired', 'lease_expired / 1 expired', 'lease_expired / 0 expired']).toContain(
      outcome.join(' / '),
    )
    expect(await checkInvariants(sql)).toEqual([])
    if (outcome[0] === 'renewed') {
      expect(await engine.executions.complete(fence)).toMatchObject({ kind: 'completed' })
      continue
    }
    if (outcome[1] === '0 expired') await expect.poll(() => leaseExpiry.runOnce(sql)).toMatchObject({ processed: 1 })
    const successor = await take(engine)
    expect(successor).toMatchObject({ executionId: claim.executionId, leaseEpoch: 2, reason: 'reclaim' })
    await engine.executions.complete(fenceOf(successor))
  }
  expect(await endings(sql)).toHaveLength(times)
})

test('of a deadline and a complete one wins, the other is refused, and one event is written', async () => {
  const { engine, sql, url } = await setup()
  const other = await another(url)
  for (let round = 1; round <= times; round += 1) {
    const claim = await held(engine)
    await stored.executions.change(sql, { deadline_at_ms: 1 }, { lifecycle_phase: 'active' })
    const complete = () => codeOf(engine.executions.complete(fenceOf(claim)))
    const expire = async () => `${(await executionDeadline.runOnce(other)).processed} expired`
    const outcome = (await meet(url, [complete, expire], { first: round % 2 })).join(' / ')
    expect(['completed / 0 expired', 'execution_not_active / 1 expired']).toContain(outcome)
    const ended = outcome.startsWith('completed') ? 'completed' : 'expired'
    expect((await engine.executions.describe(claim.executionId))?.publicState).toBe(ended)
    expect(await endings(sql)).toHaveLength(round)
    expect(await checkInvariants(sql)).toEqual([])
  }
})

const meetingDuties = [
  [leaseExpiry, leaseExpiry],
  [attemptTimeout, attemptTimeout],
  [executionDeadline, executionDeadline],
  [leaseExpiry, attemptTimeout],
  [leaseExpiry, executionDeadline],
  [attemptTimeout, executionDeadline],
  [leaseExpiry, attemptTimeout, executionDeadline],
].map((duties) => [duties.map((duty) => duty.name).join(' and '), duties] as const)

test.each(meetingDuties)('%s at once, on one execution: one of them ends the lease', async (_, duties) => {
  const { engine, sql, url } = await setup()
  const connections = await Promise.all(duties.map(() => another(url)))
  for (let round = 1; round <= times; round += 1) {
    const { executionId } = await held(engine)
    await stored.leases.change(sql, { expires_at_ms: 1 })
    await stored.executions.change(sql, { attempt_deadline_at_ms: 1, deadline_at_ms: 1 }, { lifecycle_phase: 'active' })
    const dutyRuns = duties.map((duty, index) => () => duty.runOnce(connections[index]!))
    const runs = await meet(url, dutyRuns, { first: round % duties.length })
    expect(runs.map((run) => run.errors)).toEqual(duties.map(() => 0))
    expect(await checkInvariants(sql)).toEqual([])
    expect(await stored.leases.all(sql)).toEqual([])
    expect(await stored.leaseEvents.all(sql, { event_type: 'expired' })).toHaveLength(round)
    // Whichever ended the lease, the deadline has passed.
    await executionDeadline.runOnce(sql)
    expect((await engine.executions.describe(executionId))?.publicState).toBe('expired')
    expect(await endings(sql)).toHaveLength(round)
  }
})

function endings(sql: Sql): Promise<unknown[]> {
  return stored.endings.all(sql)
}
