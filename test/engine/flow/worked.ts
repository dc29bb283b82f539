// A worker of a test, which claims members by their kind and ends them.
import type { Claim, Engine } from '../../../src/index.ts'
import type { ExecutionId } from '../../../src/model/id.ts'

const worker = { workerId: 'worker', workerInstanceId: 'worker-1', lanes: ['default'] }

/** Claims the one member of a kind, as soon as it is ready. */
export async function hold(engine: Engine, kind: string): Promise<Claim> {
  const { claims } = await engine.executions.claim({ ...worker, kinds: [kind], wait: '1m' })
  const [claim] = claims
  if (claim === undefined) throw new Error(`no execution of the kind ${kind} is ready`)
  return claim
}

export function fenceOf({ executionId, leaseId, leaseEpoch }: Claim) {
  return { executionId, leaseId, leaseEpoch }
}

export async function complete(engine: Engine, kind: string, result?: string): Promise<ExecutionId> {
  const claim = await hold(engine, kind)
  const bytes = result === undefined ? {} : { result: Buffer.from(result), resultEncoding: 'text' }
  await engine.executions.complete({ ...fenceOf(claim), ...bytes })
  return claim.executionId
}

export async function fail(engine: Engine, kind: string): Promise<ExecutionId> {
  const claim = await hold(engine, kind)
  await engine.executions.fail({ ...fenceOf(claim), reason: 'broke' })
  return claim.executionId
}
