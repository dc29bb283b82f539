// A run leaves its worker: everything that its code awaits becomes one condition, and the lease is given up. When the condition
// is met already, it stays and goes on.
import { EngineError } from '../model/errors.ts'
import type { TrySuspendResult } from '../engine/execution/suspend.ts'
import type { SuspendRequest, WaitpointBinding } from '../engine/waiting/suspension/request.ts'
import type { WaitpointId } from '../model/id.ts'
import { RunLeft } from './errors.ts'
import type { Holder } from './holder.ts'
import { whole } from './resumed-signals.ts'
import { SignalWait } from './waiting.ts'
import { joinConditions, type Awaitable, type Facts, type Leaf } from './waits.ts'
import { throughDoors, withDoors, withinDepth } from './within-limits.ts'

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
  const awaited = joinConditions(
    'anyOf',
    waits.map((wait) => wait.condition()),
  )
  const opening = withDoors(leaves.filter((leaf) => leaf instanceof SignalWait))
  const condition = awaited && throughDoors(awaited, new Set(opening.map(({ key }) => key)))
  if (condition === null) throw new EngineError('internal_error', 'the code is idle but waits for nothing')
  // What is not answered by then stays open: the code may still wait for it when it goes on.
  const asked = {
    ...fence,
    condition: withinDepth(condition),
    keepWaitpoints: true,
    idempotencyKey: `${fence.leaseId} ${(suspensions += 1)}`,
  }
  const answer = await suspendWith(holder, asked, opening)
  if (answer.kind !== 'already_satisfied') return new RunLeft(answer.kind)
  const { resumedAt, signals } = await whole(holder, answer.resumption)
  return { now: resumedAt, signals }
}

let suspensions = 0

/** A waitpoint that was answered before, or has expired, gives way to a fresh one; the others are as they were. */
async function suspendWith(
  holder: Holder,
  asked: SuspendRequest,
  waits: readonly SignalWait[],
): Promise<TrySuspendResult> {
  const over = new Set<WaitpointId>()
  for (;;) {
    try {
      return await holder.insist(() =>
        holder.engine.executions.trySuspend({ ...asked, waitpoints: bindingsOf(waits, over) }),
      )
    } catch (error) {
      const found = usedUpIn(error)
      if (found === null || over.has(found)) throw error
      over.add(found)
    }
  }
}

/** Each once, though several may wait at it: a loop that races by `Promise.race` still waits where it lost. */
function bindingsOf(waits: readonly SignalWait[], over: ReadonlySet<WaitpointId>): readonly WaitpointBinding[] {
  const bindings = new Map<string, WaitpointBinding>()
  for (const { key, waitpointId } of waits) {
    if (waitpointId === null || over.has(waitpointId)) bindings.set(key, { key })
    else bindings.set(waitpointId, { waitpointId })
  }
  return [...bindings.values()]
}

const usedUp = new Set(['waitpoint_not_pending', 'pending_waitpoint_expired', 'waitpoint_not_found'])

function usedUpIn(error: unknown): WaitpointId | null {
  if (!EngineError.is(error) || !usedUp.has(error.code)) return null
  return (error.details['waitpointId'] ?? null) as WaitpointId | null
}
