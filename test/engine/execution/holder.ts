// Setup for tests about leased executions, and the effects of time, written by SQL.
import { expect } from 'vitest'
import type { Engine } from '../../../src/engine/contract.ts'
import type { Claim } from '../../../src/engine/execution/claim.ts'
import type { ClaimRequest } from '../../../src/engine/execution/claimer.ts'
import type { CreateRequest } from '../../../src/engine/execution/create-request.ts'
import type { Fence } from '../../../src/engine/transition/fence.ts'
import { parseExecutionId, type ExecutionId } from '../../../src/model/id.ts'
import type { Sql } from '../../../src/sql/sql.ts'
import * as stored from '../../support/stored.ts'

export const worker = { workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'] } satisfies ClaimRequest

/** Claims one execution that must exist. */
export async function take(engine: Engine, request: Partial<ClaimRequest> = {}): Promise<Claim> {
  const { claims } = await engine.executions.claim({ ...worker, ...request })
  expect(claims).toHaveLength(1)
  return claims[0]!
}

/** Creates an execution and claims it. */
export async function held(engine: Engine, create: Partial<CreateRequest> = {}): Promise<Claim> {
  const { executionId } = await engine.executions.create({ kind: 'k', ...create })
  const claim = await take(engine)
  expect(claim.executionId).toBe(executionId)
  return claim
}

export function fenceOf({ executionId, leaseId, leaseEpoch }: Fence): Fence {
  return { executionId, leaseId, leaseEpoch }
}

/** The fence of the last holder, for executions that the factory created. */
export async function lastFence(sql: Sql, executionId: ExecutionId): Promise<Fence> {
  const { uuid } = parseExecutionId(executionId)
  const [row] = await stored.executions.pick(sql, ['lease_id', 'lease_epoch'], { execution_id: uuid })
  return { executionId, leaseId: row!['lease_id'] as string, leaseEpoch: row!['lease_epoch'] }
}

export async function leaseEvents(sql: Sql): Promise<unknown[]> {
  const found = await stored.leaseEvents.pick(sql, ['event_type'])
  return found.map((row) => row['event_type'])
}
