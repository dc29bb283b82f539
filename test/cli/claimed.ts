import type { Engine } from '../../src/engine/contract.ts'
import type { Fence } from '../../src/engine/transition/fence.ts'
import type { ExecutionId } from '../../src/model/id.ts'

/** Claims every waiting execution, and returns the lease on this one. */
export async function claimed(engine: Engine, id: ExecutionId): Promise<Fence> {
  const worker = { workerId: 'test', workerInstanceId: 'test-1', lanes: ['default'] }
  const { claims } = await engine.executions.claim({ ...worker, max: 100 })
  const { executionId, leaseId, leaseEpoch } = claims.find((claim) => claim.executionId === id)!
  return { executionId, leaseId, leaseEpoch }
}
