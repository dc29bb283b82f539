// The mode of a run's code: forward; stopping, to reach the compensations that it has registered; or cleaning up.
import type { Step } from '../engine/step/step.ts'
import { refusal, type EngineError } from '../model/errors.ts'
import { PermanentError } from './errors.ts'

export interface CodeMode {
  /** The execution was asked to stop before this run: recorded steps return their results, and new ones throw `Cancelled`. */
  readonly isStopping: boolean
  /** Earlier runs have registered compensations or a hook. */
  readonly hasRegistered: boolean
  /** The record of the hook. */
  readonly hook: Step | null
  /** False while the run cleans up. */
  readonly canStop: boolean
}

export const forward: CodeMode = { isStopping: false, hasRegistered: false, hook: null, canStop: true }

export function inHook(what: string): EngineError {
  return refusal(
    'invalid_input',
    what,
    'called by a hook',
    'called by the handler: a hook can only run steps and sleep',
  )
}

export function cannotWait(): PermanentError {
  return new PermanentError('a hook or a compensation cannot wait for a signal or a child; it can run steps and sleep')
}
