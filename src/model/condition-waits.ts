// What can be read off a condition before any fact is known.
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

/** The keys of the waitpoints through which it takes signals, each once. */
export function waitpointsNamedBy(condition: Condition): readonly string[] {
  // Most are a leaf with one.
  if (condition.kind === 'signal') return waitpointsOf(condition)
  return [...new Set(signalNodesOf(condition).flatMap(([, node]) => waitpointsOf(node)))]
}

/** The names of the signals, sent by name, that it would take. */
export function namesTakenBy(condition: Condition): string[] {
  const names = new Set<string>()
  for (const [, node] of signalNodesOf(condition)) {
    if (waitpointsOf(node).length === 0 && node.name !== undefined) names.add(node.name)
  }
  return [...names]
}

/**
 * What a list shows as the names that a waitpoint waits for; none means any. The two words in underscores are for readers
 * alone: no leaf is met by a signal of such a name.
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
 * Whether the first signal that fits a leaf meets the whole condition, so that no signal before it can have counted. Only a
 * point in time may come first.
 */
export function isMetByOne(condition: Condition): boolean {
  if (condition.kind === 'anyOf') return condition.members.every(isMetByOne)
  return condition.kind === 'signal' || condition.kind === 'time'
}

export function looksIntoPayloads(condition: Condition): boolean {
  return signalNodesOf(condition).some(([, node]) => node.payload !== undefined)
}
