// All operations at once, on overlapping sets, in random order: there is never a deadlock.
import { randomInt } from 'node:crypto'
import { expect, test } from 'vitest'
import { checkInvariants } from '../../src/engine/invariants.ts'
import type { Fence } from '../../src/engine/transition/fence.ts'
import { formatExecutionId } from '../../src/model/id.ts'
import type { Sql } from '../../src/sql/sql.ts'
import { rows } from '../support/raw.ts'
import { setup } from '../support/setup.ts'
import { movesOfDelayed, movesOfEnded, movesOfHeld, movesOfReady, movesOfSuspended } from './moves.ts'
import { watchedEngine, type WatchedEngine } from './watched-engine.ts'

const moves = [...movesOfHeld, ...movesOfReady, ...movesOfDelayed, ...movesOfSuspended, ...movesOfEnded]
const policy = { retry: { attempts: 100, backoff: { type: 'fixed', delayMs: 0 } }, maxReplayCount: 1000 } as const

test('claims, writes, signals, cancels, replays and duties of overlapping sets never deadlock', async () => {
  const { engine, sql, url } = await setup()
  const sides = await Promise.all(Array.from({ length: 4 }, () => watchedEngine(url)))
  await engine.executions.createMany(Array.from({ length: 40 }, () => ({ kind: 'k', policy })))
  for (let round = 1; round <= 50; round += 1) {
    await sql.script(someAreDue)
    const fences = await lastFences(sql)
    const said = await Promise.all(sides.map((side) => actAtRandom(side, fences)))
    expect(said.flat()).not.toContain('database_error')
    expect(await checkInvariants(sql)).toEqual([])
  }
  expect(sides.map((side) => side.deadlockCount())).toEqual(sides.map(() => 0))
  // They did compete: writes of all kinds exist.
  const kinds = await rows(sql, 'select distinct event_type from flowfabric.ff_event')
  expect(kinds.length).toBeGreaterThanOrEqual(8)
})

const someAreDue = `
  update flowfabric.ff_lease set expires_at_ms = 1 where random() < 0.2;
  update flowfabric.ff_exec_core set attempt_deadline_at_ms = 1 where lifecycle_phase = 'active' and random() < 0.2;
  update flowfabric.ff_exec_core set deadline_at_ms = 1 where lifecycle_phase <> 'terminal' and random() < 0.2;
  update flowfabric.ff_exec_core set delay_until_ms = 1 where delay_until_ms is not null and random() < 0.5;
  update flowfabric.ff_suspension_current set timeout_at_ms = 1, timeout_behavior = 'auto_resume_with_timeout_signal'
    where closed_at_ms is null and random() < 0.3;
  update flowfabric.ff_suspension_current set wake_at_ms = 1 where closed_at_ms is null and random() < 0.3;
  update flowfabric.ff_grant set expires_at_ms = 1`

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
  const found = await rows(
    sql,
    `select execution_id, partition_key, coalesce(lease_id, execution_id) as lease_id, greatest(lease_epoch, 1) as epoch
     from flowfabric.ff_exec_core`,
  )
  return found.map((row) => ({
    executionId: formatExecutionId(row['partition_key'] as number, row['execution_id'] as string),
    leaseId: row['lease_id'] as string,
    leaseEpoch: row['epoch'] as number,
  }))
}
