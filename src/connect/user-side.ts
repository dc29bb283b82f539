// The methods of `ff` that work on any engine, local or remote.
import type { Engine } from '../engine/contract.ts'
import type { Codec } from '../model/codec.ts'
import type { RecordedRun } from '../worker/recorded-run.ts'
import type { SubmitOptions } from '../worker/submission.ts'
import type { Task } from '../worker/task.ts'
import { verify, type VerifyOptions } from '../worker/verify.ts'
import type { BuildFlow } from './flow-builder.ts'
import { submitFlow, type FlowOptions } from './flow.ts'
import { userSchedules } from './schedules.ts'
import { handleFor, submit, submitMany, type Submitted } from './submit.ts'

export function userSide(engine: Engine, codec: Codec) {
  return {
    engine,
    submit: (task: Task, ...[input, options]: readonly [unknown?, SubmitOptions?]) =>
      submit(engine, codec, task, input, options),
    submitMany: (task: Task, items: readonly Submitted[]) => submitMany(engine, codec, task, items),
    handle: (id: string, task?: Task) => handleFor(engine, codec, task, id),
    verify: (task: Task, runs: readonly RecordedRun[], options: Omit<VerifyOptions, 'codec'> = {}) =>
      verify(task, runs, { ...options, codec }),
    flow: <Out>(build: BuildFlow<Out>, options: FlowOptions = {}) => submitFlow(engine, codec, build, options),
    schedules: userSchedules(engine.schedules, codec),
    explain: (executionId: string) => engine.executions.explain(executionId),
  }
}
