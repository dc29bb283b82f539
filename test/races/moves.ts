// Every operation on an execution, as a move that two engines can make on the same set of executions.
import { expect } from 'vitest'
import type { Engine } from '../../src/engine/contract.ts'
import type { Fence } from '../../src/engine/transition/fence.ts'
import { attemptTimeout } from '../../src/engine/duties/attempt-timeout.ts'
import { cancelDeadline } from '../../src/engine/duties/cancel-deadline.ts'
import { delayedPromoter } from '../../src/engine/duties/delayed-promoter.ts'
import type { Duty } from '../../src/engine/kernel/duty.ts'
import { executionDeadline } from '../../src/engine/duties/execution-deadline.ts'
import { leaseExpiry } from '../../src/engine/duties/lease-expiry.ts'
import { suspensionTimeout } from '../../src/engine/duties/suspension-timeout.ts'
import { suspensionWake } from '../../src/engine/duties/suspension-wake.ts'
import { worker } from '../engine/execution/holder.ts'
import { codeOf } from './meeting.ts'
import { answered, itsTimeHasCome, satisfiedByAnything, signal } from './suspended.ts'
import type { WatchedEngine } from './watched-engine.ts'
import * as stored from '../support/stored.ts'
import { timeoutBehaviourType } from '../support/changes.ts'

export interface Move {
  readonly name: string
  /** The operation's name in the table in model/transition.ts; none for a move that changes no state vector. */
  readonly transition?: string
  /** SQL that prepares the move: a timer that is due. */
  readonly given?: string
  /** Operations of the holder before the move. */
  readonly before?: (engine: Engine, fences: readonly Fence[]) => Promise<unknown>
  /** Kinds and codes, in the order of the fences; none of a move that names no execution. */
  act(side: WatchedEngine, fences: readonly Fence[]): Promise<readonly string[]>
}

const cancel = changing('cancel', 'cancel', ({ executions }, { executionId }) => executions.cancel({ executionId }))
const changePriority = each('changePriority', ({ executions }, { executionId }) =>
  executions.changePriority({ executionId, priority: 7 }),
)
const deadline = byDuty(
  executionDeadline,
  'deadline',
  stored.executions.changing({ deadline_at_ms: 1 }, `lifecycle_phase <> 'terminal'`),
)
const claim: Move = {
  name: 'claim',
  transition: 'claim',
  act: async ({ engine }) => {
    await engine.executions.claim({ ...worker, max: 100, leaseTtl: '1h' })
    return []
  },
}

const send = changing('send', 'signal', ({ signals }, { executionId }) => signals.send({ executionId, name: 'go' }))

const createChild = each('create a child', ({ executions }, { executionId }) =>
  executions.create({ kind: 'child', parentId: executionId }),
)

/** Moves on leased executions. */
export const movesOfHeld: readonly Move[] = [
  changing('complete', 'complete', ({ executions }, fence) => executions.complete(fence)),
  changing('fail', 'fail', ({ executions }, fence) => executions.fail({ ...fence, reason: 'broke' })),
  changing('delay', 'delay', ({ executions }, fence) => executions.delay({ ...fence, for: '1h' })),
  changing('release', 'release', ({ executions }, fence) => executions.release(fence)),
  changing('suspend', 'suspend', ({ executions }, fence) => executions.suspend({ ...fence, condition: answered })),
  changing('suspend after a read', 'suspend', ({ executions }, fence) =>
    executions.suspend({ ...fence, condition: satisfiedByAnything }),
  ),
  each('create a waitpoint', ({ waitpoints }, fence) => waitpoints.create({ ...fence, key: 'early' })),
  {
    ...each('create a second waitpoint', ({ waitpoints }, fence) => waitpoints.create({ ...fence, key: 'second' })),
    before: ({ waitpoints }, fences) =>
      Promise.all(fences.map((fence) => waitpoints.create({ ...fence, key: 'first' }))),
  },
  createChild,
  send,
  each('progress', ({ executions }, fence) => executions.progress({ ...fence, percent: 50 })),
  each('record a step', ({ steps }, fence) => steps.record({ ...fence, name: 's', kind: 'step', state: 'succeeded' })),
  changing('restart', 'restart', ({ executions }, fence) => executions.restart(fence)),
  {
    name: 'renew',
    act: async ({ engine }, leases) => {
      const answer = await engine.executions.renew({ workerInstanceId: worker.workerInstanceId, leases })
      return answer.leases.map((lease) => (lease.kind === 'lost' ? lease.error.code : lease.kind))
    },
  },
  changing('revoke', 'revoke', ({ leases }, { executionId }) => leases.revoke({ executionId })),
  cancel,
  each('cancel with grace', ({ executions }, { executionId }) => executions.cancel({ executionId, grace: '1m' })),
  changePriority,
  byDuty(leaseExpiry, 'lease-expiry', stored.leases.changing({ expires_at_ms: 1 })),
  byDuty(
    attemptTimeout,
    'attempt-timeout',
    stored.executions.changing({ attempt_deadline_at_ms: 1 }, { lifecycle_phase: 'active' }),
  ),
  byDuty(
    cancelDeadline,
    'cancel',
    stored.executions.changing({ cancel_requested_at_ms: 1, cancel_deadline_at_ms: 1 }, { lifecycle_phase: 'active' }),
  ),
  deadline,
]

/** Moves on executions that wait in their queue. */
export const movesOfReady: readonly Move[] = [
  claim,
  each('grant', ({ executions }, { executionId }) => executions.grant({ ...instance, executionId })),
  changing('grant and claimById', 'claim', async ({ executions }, { executionId }) => {
    const { grantId } = await executions.grant({ ...instance, executionId })
    await executions.claimById({ ...instance, executionId, grantId })
    return { kind: 'claimed' }
  }),
  cancel,
  changePriority,
  deadline,
]

/** Moves on delayed executions. */
export const movesOfDelayed: readonly Move[] = [
  byDuty(
    delayedPromoter,
    'promote',
    stored.executions.changing({ delay_until_ms: 1 }, { delay_until_ms: stored.present }),
  ),
  cancel,
  changePriority,
  deadline,
]

/** Moves on suspended executions. */
export const movesOfSuspended: readonly Move[] = [
  changing('signal', 'signal', (engine, { executionId }) => signal(engine, executionId)),
  send,
  changing('resume', 'signal', ({ executions }, { executionId }) => executions.resume({ executionId })),
  createChild,
  byDuty(
    suspensionTimeout,
    'suspension-timeout',
    stored.suspensions.changing(
      `timeout_at_ms = 1, timeout_behavior = (enum_range(null::${timeoutBehaviourType}))[1 + get_byte(uuid_send(execution_id), 15) % 5]`,
      { closed_at_ms: null },
    ),
  ),
  byDuty(suspensionWake, 'suspension-wake', itsTimeHasCome),
  cancel,
  changePriority,
  deadline,
]

/** Moves on ended executions. */
export const movesOfEnded: readonly Move[] = [
  changing('replay', 'replay', ({ executions }, { executionId }) => executions.replay({ executionId })),
  each('complete again', ({ executions }, fence) => executions.complete(fence)),
  cancel,
  changePriority,
  claim,
]

const instance = { workerId: worker.workerId, workerInstanceId: worker.workerInstanceId }

type Act = (engine: Engine, fence: Fence) => Promise<unknown>

// In one call, so that they form one set.
function each(name: string, act: Act): Move {
  return { name, act: ({ engine }, fences) => Promise.all(fences.map((fence) => codeOf(act(engine, fence)))) }
}

function changing(name: string, transition: string, act: Act): Move {
  return { ...each(name, act), transition }
}

function byDuty(duty: Duty, transition: string, given: string): Move {
  return {
    name: duty.name,
    transition,
    given,
    act: async ({ sql }) => {
      expect(await duty.runOnce(sql)).toMatchObject({ errors: 0 })
      return []
    },
  }
}
