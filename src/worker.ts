// `flowfabric/worker`: what a process needs that runs tasks and serves nobody.
export { connect, type ConnectOptions } from './connect/connect.ts'
export type { FlowFabric, WorkOptions } from './connect/flowfabric.ts'
export type { Handle, ResultOptions } from './connect/handle.ts'
export type {
  ChildHandle,
  ChildOptions,
  Context,
  StepOptions,
  StepTry,
  Upstream,
  Wait,
  WaitForOptions,
  Waitpoint,
} from './worker/context.ts'
export { ChildError, PermanentError, RunLeft, StepError, StepTimeoutError, WaitTimeoutError } from './worker/errors.ts'
export type { LeaseHealth } from './worker/leases.ts'
export type { Middleware } from './worker/middleware.ts'
export type { Schema } from './worker/schema.ts'
export type { SubmitOptions } from './worker/submission.ts'
export { task, type Handler, type Signals, type Task, type TaskOptions } from './worker/task.ts'
export type { WorkerOptions } from './worker/options.ts'
export { Worker, type WorkerSurroundings } from './worker/worker.ts'
