import { evaluate } from './condition-evaluate.ts'
import type { ConditionInput, Evaluation } from './condition-evaluate.ts'
import { channelOf, channelsOf, fits } from './condition-match.ts'
import type { ConditionSignal } from './condition-match.ts'
import { signalNodesOf } from './condition.ts'
import type { Condition, CountCondition, SignalCondition } from './condition.ts'
import type { SignalEffect } from './signal.ts'

export interface Received {
  readonly evaluation: Evaluation
  /** The effect of each signal, up to the one that satisfied the condition; later signals find it satisfied. */
  readonly effects: readonly SignalEffect[]
}

/**
 * The decision with more signals, which arrive one after the other. Another event may satisfy the condition at the same
 * time. More events never undo a decision, so the first signal that satisfies it is found by halving: evaluated after
 * each of five hundred, a count of thousands blocked its process for seconds (measured).
 */
export function receive(condition: Condition, input: ConditionInput, signals: readonly ConditionSignal[]): Received {
  const evaluationAfter = (count: number): Evaluation =>
    evaluate(condition, { ...input, signals: [...input.signals, ...signals.slice(0, count)] })
  let [count, evaluation] = [signals.length, evaluationAfter(signals.length)]
  for (let tooFew = 0; evaluation.satisfied && count - tooFew > 1;) {
    const middle = Math.floor((tooFew + count) / 2)
    const earlier = evaluationAfter(middle)
    if (earlier.satisfied) [count, evaluation] = [middle, earlier]
    else tooFew = middle
  }
  const counted = new Set(Object.values(evaluation.satisfiers).flat())
  // Computed once: a condition may also wait for thousands of children.
  const nodes = signalNodesOf(condition).map(([, node]) => node)
  const effects = signals.slice(0, count).map((signal, index) => {
    const isLast = index === count - 1
    return isLast && evaluation.signals.includes(signal.id)
      ? 'resume_condition_satisfied'
      : effectOf(condition, nodes, signal, counted.has(signal.id))
  })
  return { evaluation, effects }
}

function effectOf(
  condition: Condition,
  signalNodes: readonly (SignalCondition | CountCondition)[],
  signal: ConditionSignal,
  counts: boolean,
): SignalEffect {
  if (signal.waitpoint === undefined) return 'kept_for_condition'
  // With a single leaf no other node could use the signal: it is stored, and the run that resumes sees it.
  if (!composites.includes(condition.kind)) return 'appended_to_waitpoint'
  const nodes = signalNodes.filter((node) => channelsOf(node).includes(channelOf(signal)))
  if (nodes.length === 0) return 'signal_ignored_not_in_condition'
  if (!nodes.some((node) => fits(signal, node))) return 'signal_ignored_matcher_failed'
  return counts ? 'appended_to_waitpoint' : 'appended_to_waitpoint_duplicate'
}

const composites: readonly Condition['kind'][] = ['allOf', 'anyOf', 'count']
