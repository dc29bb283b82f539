// One execution, created and claimed by a worker.
import type { Engine } from '../../../src/engine/contract.ts'
import type { Claim } from '../../../src/engine/execution/claim.ts'
import type { ClaimRequest } from '../../../src/engine/execution/claimer.ts'
import type { CreateRequest } from '../../../src/engine/execution/create-request.ts'

const worker = { workerId: 'worker', workerInstanceId: 'worker-1', lanes: ['default'] }

export async function claimNext(engine: Engine, request: Partial<ClaimRequest> = {}): Promise<Claim | undefined> {
  const { claims } = await engine.executions.claim({ ...worker, ...request })
  return claims[0]
}

export async function claimed(
  engine: Engine,
  create: Partial<CreateRequest> = {},
  claim: Partial<ClaimRequest> = {},
): Promise<Claim> {
  const { executionId } = await engine.executions.create({ kind: 'anything', ...create })
  const taken = await claimNext(engine, claim)
  if (taken?.executionId !== executionId) throw new Error('another execution was claimed')
  return taken
}

export function fenceOf({ executionId, leaseId, leaseEpoch }: Claim) {
  return { executionId, leaseId, leaseEpoch }
}
