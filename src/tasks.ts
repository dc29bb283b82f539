// The exports of every entry point that writes, submits and runs tasks.
export type { FlowFabric, WorkOptions } from './connect/flowfabric.ts'
export type { Handle, ResultOptions } from './connect/handle.ts'
export type {
  BuildFlow,
  Dependency,
  FlowBuilder,
  InnerFlowOptions,
  MemberOptions,
  MemberRef,
} from './connect/flow-builder.ts'
export type { FlowHandle, FlowOptions } from './connect/flow.ts'
export type { ScheduleOptions, ScheduleScope, UserSchedules } from './connect/schedules.ts'
export type { Engine } from './engine/contract.ts'
export { jsonCodec, type Codec, type Encoded } from './model/codec.ts'
export type { Duration } from './model/duration.ts'
export type { EdgeKind, Ending, JoinPolicyInput } from './model/edge-group.ts'
export { EngineError, type ErrorCode, type ErrorDetails } from './model/errors.ts'
export type { Explanation } from './model/explain.ts'
export {
  mintExecutionId,
  mintFlowId,
  parseGivenId as parseExecutionId,
  type ExecutionId,
  type FlowId,
  type WaitpointId,
} from './model/id.ts'
export type { PolicyInput } from './model/policy.ts'
export { decodeError, encodeError, type RecordedError } from './model/recorded-error.ts'
export type { CatchUp, Overlap } from './model/schedule.ts'
// By a star: only then does `declare module 'flowfabric'` reach the interface itself.
export type * from './model/stored.ts'
export type { PublicState } from './model/state.ts'
export { silent, type Logger, type LoggerOption } from './model/logger.ts'
export type {
  ChildHandle,
  ChildOptions,
  Context,
  StepOptions,
  StepTry,
  Upstream,
  Wait,
  WaitForOptions,
  Waitpoint as ContextWaitpoint,
} from './worker/context.ts'
export {
  Cancelled,
  ChildError,
  PermanentError,
  RunLeft,
  StepError,
  StepTimeoutError,
  WaitTimeoutError,
  type SatisfiedWait,
} from './worker/errors.ts'
export type { LeaseHealth } from './worker/leases.ts'
export type { Middleware } from './worker/middleware.ts'
export type { WorkerOptions } from './worker/options.ts'
export type { RecordedBytes, RecordedRun, RecordedRunStep } from './worker/recorded-run.ts'
export type { Schema } from './worker/schema.ts'
export type { SubmitOptions } from './worker/submission.ts'
export {
  task,
  type Handler,
  type Hooks,
  type Signals as SignalTypes,
  type Task,
  type TaskOptions,
} from './worker/task.ts'
export type { Telemetry } from './worker/telemetry.ts'
export { verify, type VerifiedRun, type VerifyOptions, type VerifyReport } from './worker/verify.ts'
export { Worker, type WorkerDeps } from './worker/worker.ts'
