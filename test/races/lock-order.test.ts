// All operations at once, on overlapping sets, in random order: there is never a deadlock.
import { randomInt } from 'node:crypto'
import { expect, test } from 'vitest'
import { checkInvariants } from '../../src/engine/invariants.ts'
import type { Fence } from '../../src/engine/transition/fence.ts'
import { formatExecutionId } from '../../src/model/id.ts'
import type { Sql } from '../../src/sql/sql.ts'
import { setup } from '../support/setup.ts'
import { movesOfDelayed, movesOfEnded, movesOfHeld, movesOfReady, movesOfSuspended } from './moves.ts'
import { watchedEngine, type WatchedEngine } from './watched-engine.ts'
import * as stored from '../support/stored.ts'

const moves = [...movesOfHeld, ...movesOfReady, ...movesOfDelayed, ...movesOfSuspended, ...movesOfEnded]
const policy = { retry: { attempts: 100, backoff: { type: 'fixed', delayMs: 0 } }, maxReplayCount: 1000 } as const

test('claims, writes, signals, cancels, replays and duties of overlapping sets never deadlock', async () => {
  const { engine, sql, url } = await setup()
  const sides = await Promise.all(Array.from({ length: 4 }, () => watchedEngine(url)))
  await engine.executions.createMany(Array.from({ length: 40 }, () => ({ kind: 'k', policy })))
  for (let round = 1; round <= 50; round += 1) {
    await stored.leases.change(sql, { expires_at_ms: 1 }, 'random() < 0.2')
    await stored.executions.change(sql, { attempt_deadline_at_ms: 1 }, `lifecycle_phase = 'active' and random() < 0.2`)
    await stored.executions.change(sql, { deadline_at_ms: 1 }, `lifecycle_phase <> 'terminal' and random() < 0.2`)
    await stored.executions.change(sql, { delay_until_ms: 1 }, 'delay_until_ms is not null and random() < 0.5')
    await stored.suspensions.change(
      sql,
      { timeout_at_ms: 1, timeout_behavior: 'auto_resume_with_timeout_signal' },
      'closed_at_ms is null and random() < 0.3',
    )
    await stored.suspensions.change(sql, { wake_at_ms: 1 }, 'closed_at_ms is null and random() < 0.3')
    await stored.grants.change(sql, { expires_at_ms: 1 })
    const fences = await lastFences(sql)
    const said = await Promise.all(sides.map((side) => actAtRandom(side, fences)))
    expect(said.flat()).not.toContain('database_error')
    expect(await checkInvariants(sql)).toEqual([])
  }
  expect(sides.map((side) => side.deadlockCount())).toEqual(sides.map(() => 0))
  // They did compete: writes of all kinds exist.
  const kinds = new Set((await stored.events.pick(sql, ['event_type'])).map((row) => row.event_type))
  expect(kinds.size).toBeGreaterThanOrEqual(8)
})

async function actAtRandom(side: WatchedEngine, fences: readonly Fence[]): Promise<string[]> {
  const said: string[] = []
  for (let turn = 0; turn < 3; turn += 1) {
    const move = moves[randomInt(moves.length)]!
    said.push(...(await move.act(side, someOf(fences))))
  }
  return said
}

/** About half of them, in any order. */
function someOf(fences: readonly Fence[]): Fence[] {
  return fences
    .map((fence) => ({ fence, place: randomInt(1000) }))
    .filter(({ place }) => place % 2 === 0)
    .toSorted((one, other) => one.place - other.place)
    .map(({ fence }) => fence)
}

/** Fences of the current or last holders; for executions that were never claimed, a lease that never existed. */
async function lastFences(sql: Sql): Promise<Fence[]> {
  return (await stored.executions.all(sql)).map((row) => ({
    executionId: formatExecutionId(row.partition_key, row.execution_id),
    leaseId: row.lease_id ?? row.execution_id,
    leaseEpoch: Math.max(row.lease_epoch, 1),
  }))
}
