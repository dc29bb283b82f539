// What a suspended execution waits for, as plain JSON: a tree whose leaves are met by facts.
//
//   { kind: 'anyOf', members: [
//     { kind: 'signal', waitpoint: 'approval', payload: { path: ['approved'], equals: true } },
//     { kind: 'count', n: 2, distinct: 'sources', waitpoints: ['review'] },
//     { kind: 'time', at: 1_800_000_000_000 },
//   ] }
//
// A signal comes in by one of two doors, and a leaf says by which. With `waitpoint` it takes what was sent through that
// waitpoint, of any name unless it names one. Without, it must have a `name`, and takes what was sent to the execution by
// that name, which needs a right. So a stranger who holds a token never answers a leaf that is not for that token.
import type { Predicate } from './predicate.ts'
import type { SignalSource } from './signal.ts'

/** Everything that is given must fit; nothing given fits all. */
export interface SignalMatcher {
  readonly name?: string
  /** The proved source; what a sender claims is never matched. */
  readonly source?: Partial<SignalSource>
  readonly payload?: Predicate
}

/** Met by the first signal that fits. */
export interface SignalCondition extends SignalMatcher {
  readonly kind: 'signal'
  readonly waitpoint?: string
}

/** Met by n signals that fit and differ in what is counted; a source is one that was proved. */
export interface CountCondition extends SignalMatcher {
  readonly kind: 'count'
  readonly n: number
  readonly distinct: CountedThing
  readonly waitpoints?: readonly string[]
}

export const countedThings = ['sources', 'waitpoints', 'signals'] as const
export type CountedThing = (typeof countedThings)[number]

/** Met by no fact: only an operator's resume leads out. */
export interface OperatorCondition {
  readonly kind: 'operator'
}

/** Met when the suspension's own deadline passes, and by no signal, whatever its name. */
export interface TimeoutCondition {
  readonly kind: 'timeout'
}

/** Met when the child has ended, in whatever way. */
export interface ChildCondition {
  readonly kind: 'child'
  readonly executionId: string
}

/** Met from this millisecond on. */
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

/** Where a node stands in its tree: `<root>`, `members[1]`, `members[1].members[0]`. Results and errors name nodes by it. */
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

/** The waitpoints through which the node takes signals; none for one that takes them by name. */
export function waitpointsOf(node: SignalCondition | CountCondition): readonly string[] {
  if (node.kind === 'count') return node.waitpoints ?? []
  return node.waitpoint === undefined ? [] : [node.waitpoint]
}

/** Those in the tree that signals can meet. */
export function signalNodesOf(condition: Condition): readonly PlacedNode<SignalCondition | CountCondition>[] {
  return nodesOf(condition).filter(isSignalNode)
}

function isSignalNode(placed: PlacedNode): placed is PlacedNode<SignalCondition | CountCondition> {
  return placed[1].kind === 'signal' || placed[1].kind === 'count'
}
