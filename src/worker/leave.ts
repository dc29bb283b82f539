// A run leaves its worker: everything that its code awaits becomes one condition, and the lease is given up. When the condition
// is met already, it stays and goes on.
import { EngineError } from '../model/errors.ts'
import type { WaitpointBinding } from '../engine/suspension/request.ts'
import { RunLeft } from './errors.ts'
import type { Holder } from './holder.ts'
import { SignalWait } from './waiting.ts'
import { joinConditions, type Awaitable, type Facts, type Leaf } from './waits.ts'

export async function leave(
  holder: Holder,
  waits: readonly Awaitable<unknown>[],
  leaves: readonly Leaf[],
): Promise<Facts | RunLeft> {
  const { engine, fence } = holder
  const dueAt = leaves.length === 1 ? leaves[0]!.dueAt : null
  if (dueAt !== null) {
    const { kind } = await holder.insist(() => engine.executions.delay({ ...fence, until: dueAt }))
    return new RunLeft(kind)
  }
  const condition = joinConditions(
    'anyOf',
    waits.map((wait) => wait.condition()),
  )
  if (condition === null) throw new EngineError('internal_error', 'the code rests, and waits for nothing')
  const asked = { ...fence, condition, idempotencyKey: `${fence.leaseId} ${(suspensions += 1)}` }
  const signalWaits = leaves.filter((leaf) => leaf instanceof SignalWait)
  const answer = await holder.insist(() =>
    engine.executions
      .trySuspend({ ...asked, waitpoints: bindingsOf(signalWaits, true) })
      // It was used by an earlier suspension that something else ended; its token is void, and a fresh one takes its place.
      .catch((error: unknown) => {
        if (!EngineError.is(error) || !usedUp.has(error.code)) throw error
        return engine.executions.trySuspend({ ...asked, waitpoints: bindingsOf(signalWaits, false) })
      }),
  )
  if (answer.kind !== 'already_satisfied') return new RunLeft(answer.kind)
  return { now: answer.resumption.resumedAt, signals: answer.resumption.signals }
}

let suspensions = 0

const usedUp = new Set(['waitpoint_not_pending', 'pending_waitpoint_expired', 'waitpoint_not_found'])

function bindingsOf(waits: readonly SignalWait[], withMadeAhead: boolean): WaitpointBinding[] {
  return waits.map(({ key, waitpointId }) => (waitpointId === null || !withMadeAhead ? { key } : { waitpointId }))
}
