// Every two moves that can compete for the same execution, fifty times each: two engines act on the same twenty-five in
// opposite order, and each is the first at the gate once. In every order: there is no deadlock, the invariants hold,
// every answer was true, and every open execution reaches its end.
import { expect, test } from 'vitest'
import { cancelBacklog } from '../../src/engine/duties/cancel-backlog.ts'
import { dispatch } from '../../src/engine/duties/dispatch.ts'
import { executionDeadline } from '../../src/engine/duties/execution-deadline.ts'
import { leaseExpiry } from '../../src/engine/duties/lease-expiry.ts'
import { suspensionTimeout } from '../../src/engine/duties/suspension-timeout.ts'
import { checkInvariants } from '../../src/engine/invariants.ts'
import type { CreateRequest } from '../../src/engine/execution/create-request.ts'
import type { Fence } from '../../src/engine/transition/fence.ts'
import { parseExecutionId } from '../../src/model/id.ts'
import { transitionsBetween, vectorText } from '../../src/model/transition-walk.ts'
import { fenceOf, worker } from '../engine/execution/holder.ts'
import { watchVectors } from '../support/watch-vectors.ts'
import { setup } from '../support/setup.ts'
import { meet } from './meeting.ts'
import { movesOfDelayed, movesOfEnded, movesOfHeld, movesOfReady, movesOfSuspended, type Move } from './moves.ts'
import { satisfiedByAnything, suspended } from './suspended.ts'
import { watchedEngine, type WatchedEngine } from './watched-engine.ts'
import { patience } from '../support/patience.ts'
import * as stored from '../support/stored.ts'
import { expireLeases, promoteAll } from '../support/changes.ts'

const size = 25
const policy = { retry: { attempts: 3, backoff: { type: 'fixed', delayMs: 0 } } } as const

const given = {
  ready: (side: WatchedEngine) => created(side, { kind: 'k', policy }),
  delayed: (side: WatchedEngine) => created(side, { kind: 'k', policy, delay: '1h' }),
  async held(side: WatchedEngine): Promise<Fence[]> {
    await given.ready(side)
    const { claims } = await side.engine.executions.claim({ ...worker, max: size, leaseTtl: '1h' })
    expect(claims).toHaveLength(size)
    return claims.map(fenceOf)
  },
  async suspended({ engine }: WatchedEngine): Promise<Fence[]> {
    return (await suspended(engine, size, { condition: satisfiedByAnything })).map(({ fence }) => fence)
  },
  async ended(side: WatchedEngine): Promise<Fence[]> {
    const fences = await given.held(side)
    await side.engine.executions.completeMany(fences)
    return fences
  },
}

/** Fences with a lease that never existed: the engine refuses them. */
async function created({ engine }: WatchedEngine, request: CreateRequest): Promise<Fence[]> {
  const made = await engine.executions.createMany(Array.from({ length: size }, () => request))
  return made.map((answer) => ({
    executionId: answer.kind === 'refused' ? expect.unreachable() : answer.executionId,
    leaseId: '0190a000-0000-7000-8000-000000000001',
    leaseEpoch: 1,
  }))
}

const beginnings = {
  held: movesOfHeld,
  ready: movesOfReady,
  delayed: movesOfDelayed,
  suspended: movesOfSuspended,
  ended: movesOfEnded,
}
const table = Object.entries(beginnings).flatMap(([beginning, moves]) =>
  // Each pair once, and each move beside itself.
  moves.map((one, index) => [one.name, beginning as keyof typeof beginnings, one, moves.slice(index)] as const),
)

test.each(table)(
  '%s of executions that are %s, beside every other move',
  async (_, beginning, one, others) => {
    const { url, owner } = await setup()
    const changes = await watchVectors(owner)
    const sides = [await watchedEngine(url), await watchedEngine(url)] as const
    for (const other of others) {
      for (const first of [0, 1]) {
        const fences = await given[beginning](sides[0])
        await race(url, sides, [one, other], fences, first)
        await bringToEnd(sides[0])
      }
    }
    expect(sides.map((side) => side.deadlockCount())).toEqual([0, 0])
    const unknown = (await changes()).filter(({ from, to }) => transitionsBetween(from, to).length === 0)
    expect(unknown.map(({ from, to }) => `${vectorText(from)} -> ${vectorText(to)}`)).toEqual([])
  },
  patience(90_000),
)

async function race(
  url: string,
  [left, right]: readonly [WatchedEngine, WatchedEngine],
  [one, other]: readonly [Move, Move],
  fences: readonly Fence[],
  first: number,
): Promise<void> {
  for (const before of new Set([one.before, other.before])) await before?.(left.engine, fences)
  for (const text of new Set([one.given, other.given])) if (text !== undefined) await left.sql.script(text)
  const reversed = fences.toReversed()
  const [answers, others] = await meet(
    url,
    [() => one.act(left, fences), async () => (await other.act(right, reversed)).toReversed()],
    { first },
  )
  expect(await checkInvariants(left.sql), `${one.name} beside ${other.name}`).toEqual([])
  const states = await statesOf(left, fences)
  fences.forEach((_, index) => {
    const said = [answers![index], others![index]]
    const story = `${one.name}: ${said[0]}, ${other.name}: ${said[1]}, it is ${states[index]}`
    expect(
      said.some((word) => faults.includes(word)),
      story,
    ).toBe(false)
    if (said.includes('replayed')) return
    if (said.includes('completed')) expect(states[index], story).toBe('completed')
    if (said.includes('cancelled')) expect(states[index], story).toBe('cancelled')
  })
}

// The gate is open: no row stays locked for long, and nothing is missing.
const faults: readonly unknown[] = ['contended', 'database_error', 'internal_error', 'execution_not_found']

async function statesOf({ sql }: WatchedEngine, fences: readonly Fence[]): Promise<(string | undefined)[]> {
  const found = await stored.executions.pick(sql, ['execution_id', 'public_state'])
  const states = new Map(found.map((row) => [row['execution_id'], row['public_state']]))
  return fences.map(({ executionId }) => states.get(parseExecutionId(executionId).uuid))
}

/**
 * Advances the clock until every lease has expired and every delay is over; then a worker runs the remaining
 * executions.
 */
async function bringToEnd({ engine, sql }: WatchedEngine): Promise<void> {
  await expireLeases(sql)
  await stored.suspensions.change(
    sql,
    { timeout_at_ms: 1, timeout_behavior: 'fail', escalated_at_ms: null },
    { closed_at_ms: null },
  )
  for (const duty of [executionDeadline, leaseExpiry, suspensionTimeout]) await duty.runOnce(sql)
  await promoteAll(sql)
  const live = () => stored.executions.all(sql, `lifecycle_phase <> 'terminal'`)
  // After the endings the engine still cancels children. It passes over locked rows, and so does the claim.
  for (let round = 0; round < 20 && (await live()).length > 0; round++) {
    const { claims } = await engine.executions.claim({ ...worker, max: 100 })
    await engine.executions.completeMany(claims.map(fenceOf))
    for (const duty of [dispatch, cancelBacklog]) await duty.runOnce(sql)
  }
  expect(await live()).toEqual([])
}
