// Walks over the table of transitions: the next vectors of a vector, and all vectors that an execution can have.
import type { StateVector } from './state.ts'
import { births, transitions, type Pattern, type Transition } from './transition.ts'

/** Every vector that an execution can have. */
export function reachableVectors(): readonly StateVector[] {
  const found = new Map<string, StateVector>()
  const open = births.map(({ to }) => to)
  for (let vector = open.shift(); vector !== undefined; vector = open.shift()) {
    const key = vectorText(vector)
    if (found.has(key)) continue
    found.set(key, vector)
    for (const transition of transitionsFrom(vector)) open.push(apply(transition, vector))
  }
  return [...found.values()]
}

/** The rows that lead from one vector to the other. */
export function transitionsBetween(from: StateVector, to: StateVector): readonly Transition[] {
  return transitionsFrom(from).filter((one) => vectorText(apply(one, from)) === vectorText(to))
}

export function transitionsFrom(vector: StateVector): readonly Transition[] {
  return transitions.filter(({ from }) => matches(from, vector))
}

export function apply(transition: Transition, vector: StateVector): StateVector {
  if (matches(transition.from, vector)) return { ...vector, ...transition.to }
  throw new RangeError(`${transition.name} does not start from ${vectorText(vector)}`)
}

/** Its words in their order, as in `runnable / unowned / eligible_now / pending_first_attempt / none / none`. */
export function vectorText(vector: StateVector): string {
  const { lifecyclePhase, ownershipState, eligibilityState, attemptState, terminalOutcome, interruption } = vector
  return [lifecyclePhase, ownershipState, eligibilityState, attemptState, terminalOutcome, interruption].join(' / ')
}

function matches(pattern: Pattern, vector: StateVector): boolean {
  return Object.entries(pattern).every(([dimension, words]) => {
    return (words as readonly string[]).includes(vector[dimension as keyof StateVector])
  })
}
