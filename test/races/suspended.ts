// Executions that wait for an answer, and the tokens with which it can be given.
import { expect } from 'vitest'
import type { Engine } from '../../src/engine/contract.ts'
import type { SignalResult } from '../../src/engine/waiting/signal/incoming.ts'
import type { SuspendRequest } from '../../src/engine/waiting/suspension/request.ts'
import type { Fence } from '../../src/engine/transition/fence.ts'
import type { ExecutionId, WaitpointId } from '../../src/model/id.ts'
import { fenceOf, worker } from '../engine/execution/holder.ts'
import * as stored from '../support/stored.ts'

export interface Suspended {
  readonly executionId: ExecutionId
  /** Fences of the holders that suspended them. */
  readonly fence: Fence
  readonly waitpointId: WaitpointId
  readonly token: string
}

export const answered = { kind: 'signal', waitpoint: 'answer' } as const

/** A condition that any event can satisfy. */
export const satisfiedByAnything = {
  kind: 'anyOf',
  members: [answered, { kind: 'signal', name: 'go' }, { kind: 'time', at: 9_000_000_000_000 }],
} as const

/** Makes the point in time of the condition come. */
export const itsTimeHasCome = stored.suspensions.changing(
  `wake_at_ms = 1, condition = jsonb_set(condition, '{members,2,at}', '1')`,
  `closed_at_ms is null and condition ->> 'kind' = 'anyOf'`,
)

/** Suspends so many executions, each with one waitpoint. */
export async function suspended(
  { executions }: Engine,
  count: number,
  request: Partial<Omit<SuspendRequest, keyof Fence>> = {},
): Promise<Suspended[]> {
  await executions.createMany(Array.from({ length: count }, () => ({ kind: 'k' })))
  const { claims } = await executions.claim({ ...worker, max: count, leaseTtl: '1h' })
  expect(claims).toHaveLength(count)
  const fences = claims.map(fenceOf)
  const answers = await executions.suspendMany(fences.map((fence) => ({ condition: answered, ...request, ...fence })))
  return answers.map((answer, index) => {
    if (answer.kind !== 'suspended') return expect.unreachable()
    const { waitpointId, token } = answer.waitpoints[0]!
    tokens.set(answer.executionId, { waitpointId, token: token! })
    return { executionId: answer.executionId, fence: fences[index]!, waitpointId, token: token! }
  })
}

const tokens = new Map<ExecutionId, { readonly waitpointId: WaitpointId; readonly token: string }>()

/** Delivers by the token of the waitpoint that it was suspended with, or by name. */
export function signal({ signals }: Engine, executionId: string): Promise<SignalResult> {
  const answer = tokens.get(executionId as ExecutionId)
  if (answer === undefined) return signals.send({ executionId, name: 'go' })
  return signals.deliver({ ...answer, name: 'yes' })
}

/** The effect of a signal, or the reason why it was refused. */
export async function deliver(
  { signals }: Engine,
  { waitpointId, token }: Pick<Suspended, 'waitpointId' | 'token'>,
): Promise<string> {
  const [answer] = await signals.deliverMany([{ waitpointId, token, name: 'yes' }])
  return answer!.kind === 'refused' ? answer!.error.code : answer!.effect
}
