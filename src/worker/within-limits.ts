// What the code awaits at once may be more than a suspension takes. A condition is as deep as the groups are nested: what stands
// too deep is replaced by any of its leaves, so that the code wakes for each of them, has it in writing, and waits for the rest.
// And each wait for a signal has a waitpoint: those that are too many are answered by name alone, until others are over.
import { limits } from '../model/limits.ts'
import type { Condition } from '../model/condition.ts'
import type { SignalWait } from './waiting.ts'
import { joinConditions } from './waits.ts'

/** StepCall whenever the condition is, and deep enough for the engine. */
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

/** Those that are given a waitpoint: as many as a suspension takes, and first those whose token is with somebody. */
export function withDoors(waits: readonly SignalWait[]): readonly SignalWait[] {
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

/** Without the waitpoints that have none of these keys; whoever waits there waits for the name, too. */
export function throughDoors(condition: Condition, keys: ReadonlySet<string>): Condition | null {
  if (isGroup(condition)) {
    return joinConditions(
      condition.kind,
      condition.members.map((member) => throughDoors(member, keys)),
    )
  }
  const isShut = condition.kind === 'signal' && condition.waitpoint !== undefined && !keys.has(condition.waitpoint)
  return isShut ? null : condition
}
