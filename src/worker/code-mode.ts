// How a run's code is run: forward; once more, to reach what it has registered; or as the clean-up behind it.
import type { Step } from '../engine/step/step.ts'
import { refusal, type EngineError } from '../model/errors.ts'
import { PermanentError } from './errors.ts'

export interface CodeMode {
  /** The execution was asked to stop before this run: what is recorded is read back, and nothing new begins. */
  readonly isStopping: boolean
  /** Earlier runs have registered compensations or a hook. */
  readonly hasRegistered: boolean
  /** The record of the hook. */
  readonly hook: Step | null
  /** Not while it cleans up. */
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
