// Setup for a test about an execution that waits.
import type { Engine } from '../../../../src/engine/contract.ts'
import type { Claim } from '../../../../src/engine/execution/claim.ts'
import type { CreateRequest } from '../../../../src/engine/execution/create-request.ts'
import type { Suspended } from '../../../../src/engine/execution/suspend.ts'
import type { SuspendRequest } from '../../../../src/engine/waiting/suspension/request.ts'
import type { BoundWaitpoint } from '../../../../src/engine/waiting/waitpoint/tokens.ts'
import { expect } from 'vitest'
import { fenceOf, held } from '../../execution/holder.ts'

export interface WaitingExecution {
  /** The fence of its holder. */
  readonly claim: Claim
  readonly suspension: Suspended
  /** The primary waitpoint. */
  readonly waitpoint: BoundWaitpoint
}

/**
 * A new execution that its worker has suspended: on any signal to one waitpoint, unless the request names another
 * condition.
 */
export async function waiting(
  engine: Engine,
  request: Partial<SuspendRequest> = {},
  create: Partial<CreateRequest> = {},
): Promise<WaitingExecution> {
  const claim = await held(engine, create)
  const suspension = await suspend(engine, claim, request)
  return { claim, suspension, waitpoint: suspension.waitpoints[0]! }
}

export async function suspend(engine: Engine, claim: Claim, request: Partial<SuspendRequest> = {}): Promise<Suspended> {
  const condition = { kind: 'signal', waitpoint: 'answer' } as const
  const suspension = await engine.executions.suspend({ ...fenceOf(claim), condition, ...request })
  if (suspension.kind !== 'suspended') expect.fail(`it is ${suspension.kind}`)
  return suspension
}

/** Sends a signal with the token of the waitpoint. */
export function answer(engine: Engine, { waitpointId, token }: BoundWaitpoint, name = 'approved') {
  return engine.signals.deliver({ waitpointId, token: token!, name })
}
