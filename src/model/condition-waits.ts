// The events that a condition waits for, without evaluating it.
import { nodesOf, signalNodesOf, waitpointsOf } from './condition.ts'
import type { Condition } from './condition.ts'

/** The children whose endings it waits for, each once. */
export function childrenOf(condition: Condition): string[] {
  const children = new Set<string>()
  for (const [, node] of nodesOf(condition)) {
    if (node.kind === 'child') children.add(node.executionId)
  }
  return [...children]
}

/** The keys of the waitpoints from which it takes signals, each once. */
export function waitpointsNamedBy(condition: Condition): readonly string[] {
  // The usual case: a leaf with one waitpoint.
  if (condition.kind === 'signal') return waitpointsOf(condition)
  return [...new Set(signalNodesOf(condition).flatMap(([, node]) => waitpointsOf(node)))]
}

/** The names of the signals that it takes by name. */
export function namesTakenBy(condition: Condition): string[] {
  const names = new Set<string>()
  for (const [, node] of signalNodesOf(condition)) {
    if (waitpointsOf(node).length === 0 && node.name !== undefined) names.add(node.name)
  }
  return [...names]
}

/**
 * The names that a list shows for a waitpoint; none means any. The two words in underscores are for readers only: no
 * signal of such a name satisfies a leaf.
 */
export function requiredSignalNames(condition: Condition, waitpoint: string): string[] {
  if (condition.kind === 'operator') return ['__operator_only__']
  if (condition.kind === 'timeout') return ['__timeout_only__']
  const names = new Set<string>()
  for (const [, node] of signalNodesOf(condition)) {
    if (!waitpointsOf(node).includes(waitpoint)) continue
    if (node.name === undefined) return []
    names.add(node.name)
  }
  return [...names]
}

/**
 * Whether the first matching signal satisfies the whole condition, so that no earlier signal can have counted. Only a
 * point in time may come first.
 */
export function isSatisfiedByOne(condition: Condition): boolean {
  if (condition.kind === 'anyOf') return condition.members.every(isSatisfiedByOne)
  return condition.kind === 'signal' || condition.kind === 'time'
}

export function readsPayloads(condition: Condition): boolean {
  return signalNodesOf(condition).some(([, node]) => node.payload !== undefined)
}
