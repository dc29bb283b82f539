// Which step the calling code is part of, also after it has awaited something.
import { AsyncLocalStorage } from 'node:async_hooks'
import { EngineError } from '../model/errors.ts'
import { PermanentError } from './errors.ts'

export interface InsideStep {
  /** The run that the step belongs to: code of one run may call the context of another. */
  readonly owner: object
  readonly name: string
  readonly idempotencyKey: string
  /** How often this try has called `ctx.random` or `ctx.uuid`. */
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

/** Why a step, and a value that is recorded like one, cannot be inside another step. */
export const recordedWhole = 'and a step is recorded as a whole'

/**
 * A wait inside a step would keep its worker for ever: a run is idle only while no step runs. And calls are numbered in the order in
 * which the code reaches them: a call inside a step would shift the numbers in later runs, which do not run the step.
 */
export function refuseInside(owner: object, what: string, why = 'and a step cannot wait'): void {
  const inside = insideStep(owner)
  if (inside === undefined) return
  const sentence = `${what} is inside step ${JSON.stringify(inside.name)}, ${why}; move it out of the step`
  throw new PermanentError(sentence, {
    cause: new EngineError('invalid_input', sentence, { step: inside.name }),
  })
}
