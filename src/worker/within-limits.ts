// Fits what the code awaits into the limits of a suspension:
//
// - Depth. A condition is as deep as the groups are nested. A group that is too deep is replaced by any of its leaves. So the run resumes
//   for each of them, records it, and waits for the others.
// - Waitpoints. Each wait for a signal has one. Waits beyond the limit can only be satisfied by name until others are over.
import { limits } from '../model/limits.ts'
import type { Condition } from '../model/condition.ts'
import type { SignalWait } from './waiting.ts'
import { joinConditions } from './waits.ts'

/** Satisfied whenever the condition is, and no deeper than the engine allows. */
export function withinDepth(condition: Condition, depth: number = limits.conditionDepth): Condition {
  if (!isGroup(condition) || heightOf(condition) <= depth) return condition
  if (depth <= 2) return joinConditions('anyOf', leavesOf(condition))!
  return joinConditions(
    condition.kind,
    condition.members.map((member) => withinDepth(member, depth - 1)),
  )!
}

type GroupCondition = Extract<Condition, { readonly kind: 'allOf' | 'anyOf' }>

function isGroup(condition: Condition): condition is GroupCondition {
  return condition.kind === 'allOf' || condition.kind === 'anyOf'
}

function heightOf(condition: Condition): number {
  if (!isGroup(condition)) return 1
  return 1 + condition.members.reduce((most, member) => Math.max(most, heightOf(member)), 0)
}

function leavesOf(condition: Condition): readonly Condition[] {
  return isGroup(condition) ? condition.members.flatMap(leavesOf) : [condition]
}

/** The waits that get a waitpoint: as many as a suspension allows, and first those whose token the code may have sent. */
export function withWaitpoints(waits: readonly SignalWait[]): readonly SignalWait[] {
  const keys = new Set<string>()
  const handedOutFirst = waits.toSorted((one, other) => Number(isOwn(one)) - Number(isOwn(other)))
  return handedOutFirst.filter((wait) => {
    if (isOwn(wait) && keys.size >= limits.waitpointCount && !keys.has(wait.key)) return false
    keys.add(wait.key)
    return true
  })
}

function isOwn({ waitpointId }: SignalWait): boolean {
  return waitpointId === null
}

/** The condition without waitpoints of other keys. Each of those waits also has a condition for the name. */
export function keepWaitpoints(condition: Condition, keys: ReadonlySet<string>): Condition | null {
  if (isGroup(condition)) {
    return joinConditions(
      condition.kind,
      condition.members.map((member) => keepWaitpoints(member, keys)),
    )
  }
  const isLeftOut = condition.kind === 'signal' && condition.waitpoint !== undefined && !keys.has(condition.waitpoint)
  return isLeftOut ? null : condition
}
