// A condition is as deep as the groups of the code are nested, and the engine takes so many levels. What stands deeper is
// replaced by any of its leaves: the code wakes for each of them, has it in writing, and waits for the rest.
import { limits } from '../model/limits.ts'
import type { Condition } from '../model/condition.ts'
import { joinConditions } from './waits.ts'

/** Met whenever the condition is, and deep enough for the engine. */
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
