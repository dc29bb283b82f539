// Fences that no claim returned, or not to this caller: the same for every write that needs one.
import { randomUUID } from 'node:crypto'
import type { Engine } from '../../../src/engine/contract.ts'
import type { Fence } from '../../../src/engine/transition/fence.ts'
import type { ErrorCode } from '../../../src/model/errors.ts'
import { formatExecutionId, mintExecutionId, parseExecutionId, type ExecutionId } from '../../../src/model/id.ts'
import { fenceOf, held } from './holder.ts'

export interface BadFence {
  readonly name: string
  readonly code: ErrorCode
  wrong(fence: Fence, other: Fence): Fence
}

const anotherPartition = (id: ExecutionId): ExecutionId => {
  const { partition, uuid } = parseExecutionId(id)
  return formatExecutionId((partition + 1) % 256, uuid)
}

export const badFences: readonly BadFence[] = [
  {
    name: 'an unknown id',
    code: 'execution_not_found',
    wrong: (fence) => ({ ...fence, executionId: mintExecutionId() }),
  },
  {
    name: 'an id with another partition',
    code: 'execution_not_found',
    wrong: (fence) => ({ ...fence, executionId: anotherPartition(fence.executionId as ExecutionId) }),
  },
  {
    name: 'a malformed id',
    code: 'invalid_id',
    wrong: (fence) => ({ ...fence, executionId: 'seven' }),
  },
  {
    name: 'the lease of another execution',
    code: 'stale_lease',
    wrong: (fence, other) => ({ ...fence, leaseId: other.leaseId }),
  },
  { name: 'a lease that never was', code: 'stale_lease', wrong: (fence) => ({ ...fence, leaseId: randomUUID() }) },
  { name: 'a malformed lease', code: 'invalid_input', wrong: (fence) => ({ ...fence, leaseId: 'mine' }) },
  { name: 'an epoch from the future', code: 'stale_lease', wrong: (fence) => ({ ...fence, leaseEpoch: 8 }) },
  { name: 'the largest epoch', code: 'stale_lease', wrong: (fence) => ({ ...fence, leaseEpoch: 2 ** 53 - 1 }) },
  { name: 'an epoch of nought', code: 'invalid_input', wrong: (fence) => ({ ...fence, leaseEpoch: 0 }) },
  { name: 'half an epoch', code: 'invalid_input', wrong: (fence) => ({ ...fence, leaseEpoch: 1.5 }) },
  { name: 'an epoch beyond counting', code: 'invalid_input', wrong: (fence) => ({ ...fence, leaseEpoch: 2 ** 53 }) },
  {
    name: 'no lease id',
    code: 'fence_required',
    wrong: ({ executionId, leaseEpoch }) => ({ executionId, leaseEpoch }) as Fence,
  },
  {
    name: 'no epoch',
    code: 'fence_required',
    wrong: ({ executionId, leaseId }) => ({ executionId, leaseId }) as Fence,
  },
]

/** Two executions, of which the second is a neighbour that a bad call must not harm. */
export async function twoHeld(engine: Engine): Promise<[Fence, Fence]> {
  return [fenceOf(await held(engine)), fenceOf(await held(engine))]
}
