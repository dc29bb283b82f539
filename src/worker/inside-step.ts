// Which step the code that asks is part of, also after it has awaited something.
import { AsyncLocalStorage } from 'node:async_hooks'
import { EngineError } from '../model/errors.ts'
import { PermanentError } from './errors.ts'

export interface InsideStep {
  /** Whose step it is: code of one run may ask another's context. */
  readonly owner: object
  readonly name: string
  readonly idempotencyKey: string
  /** How often this try has drawn. */
  randomCount: number
}

const within = new AsyncLocalStorage<InsideStep>()

export function enterStep<T>(
  owner: object,
  name: string,
  { idempotencyKey }: Pick<InsideStep, 'idempotencyKey'>,
  work: () => T,
): T {
  return within.run({ owner, name, idempotencyKey, randomCount: 0 }, work)
}

export function insideStep(owner: object): InsideStep | undefined {
  const inside = within.getStore()
  return inside?.owner === owner ? inside : undefined
}

/**
 * A wait inside a step would hold its worker for ever: the run rests only when no step runs. And what is told apart by the order
 * of its first use would be another one in later runs, in which the step does not run.
 */
/** Why a step, and what is recorded as one, cannot be inside another. */
export const recordedWhole = 'and a step is recorded as a whole'

export function refuseInside(owner: object, what: string, why = 'and a step cannot wait'): void {
  const inside = insideStep(owner)
  if (inside === undefined) return
  const sentence = `${what} is inside step ${JSON.stringify(inside.name)}, ${why}; move it out of the step`
  throw new PermanentError(sentence, {
    cause: new EngineError('invalid_input', sentence, { step: inside.name }),
  })
}
