import { evaluate } from './condition-evaluate.ts'
import type { Facts, Verdict } from './condition-evaluate.ts'
import { doorOf, doorsOf, fits } from './condition-match.ts'
import type { SignalFact } from './condition-match.ts'
import { signalNodesOf } from './condition.ts'
import type { Condition, CountCondition, SignalCondition } from './condition.ts'
import type { SignalEffect } from './signal.ts'

export interface Received {
  readonly verdict: Verdict
  /** What each signal did, up to the one with which the condition was satisfied; those behind it found it satisfied. */
  readonly effects: readonly SignalEffect[]
}

/**
 * The verdict with more signals, which came one after the other. Another fact may satisfy the condition in the same moment.
 * More facts never undo a verdict, so the first signal with which it is satisfied is found by halving: judged after each of
 * five hundred, a count of thousands held up its process for seconds (measured).
 */
export function receive(condition: Condition, facts: Facts, signals: readonly SignalFact[]): Received {
  const verdictAfter = (count: number): Verdict =>
    evaluate(condition, { ...facts, signals: [...facts.signals, ...signals.slice(0, count)] })
  let [count, verdict] = [signals.length, verdictAfter(signals.length)]
  for (let tooFew = 0; verdict.satisfied && count - tooFew > 1;) {
    const middle = Math.floor((tooFew + count) / 2)
    const earlier = verdictAfter(middle)
    if (earlier.satisfied) [count, verdict] = [middle, earlier]
    else tooFew = middle
  }
  const counted = new Set(Object.values(verdict.satisfiers).flat())
  // Once for all of them: a condition may wait for thousands of children besides.
  const nodes = signalNodesOf(condition).map(([, node]) => node)
  const effects = signals.slice(0, count).map((signal, index) => {
    const isLast = index === count - 1
    return isLast && verdict.signals.includes(signal.id)
      ? 'resume_condition_satisfied'
      : effectOf(condition, nodes, signal, counted.has(signal.id))
  })
  return { verdict, effects }
}

function effectOf(
  condition: Condition,
  signalNodes: readonly (SignalCondition | CountCondition)[],
  signal: SignalFact,
  counts: boolean,
): SignalEffect {
  if (signal.waitpoint === undefined) return 'kept_for_condition'
  // Beside a lone leaf there is nothing else that it could have been for: it is kept, and seen by who resumes.
  if (!composites.includes(condition.kind)) return 'appended_to_waitpoint'
  const nodes = signalNodes.filter((node) => doorsOf(node).includes(doorOf(signal)))
  if (nodes.length === 0) return 'signal_ignored_not_in_condition'
  if (!nodes.some((node) => fits(signal, node))) return 'signal_ignored_matcher_failed'
  return counts ? 'appended_to_waitpoint' : 'appended_to_waitpoint_duplicate'
}

const composites: readonly Condition['kind'][] = ['allOf', 'anyOf', 'count']
