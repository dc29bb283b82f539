// Submit, signal and cancel inside a transaction of the caller, with tasks and values instead of kinds and bytes.
import type { CancelRequest, CancelResult } from '../engine/execution/cancel.ts'
import type { CreateResult } from '../engine/execution/create-answer.ts'
import type { CreateRequest } from '../engine/execution/create-request.ts'
import type { Engine } from '../engine/contract.ts'
import type { SignalResult } from '../engine/waiting/signal/incoming.ts'
import type { SendRequest } from '../engine/waiting/signal/send.ts'
import type { Within } from '../engine/within.ts'
import type { Codec } from '../model/codec.ts'
import { requestOf, type SubmitOptions } from '../worker/submission.ts'
import { isTask, type Signals, type Task } from '../worker/task.ts'
import { signalTo, type Handle } from './handle.ts'
import { handleFor } from './submit.ts'

export interface UserWithin {
  /** Submits one run of a task, effective with the commit. Before the commit, the handle finds no execution. */
  submit<In, Out, S extends Signals>(
    task: Task<In, Out, S>,
    ...given: undefined extends In ? [input?: In, options?: SubmitOptions] : [input: In, options?: SubmitOptions]
  ): Promise<Handle<Out, S>>
  /** The same for a kind and bytes, as in `executions.create`. */
  submit(request: CreateRequest): Promise<CreateResult>
  /** Signals a run by name. An execution that it wakes resumes after the commit. */
  signal<S extends Signals, Name extends string & keyof S>(
    run: Handle<unknown, S>,
    name: Name,
    ...payload: undefined extends S[Name] ? [payload?: S[Name]] : [payload: S[Name]]
  ): Promise<SignalResult>
  signal(request: SendRequest): Promise<SignalResult>
  cancel(request: CancelRequest): Promise<CancelResult>
}

export function userWithin(engine: Engine, within: Within, codec: Codec): UserWithin {
  const submit = async (what: Task | CreateRequest, input?: unknown, options: SubmitOptions = {}): Promise<unknown> => {
    if (!isTask(what)) return within.submit(what)
    const { executionId } = await within.submit(await requestOf(codec, what, input, options))
    return handleFor(engine, codec, what, executionId)
  }
  const signal = async (
    to: SendRequest | Pick<Handle, 'id'>,
    name?: string,
    payload?: unknown,
  ): Promise<SignalResult> => {
    return within.signal('id' in to ? await signalTo(to, codec, name!, payload) : to)
  }
  return { submit: submit as UserWithin['submit'], signal, cancel: (request) => within.cancel(request) }
}
