// The condition of a suspended execution, as plain JSON: a tree whose leaves are satisfied by signals, endings and times.
//
//   { kind: 'anyOf', members: [
//     { kind: 'signal', waitpoint: 'approval', payload: { path: ['approved'], equals: true } },
//     { kind: 'count', n: 2, distinct: 'sources', waitpoints: ['review'] },
//     { kind: 'time', at: 1_800_000_000_000 },
//   ] }
//
// A signal is sent in one of two ways, and a leaf accepts one of them. With `waitpoint` it takes signals through that
// waitpoint, of any name unless it has one. Without, it must have a `name`, and takes signals that are sent to the
// execution by that name, which requires a right. So a stranger with a token never satisfies a leaf that is not for
// that token.
import type { Predicate } from './predicate.ts'
import type { SignalSource } from './signal.ts'

/** Every given field must match; without fields everything matches. */
export interface SignalMatcher {
  readonly name?: string
  /** The proved source; a claimed source is never matched. */
  readonly source?: Partial<SignalSource>
  readonly payload?: Predicate
}

/** Satisfied by the first matching signal. */
export interface SignalCondition extends SignalMatcher {
  readonly kind: 'signal'
  readonly waitpoint?: string
}

/** Satisfied by n matching signals that differ in the counted value; a counted source is a proved one. */
export interface CountCondition extends SignalMatcher {
  readonly kind: 'count'
  readonly n: number
  readonly distinct: CountedThing
  readonly waitpoints?: readonly string[]
}

export const countedThings = ['sources', 'waitpoints', 'signals'] as const
export type CountedThing = (typeof countedThings)[number]

/** Nothing satisfies it: only an operator's resume ends the wait. */
export interface OperatorCondition {
  readonly kind: 'operator'
}

/** Satisfied when the suspension's own deadline passes, and by no signal, whatever its name. */
export interface TimeoutCondition {
  readonly kind: 'timeout'
}

/** Satisfied when the child has ended, with any outcome. */
export interface ChildCondition {
  readonly kind: 'child'
  readonly executionId: string
}

/** Satisfied from this millisecond on. */
export interface TimeCondition {
  readonly kind: 'time'
  readonly at: number
}

export interface AllOfCondition {
  readonly kind: 'allOf'
  readonly members: readonly Condition[]
}

export interface AnyOfCondition {
  readonly kind: 'anyOf'
  readonly members: readonly Condition[]
}

export type Condition =
  | SignalCondition
  | CountCondition
  | OperatorCondition
  | TimeoutCondition
  | ChildCondition
  | TimeCondition
  | AllOfCondition
  | AnyOfCondition

export const conditionKinds = ['signal', 'count', 'operator', 'timeout', 'child', 'time', 'allOf', 'anyOf'] as const

/**
 * The place of a node in its tree: `<root>`, `members[1]`, `members[1].members[0]`. Results and errors name nodes by
 * it.
 */
export type NodePath = string

export const rootPath: NodePath = '<root>'

export function memberPath(parent: NodePath, index: number): NodePath {
  return parent === rootPath ? `members[${index}]` : `${parent}.members[${index}]`
}

/** Every node with its path, parents before their members. */
export function nodesOf(condition: Condition): readonly PlacedNode[] {
  const nodes: PlacedNode[] = []
  collect(condition, rootPath, nodes)
  return nodes
}

type PlacedNode<Node = Condition> = readonly [path: NodePath, node: Node]

function collect(condition: Condition, path: NodePath, into: PlacedNode[]): void {
  into.push([path, condition])
  if (condition.kind !== 'allOf' && condition.kind !== 'anyOf') return
  for (const [index, member] of condition.members.entries()) collect(member, memberPath(path, index), into)
}

/** The waitpoints from which the node takes signals; none for a node that takes them by name. */
export function waitpointsOf(node: SignalCondition | CountCondition): readonly string[] {
  if (node.kind === 'count') return node.waitpoints ?? []
  return node.waitpoint === undefined ? [] : [node.waitpoint]
}

/** The nodes that signals can satisfy. */
export function signalNodesOf(condition: Condition): readonly PlacedNode<SignalCondition | CountCondition>[] {
  return nodesOf(condition).filter(isSignalNode)
}

function isSignalNode(placed: PlacedNode): placed is PlacedNode<SignalCondition | CountCondition> {
  return placed[1].kind === 'signal' || placed[1].kind === 'count'
}
