// A cancel notifies the holder, which checks its leases at once.
import { expect, inject, test } from 'vitest'
import { openEngine, type OpenEngine } from '../../src/engine/engine.ts'
import type { ExecutionId } from '../../src/model/id.ts'
import { setup, type Fixture } from '../support/setup.ts'
import { holding } from './holding.ts'

const fast = { interval: 10 }

test("a cancel in the same process costs the holder one check of all leases, and the cancel of another's run none", async () => {
  const fixture = await setup()
  const { open, checks, held, ids } = await holding(fixture, 3)
  await cancelOfAnother(open, fixture)
  await open.engine.executions.cancel({ executionId: ids[1]! })
  await expect.poll(() => held[1]!.isLost, fast).toBe(true)
  expect(checks).toEqual([3])
  expect(held.map((lease) => lease.isLost)).toEqual([false, true, false])
})

test('one check covers all runs that are cancelled together', async () => {
  const fixture = await setup()
  const { open, checks, held, ids } = await holding(fixture, 5)
  await open.engine.executions.cancelMany(ids.map((executionId) => ({ executionId })))
  await expect.poll(() => held.every((lease) => lease.isLost), fast).toBe(true)
  expect(checks).toEqual([5])
})

test('a run that receives a stop request and a run whose lease is revoked cost one check each', async () => {
  const fixture = await setup()
  const { open, checks, held, ids } = await holding(fixture, 2)
  await open.engine.executions.cancel({ executionId: ids[0]!, grace: '1h' })
  await expect.poll(() => held[0]!.stop.aborted, fast).toBe(true)
  expect(held[0]!.isLost).toBe(false)
  await open.engine.leases.revoke({ executionId: ids[1]! })
  await expect.poll(() => held[1]!.isLost, fast).toBe(true)
  expect(checks).toEqual([2, 2])
})

test.runIf(inject('backend') === 'postgres')('a cancel in another process costs the holder one check', async () => {
  const fixture = await setup()
  const { checks, held, ids } = await holding(fixture, 3)
  const other = openEngine(fixture.sql)
  await cancelOfAnother(other, fixture)
  await other.engine.executions.cancel({ executionId: ids[2]! })
  await expect.poll(() => held[2]!.isLost, fast).toBe(true)
  expect(checks).toEqual([3])
})

/** Also running, on another holder. */
async function cancelOfAnother({ engine }: OpenEngine, { engine: theirs }: Fixture): Promise<ExecutionId> {
  const { executionId } = await theirs.executions.create({ kind: 'theirs', lane: 'theirs' })
  const identity = { workerId: 'other', workerInstanceId: 'other', lanes: ['theirs'], leaseTtl: 60_000 }
  await theirs.executions.claim({ ...identity, max: 1 })
  await engine.executions.cancel({ executionId })
  return executionId
}
