import { evaluate } from './condition-evaluate.ts'
import type { Facts, Verdict } from './condition-evaluate.ts'
import { doorOf, doorsOf, fits } from './condition-match.ts'
import type { SignalFact } from './condition-match.ts'
import { signalNodesOf } from './condition.ts'
import type { Condition } from './condition.ts'
import type { SignalEffect } from './signal.ts'

/** The verdict with one more signal, and what that signal did. Another fact may satisfy the condition in the same moment. */
export function receive(
  condition: Condition,
  facts: Facts,
  signal: SignalFact,
): { verdict: Verdict; effect: SignalEffect } {
  const verdict = evaluate(condition, { ...facts, signals: [...facts.signals, signal] })
  return { verdict, effect: effectOf(condition, facts, signal, verdict) }
}

function effectOf(condition: Condition, facts: Facts, signal: SignalFact, verdict: Verdict): SignalEffect {
  if (verdict.signals.includes(signal.id)) return 'resume_condition_satisfied'
  if (signal.waitpoint === undefined) return 'kept_for_condition'
  // Beside a lone leaf there is nothing else that it could have been for: it is kept, and seen by who resumes.
  if (!composites.includes(condition.kind)) return 'appended_to_waitpoint'
  const nodes = [...signalNodesOf(condition)].filter(([, node]) => doorsOf(node).includes(doorOf(signal)))
  if (nodes.length === 0) return 'signal_ignored_not_in_condition'
  if (!nodes.some(([, node]) => fits(signal, node))) return 'signal_ignored_matcher_failed'
  const counts = countOf(verdict) > countOf(evaluate(condition, facts))
  return counts ? 'appended_to_waitpoint' : 'appended_to_waitpoint_duplicate'
}

const composites: readonly Condition['kind'][] = ['allOf', 'anyOf', 'count']

function countOf({ satisfiers }: Verdict): number {
  return Object.values(satisfiers).reduce((sum, ids) => sum + ids.length, 0)
}
