// A claim for a client that may disconnect while it waits. Executions that were claimed for a lost client are released
// at once.
import type { Fields } from '../api/call.ts'
import type { Engine } from '../engine/contract.ts'
import { bySets } from '../model/sets.ts'
import type { ClaimRequest, ClaimResult } from '../engine/execution/claimer.ts'

export async function claimOrGiveBack(engine: Engine, fields: Fields, gone: AbortSignal): Promise<ClaimResult> {
  const result = await engine.executions.claim(fields as unknown as ClaimRequest)
  if (!gone.aborted || result.claims.length === 0) return result
  const reason = 'the worker hung up before it heard of its claim'
  const requests = result.claims.map(({ executionId, leaseId, leaseEpoch }) => ({
    executionId,
    leaseId,
    leaseEpoch,
    reason,
  }))
  await bySets(requests, (set) => engine.executions.releaseMany(set))
  return { claims: [], more: result.more }
}
