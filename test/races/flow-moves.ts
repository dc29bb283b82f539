// Every operation on a flow and its members, as a move that two engines can make on the same flow.
import type { Engine } from '../../src/engine/contract.ts'
import type { Fence } from '../../src/engine/transition/fence.ts'
import { cancelBacklog } from '../../src/engine/duties/cancel-backlog.ts'
import { dispatch } from '../../src/engine/duties/dispatch.ts'
import { executionDeadline } from '../../src/engine/duties/execution-deadline.ts'
import { leaseExpiry } from '../../src/engine/duties/lease-expiry.ts'
import { retention } from '../../src/engine/duties/retention.ts'
import type { ExecutionId, FlowId } from '../../src/model/id.ts'
import { fenceOf, worker } from '../engine/execution/holder.ts'
import { codeOf } from './meeting.ts'
import type { WatchedEngine } from './watched-engine.ts'

export interface Members {
  readonly flowId: FlowId
  readonly innerFlowId: FlowId
  readonly ids: readonly ExecutionId[]
  /** Moves on leased members. */
  readonly fences: readonly Fence[]
}

export interface FlowMove {
  readonly name: string
  act(side: WatchedEngine, members: Members): Promise<readonly string[]>
}

const some = <T>(items: readonly T[]): readonly T[] => items.filter((_, index) => index % 2 === 0)

export const flowMoves: readonly FlowMove[] = [
  each('complete', ({ executions }, { fences }) => fences.map((fence) => executions.complete(fence))),
  each('fail', ({ executions }, { fences }) =>
    fences.toReversed().map((fence) => executions.fail({ ...fence, reason: 'broke', permanent: true })),
  ),
  each('restart', ({ executions }, { fences }) => fences.map((fence) => executions.restart(fence))),
  each('cancel members', ({ executions }, { ids }) =>
    some(ids.toReversed()).map((executionId) => executions.cancel({ executionId })),
  ),
  each('cancel the flow', ({ flows }, { flowId }) => [flows.cancel({ flowId })]),
  each('cancel the members that have not started', ({ flows }, { flowId }) => [
    flows.cancel({ flowId, policy: 'cancel_pending' }),
  ]),
  each('cancel the flow inside', ({ flows }, { innerFlowId }) => [flows.cancel({ flowId: innerFlowId })]),
  each('replay', ({ executions }, { ids }) => some(ids).map((executionId) => executions.replay({ executionId }))),
  each('change priorities', ({ executions }, { ids }) =>
    ids.map((executionId) => executions.changePriority({ executionId, priority: 7 })),
  ),
  each('add a member', ({ flows }, { flowId, ids }) => [
    flows.addMember({ flowId, execution: { kind: 'k' }, after: [{ upstream: ids[0]! }] }),
  ]),
  each('connect', ({ flows }, { flowId, ids }) => [
    flows.connect({ flowId, upstream: ids[0]!, downstream: ids.at(-1)! }),
  ]),
  each('close', ({ flows }, { flowId }) => [flows.close({ flowId })]),
  {
    name: 'claim and complete',
    act: async ({ engine }) => {
      const { claims } = await engine.executions.claim({ ...worker, max: 100, leaseTtl: '1h' })
      await engine.executions.completeMany(claims.map(fenceOf))
      return []
    },
  },
  ...[dispatch, cancelBacklog, executionDeadline, leaseExpiry, retention(30 * 86_400_000)].map((duty): FlowMove => ({
    name: duty.name,
    act: async ({ sql }) => {
      const { errors } = await duty.runOnce(sql)
      return errors === 0 ? [] : [`${duty.name} has set something aside`]
    },
  })),
]

function each(name: string, act: (engine: Engine, members: Members) => readonly Promise<unknown>[]): FlowMove {
  return { name, act: ({ engine }, members) => Promise.all(act(engine, members).map(codeOf)) }
}
