// An execution that waits for an answer, and a link to it.
import { expect } from 'vitest'
import type { Engine } from '../../src/engine/contract.ts'
import type { CreateRequest } from '../../src/engine/execution/create-request.ts'
import type { Condition } from '../../src/model/condition.ts'
import type { ExecutionId, WaitpointId } from '../../src/model/id.ts'

export interface Waiting {
  readonly executionId: ExecutionId
  readonly waitpointId: WaitpointId
  readonly token: string
}

export async function waitingFor(
  engine: Engine,
  key: string,
  traits: Partial<CreateRequest> = {},
  condition: Condition = { kind: 'signal', waitpoint: key },
): Promise<Waiting> {
  await engine.executions.create({ kind: 'deploy', ...traits })
  const { claims } = await engine.executions.claim({ workerId: 'w', workerInstanceId: 'w-1', lanes: ['default'] })
  const { executionId, leaseId, leaseEpoch } = claims[0]!
  const parked = await engine.executions.suspend({
    executionId,
    leaseId,
    leaseEpoch,
    condition,
    reason: 'waiting_for_approval',
  })
  if (parked.kind !== 'suspended') return expect.unreachable(parked.kind)
  const { waitpointId, token } = parked.waitpoints[0]!
  return { executionId, waitpointId, token: token! }
}

export async function linkTo(engine: Engine, { waitpointId }: Waiting, traits: object = {}): Promise<URL> {
  const base = 'http://localhost/approve'
  const asked = { waitpointId, base, action: 'approved', refusal: 'rejected', expiresIn: '1h', ...traits } as const
  return new URL((await engine.waitpoints.link(asked)).url)
}
