import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { createEngine } from '../../src/engine/engine.ts'
import { leaseExpiry } from '../../src/engine/duties/lease-expiry.ts'
import { checkInvariants } from '../../src/engine/invariants.ts'
import type { Fence } from '../../src/engine/transition/fence.ts'
import type { ExecutionId } from '../../src/model/id.ts'
import { openEmbedded } from '../../src/sql/pglite.ts'
import { fenceOf, worker } from '../engine/execution/holder.ts'
import { startChild } from '../support/child.ts'
import { refusal } from '../support/refusal.ts'

test('an embedded process that is killed leaves every acknowledged write, and its leases expire', async () => {
  const directory = await mkdtemp(path.join(tmpdir(), 'flowfabric-crash-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  const child = startChild(new URL('./embedded.child.ts', import.meta.url), { args: [`file:${directory}`] })
  const { fences } = (await child.next()) as { fences: Fence[] }
  const created: ExecutionId[] = []
  while (created.length < 20) created.push(((await child.next()) as { created: ExecutionId }).created)
  await child.kill('SIGKILL')

  const sql = await openEmbedded({ directory, schema: 'flowfabric' })
  onTestFinished(() => sql.close())
  const { executions } = createEngine(sql)
  const states = (ids: readonly string[]) =>
    Promise.all(ids.map(async (id) => (await executions.describe(id))?.publicState))
  const held = fences.map(({ executionId }) => executionId)
  expect(await states(created)).toEqual(created.map(() => 'waiting'))
  expect(await states(held.slice(0, 5))).toEqual(['completed', 'completed', 'waiting', 'delayed', 'cancelled'])
  expect(await states(held.slice(5))).toEqual(['active', 'active', 'active'])
  expect(await checkInvariants(sql)).toEqual([])

  // The dead process's leases are of real time, and expire by themselves.
  const expire = async () => {
    await leaseExpiry.runOnce(sql)
    return states(held.slice(5))
  }
  await expect.poll(expire).toEqual(['waiting', 'waiting', 'waiting'])
  await refusal('lease_expired', executions.complete(fences[5]!))
  const { claims } = await executions.claim({ ...worker, max: 1000 })
  const reclaimed = claims.filter((claim) => claim.reason === 'reclaim')
  expect(reclaimed.map((claim) => claim.executionId).toSorted()).toEqual(held.slice(5).toSorted())
  for (const claim of reclaimed) expect(claim).toMatchObject({ attemptIndex: 0, leaseEpoch: 2 })
  const answers = await executions.completeMany(claims.map(fenceOf))
  expect(answers.every((answer) => answer.kind === 'completed')).toBe(true)
  expect(await states([...created, ...held.slice(5)])).toEqual(Array(created.length + 3).fill('completed'))
  expect(await checkInvariants(sql)).toEqual([])
})
