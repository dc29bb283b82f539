// Suspends a run: everything that its code awaits becomes one condition, and the lease is given up. If the condition is already
// satisfied, the run keeps its lease and continues.
import { EngineError } from '../model/errors.ts'
import type { TrySuspendResult } from '../engine/execution/suspend.ts'
import type { SuspendRequest, WaitpointBinding } from '../engine/waiting/suspension/request.ts'
import type { WaitpointId } from '../model/id.ts'
import { RunLeft } from './errors.ts'
import type { Holder } from './holder.ts'
import { withAllSignals } from './resumed-signals.ts'
import { SignalWait } from './waiting.ts'
import { joinConditions, type Awaitable, type WaitFacts, type Leaf } from './waits.ts'
import { keepWaitpoints, withWaitpoints, withinDepth } from './within-limits.ts'

export async function suspendRun(
  holder: Holder,
  waits: readonly Awaitable<unknown>[],
  leaves: readonly Leaf[],
): Promise<WaitFacts | RunLeft> {
  const { engine, fence } = holder
  const dueAt = leaves.length === 1 ? leaves[0]!.dueAt : null
  if (dueAt !== null) {
    const { kind } = await holder.retryWhileLeased(() => engine.executions.delay({ ...fence, until: dueAt }))
    return new RunLeft(kind)
  }
  const awaited = joinConditions(
    'anyOf',
    waits.map((wait) => wait.condition()),
  )
  const bound = withWaitpoints(leaves.filter((leaf) => leaf instanceof SignalWait))
  const condition = awaited && keepWaitpoints(awaited, new Set(bound.map(({ key }) => key)))
  if (condition === null) throw new EngineError('internal_error', 'the code is idle but waits for nothing')
  // Waitpoints without a signal stay open: the code may still wait for them when the run resumes.
  const request = {
    ...fence,
    condition: withinDepth(condition),
    keepWaitpoints: true,
    idempotencyKey: `${fence.leaseId} ${(suspensions += 1)}`,
  }
  const answer = await suspendWith(holder, request, bound)
  if (answer.kind !== 'already_satisfied') return new RunLeft(answer.kind)
  const { resumedAt, signals } = await withAllSignals(holder, answer.resumption)
  return { now: resumedAt, signals }
}

let suspensions = 0

/** A waitpoint that has received its signal, or has expired, is replaced by a new one. */
async function suspendWith(
  holder: Holder,
  request: SuspendRequest,
  waits: readonly SignalWait[],
): Promise<TrySuspendResult> {
  const over = new Set<WaitpointId>()
  for (;;) {
    try {
      return await holder.retryWhileLeased(() =>
        holder.engine.executions.trySuspend({ ...request, waitpoints: bindingsOf(waits, over) }),
      )
    } catch (error) {
      const found = usedUpIn(error)
      if (found === null || over.has(found)) throw error
      over.add(found)
    }
  }
}

/** Each waitpoint once: code that races with `Promise.race` in a loop has several waits for the same waitpoint. */
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
