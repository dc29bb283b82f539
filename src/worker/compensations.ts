// The compensations that a run has registered, in the order of the code, and the task's hook. Each has a record that is pending until it
// has run.
import type { Step } from '../engine/step/step.ts'
import { refusal } from '../model/errors.ts'
import { show } from '../model/text.ts'
import type { StepOptions, StepTry } from './context.ts'
import type { StepCall } from './history.ts'
import { recordedWhole } from './inside-step.ts'
import type { Recording } from './recorded-now.ts'
import { checkOptions, type CheckedOptions } from './steps.ts'
import { defaultRetry, type Task } from './task.ts'
import { StepPromise, type Unawaited } from './unawaited.ts'

export interface Compensation {
  readonly call: StepCall
  readonly work: (attempt: StepTry) => unknown
  readonly options: CheckedOptions
}

interface CompensationsDeps extends Recording {
  readonly unawaited: Unawaited
}

export class Compensations {
  readonly #deps: CompensationsDeps
  readonly #registered: Compensation[] = []
  readonly #recording: Promise<unknown>[] = []
  #hook: StepCall | null = null

  constructor(deps: CompensationsDeps) {
    this.#deps = deps
  }

  /** The last one first. */
  toUndo(): readonly Compensation[] {
    return this.#registered.toReversed()
  }

  get hook(): StepCall | null {
    return this.#hook
  }

  get isEmpty(): boolean {
    return this.#registered.length === 0 && this.#hook === null
  }

  /** Allowed after the run is asked to stop too: the step before it may just have been recorded. */
  register(name: string, work: Compensation['work'], options: StepOptions): Promise<void> {
    const { unawaited } = this.#deps
    try {
      const compensation = this.#checked(name, work, options)
      this.#registered.push(compensation)
      const { call } = compensation
      const registered = call.recorded === null ? this.#record(call) : this.#registeredBefore(call, call.recorded)
      return StepPromise.of(unawaited, name, null, registered, 'compensation')
    } catch (error) {
      return StepPromise.of(unawaited, name, null, Promise.reject<void>(error), 'compensation')
    }
  }

  #checked(name: string, work: Compensation['work'], options: StepOptions): Compensation {
    const { history, steps } = this.#deps
    steps.refuseInside(`the compensation ${show(name)}`, recordedWhole)
    if (typeof work !== 'function')
      throw refusal('invalid_input', `the work of compensation ${show(name)}`, show(work), 'a function')
    const checked = checkOptions(name, { retry: defaultRetry, ...options }, 'compensation')
    return { call: history.reach('compensation', name), work, options: checked }
  }

  /** Called before the handler, so that the engine does not end the execution without the hook. */
  async registerHook({ hooks }: Task, recorded: Step | null): Promise<void> {
    const name = hooks.onCancel === undefined ? 'onFailure' : 'onCancel'
    this.#hook = hookCall(recorded?.name ?? name, recorded)
    if (recorded === null) await this.#record(this.#hook)
  }

  async #registeredBefore({ made }: StepCall, recorded: Step): Promise<void> {
    const { history, steps } = this.#deps
    if (made !== null) await steps.inTurn(made)
    if (recorded.state !== 'pending') history.delivered(recorded)
  }

  #record(call: StepCall): Promise<void> {
    const { idle, holder } = this.#deps
    const record = idle.work(async () => {
      await idle.recorded(holder.record(call, { state: 'pending', tryCount: 0 }))
    })
    this.#recording.push(record.catch(() => {}))
    return record
  }

  /** Resolves when every registration that the code began is recorded or refused. */
  async settled(): Promise<void> {
    await Promise.all(this.#recording)
  }
}

/** A hook has no place among the calls of the code: hooks may be added to a task that has running executions. */
export function hookCall(name: string, recorded: Step | null): StepCall {
  return { kind: 'hook', name, index: 0, place: 0, recorded, made: null, failedIn: null }
}
