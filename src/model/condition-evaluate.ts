// Evaluates a condition. The evaluation is a pure function of what has happened, so only the events are stored, and
// early signals follow the same rule as new ones.
//
// Each node has a time at which it was satisfied: a signal's acceptance, a child's ending, a point in time, the latest
// of all members, the earliest of any, the n-th that counts. Infinity means never. The condition is satisfied when the
// root's time has come. If that time lies ahead, time alone will satisfy it, and it is the timer. More events only make
// these times earlier, and their order of arrival does not matter.
//
// Satisfiers are kept by node, so that two counts never share them. One signal may serve several nodes.
import { byAcceptance, channelOf, channelsOf, firstOfEach, fits } from './condition-match.ts'
import type { ConditionSignal } from './condition-match.ts'
import { memberPath, rootPath } from './condition.ts'
import type {
  AllOfCondition,
  AnyOfCondition,
  Condition,
  CountCondition,
  NodePath,
  SignalCondition,
} from './condition.ts'

export interface ConditionInput {
  /** Signals through the suspension's waitpoints, and untaken signals by name. */
  readonly signals: readonly ConditionSignal[]
  /** Children that have ended, and when. */
  readonly childEndings?: ReadonlyMap<string, number>
  /** When the suspension's own deadline fired, if it has. */
  readonly timedOutAt?: number
  readonly now: number
}

/** Plain JSON, stored with the suspension that it resumes. */
export interface Evaluation {
  readonly satisfied: boolean
  /** When time alone will satisfy it; null if it is satisfied, or waits for something else. */
  readonly dueAt: number | null
  /** For each satisfied `anyOf`: the member that was satisfied first, followed down to a node that is no `anyOf`. */
  readonly winners: Readonly<Record<NodePath, NodePath>>
  /** The leaves that are satisfied now, in the order of the tree. */
  readonly satisfiedLeaves: readonly NodePath[]
  /** For each node for signals: the ids of the signals that count there, in the order of acceptance. */
  readonly satisfiers: Readonly<Record<NodePath, readonly string[]>>
  /**
   * The signals that satisfied it, in the order of acceptance; empty before it is satisfied. These are taken. All other
   * signals by name stay for a later condition: those that match a leaf that lost, come after the first match, or
   * exceed a count.
   */
  readonly signals: readonly string[]
}

export function evaluate(condition: Condition, input: ConditionInput): Evaluation {
  const state = newState(input)
  const root = evaluateNode(condition, rootPath, state)
  const { winners, satisfiedLeaves, satisfiers } = state
  if (root.at > input.now) {
    const dueAt = root.at === never ? null : root.at
    return { satisfied: false, dueAt, winners, satisfiedLeaves, satisfiers, signals: [] }
  }
  return { satisfied: true, dueAt: null, winners, satisfiedLeaves, satisfiers, signals: signalsOf(root) }
}

/**
 * The decision when the suspension resumes at its deadline, whatever its condition. Its `signals` are those that
 * counted towards the condition until then: the code receives them with the timeout, so they are taken like those that
 * satisfy one.
 */
export function evaluateAtDeadline(condition: Condition, input: ConditionInput): Evaluation {
  const counted = signalsOf(evaluateNode(condition, rootPath, newState(input)))
  return { ...evaluate(condition, { ...input, timedOutAt: input.now }), signals: counted }
}

function newState(input: ConditionInput): EvaluationState {
  return { input, signalsByChannel: groupByChannel(input.signals), winners: {}, satisfiedLeaves: [], satisfiers: {} }
}

function signalsOf({ by }: NodeResult): string[] {
  return idsOf([...new Set(by)].toSorted(byAcceptance))
}

interface EvaluationState {
  readonly input: ConditionInput
  readonly signalsByChannel: ReadonlyMap<string, readonly ConditionSignal[]>
  readonly winners: Record<NodePath, NodePath>
  readonly satisfiedLeaves: NodePath[]
  readonly satisfiers: Record<NodePath, readonly string[]>
}

function groupByChannel(signals: readonly ConditionSignal[]): ReadonlyMap<string, readonly ConditionSignal[]> {
  const groups = new Map<string, ConditionSignal[]>()
  for (const signal of signals) {
    const channel = channelOf(signal)
    const group = groups.get(channel)
    if (group === undefined) groups.set(channel, [signal])
    else group.push(signal)
  }
  return groups
}

type LeafCondition = Exclude<Condition, AllOfCondition | AnyOfCondition>

interface NodeResult {
  readonly at: number
  /** The signals that satisfy the node; before it is satisfied, those that count towards it. */
  readonly by: readonly ConditionSignal[]
  /** The node itself; for an `anyOf`, where its winner is. */
  readonly path: NodePath
}

const never = Infinity

function evaluateNode(node: Condition, path: NodePath, state: EvaluationState): NodeResult {
  if (node.kind === 'allOf') return evaluateAll(node, path, state)
  if (node.kind === 'anyOf') return evaluateAny(node, path, state)
  const result = evaluateLeaf(node, path, state)
  if (result.at <= state.input.now) state.satisfiedLeaves.push(path)
  return result
}

/** Total: a stored node of a kind that this version does not know is never satisfied. */
function evaluateLeaf(node: LeafCondition, path: NodePath, state: EvaluationState): NodeResult {
  const { input } = state
  switch (node.kind) {
    case 'signal':
      return evaluateSignals(node, path, state, 1)
    case 'count':
      return evaluateSignals(node, path, state, node.n)
    case 'child':
      return { at: happened(input.childEndings?.get(node.executionId), input), by: [], path }
    case 'timeout':
      return { at: happened(input.timedOutAt, input), by: [], path }
    case 'time':
      return { at: node.at, by: [], path }
    case 'operator':
    default:
      return { at: never, by: [], path }
  }
}

// A past event stays past, also when the clock was set back since.
function happened(at: number | undefined, { now }: ConditionInput): number {
  return at === undefined ? never : Math.min(at, now)
}

function evaluateAll(node: AllOfCondition, path: NodePath, state: EvaluationState): NodeResult {
  const members = node.members.map((member, i) => evaluateNode(member, memberPath(path, i), state))
  const at = members.reduce((latest, member) => Math.max(latest, member.at), -Infinity)
  return { at, by: members.flatMap(({ by }) => by), path }
}

function evaluateAny(node: AnyOfCondition, path: NodePath, state: EvaluationState): NodeResult {
  const members = node.members.map((member, i) => evaluateNode(member, memberPath(path, i), state))
  const unsatisfied: NodeResult = { at: never, by: [], path }
  const winner = members.reduce((first, member) => (member.at < first.at ? member : first), unsatisfied)
  if (winner.at > state.input.now) return { ...winner, by: members.flatMap(({ by }) => by) }
  state.winners[path] = winner.path
  return winner
}

function evaluateSignals(
  node: SignalCondition | CountCondition,
  path: NodePath,
  { input, signalsByChannel, satisfiers }: EvaluationState,
  n: number,
): NodeResult {
  const arrived = channelsOf(node).flatMap((channel) => signalsByChannel.get(channel) ?? [])
  const counted = firstOfEach(node, arrived.filter((signal) => fits(signal, node)).toSorted(byAcceptance))
  if (counted.length > 0) satisfiers[path] = idsOf(counted)
  return { at: happened(counted[n - 1]?.acceptedAt, input), by: counted.slice(0, n), path }
}

function idsOf(signals: readonly ConditionSignal[]): string[] {
  return signals.map(({ id }) => id)
}
