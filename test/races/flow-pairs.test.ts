// Every two moves on a flow, beside each other, on the same flow and in opposite order: there is no deadlock, the invariants
// hold, and all remaining work ends.
import { expect, test } from 'vitest'
import { checkInvariants } from '../../src/engine/invariants.ts'
import { cancelBacklog } from '../../src/engine/duties/cancel-backlog.ts'
import { dispatch } from '../../src/engine/duties/dispatch.ts'
import { leaseExpiry } from '../../src/engine/duties/lease-expiry.ts'
import { fenceOf, worker } from '../engine/execution/holder.ts'
import { graphOf, submit } from '../engine/flow/walk.ts'
import { setup } from '../support/setup.ts'
import { flowMoves, type FlowMove, type Members } from './flow-moves.ts'
import { watchedEngine, type WatchedEngine } from './watched-engine.ts'
import { patience } from '../support/patience.ts'
import * as stored from '../support/stored.ts'
import { isLive } from '../support/reads.ts'

const faults = ['database_error', 'internal_error', 'contended']

/** Some members have ended, some are leased, some wait, some are blocked; and one is an inner flow. */
async function given({ engine }: WatchedEngine): Promise<Members> {
  const names = Array.from({ length: 6 }, (_, index) => index)
  const inner = { kind: 'inner', ...graphOf({ edges: ['x > y'] }) }
  const flow = await submit(
    engine,
    {
      edges: names
        .flatMap((index) => [`a${index} > b${index}`, `b${index} > z optional`])
        .concat('a0 > in', 'in > z optional'),
      members: [{ name: 'in', flow: inner }],
      groups: { z: { kind: 'quorum', k: 3 } },
    },
    { stayOpen: true },
  )
  const { claims } = await engine.executions.claim({ ...worker, max: 4, leaseTtl: '1h' })
  const fences = claims.map(fenceOf)
  await engine.executions.complete(fences[0]!)
  const { flowId, innerFlows, members } = flow
  return { flowId, innerFlowId: innerFlows['in']!.flowId, ids: Object.values(members), fences: fences.slice(1) }
}

test.each(flowMoves.map((one, index) => [one.name, one, flowMoves.slice(index)] as const))(
  '%s, beside every other move',
  async (_, one, others) => {
    const { sql, url } = await setup()
    const sides = [await watchedEngine(url), await watchedEngine(url)] as const
    for (const other of others) {
      for (const first of [0, 1]) {
        await race(sides, [one, other], await given(sides[0]), first)
        await bringToEnd(sides[0])
        expect(await checkInvariants(sql), `${one.name} beside ${other.name}, at the end`).toEqual([])
      }
    }
    expect(sides.map((side) => side.deadlockCount())).toEqual([0, 0])
  },
  patience(120_000),
)

async function race(
  [left, right]: readonly [WatchedEngine, WatchedEngine],
  [one, other]: readonly [FlowMove, FlowMove],
  members: Members,
  first: number,
): Promise<void> {
  const reversed = { ...members, fences: members.fences.toReversed() }
  // Without a gate: some of them begin with the flow, some with an execution, and some write nothing.
  const acts = [() => one.act(left, members), () => other.act(right, reversed)]
  const said = await Promise.all((first === 0 ? acts : acts.toReversed()).map((act) => act()))
  for (const word of said.flat()) expect(faults, `${one.name} beside ${other.name}`).not.toContain(word)
  expect(await checkInvariants(left.sql), `${one.name} beside ${other.name}`).toEqual([])
}

/** Gives all leases back, then runs all work until none is left. */
async function bringToEnd({ engine, sql }: WatchedEngine): Promise<void> {
  await stored.leases.change(sql, { expires_at_ms: 1 })
  for (let rounds = 0; await isLive(sql); rounds += 1) {
    expect(rounds, 'something is stranded').toBeLessThan(100)
    for (const duty of [leaseExpiry, dispatch, cancelBacklog]) await duty.runOnce(sql)
    const { claims } = await engine.executions.claim({ ...worker, max: 100, leaseTtl: '1h' })
    await engine.executions.completeMany(claims.map(fenceOf))
  }
}
