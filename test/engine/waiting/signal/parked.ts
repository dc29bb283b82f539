// An execution that waits for an answer, with everything a sender needs to give it.
import { expect } from 'vitest'
import type { Engine } from '../../../../src/engine/contract.ts'
import type { CreateRequest } from '../../../../src/engine/execution/create-request.ts'
import type { Fence } from '../../../../src/engine/transition/fence.ts'
import type { SuspendRequest } from '../../../../src/engine/waiting/suspension/request.ts'
import type { ExecutionId, WaitpointId } from '../../../../src/model/id.ts'
import type { Condition } from '../../../../src/model/condition.ts'
import { fenceOf, held, take } from '../../execution/holder.ts'

export interface Door {
  readonly waitpointId: WaitpointId
  readonly token: string
}

export interface Parked {
  readonly executionId: ExecutionId
  readonly fence: Fence
  /** The waitpoint's token, by its key. */
  readonly doors: Readonly<Record<string, Door>>
}

export const forReady: Condition = { kind: 'signal', waitpoint: 'door', name: 'ready' }

export async function parked(
  engine: Engine,
  condition: Condition = forReady,
  request: Partial<SuspendRequest> = {},
  create: Partial<CreateRequest> = {},
): Promise<Parked> {
  const fence = fenceOf(await held(engine, create))
  return suspend(engine, fence, condition, request)
}

/** Claims it once more and suspends it again. */
export async function parkedAgain(
  engine: Engine,
  condition: Condition = forReady,
  request: Partial<SuspendRequest> = {},
): Promise<Parked> {
  return suspend(engine, fenceOf(await take(engine)), condition, request)
}

async function suspend(
  engine: Engine,
  fence: Fence,
  condition: Condition,
  request: Partial<SuspendRequest> = {},
): Promise<Parked> {
  const answer = await engine.executions.suspend({ ...fence, condition, ...request })
  if (answer.kind !== 'suspended') return expect.unreachable(answer.kind)
  const doors = answer.waitpoints.map(({ key, waitpointId, token }) => [key, { waitpointId, token: token! }] as const)
  return { executionId: fence.executionId as ExecutionId, fence, doors: Object.fromEntries(doors) }
}

export async function stateOf(engine: Engine, executionId: string): Promise<string | undefined> {
  return (await engine.executions.describe(executionId))?.publicState
}

export function bytes(value: unknown): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(value))
}
